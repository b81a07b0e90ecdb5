import { useEffect, useSyncExternalStore } from 'react'
import { admin, callOperation } from '../client/admin.ts'
import { faultOf, isSignedOut } from '../client/fault.ts'
import { pause } from '../client/follow-stream.ts'
import { queries, refreshConfiguration, refreshMissed, sessionKey } from '../client/queries.ts'
import { followWhileVisible } from '../client/visible-stream.ts'
import { findOperation } from '../contract/operations.ts'
import type { StatusOutput } from './status-output.ts'

const pollMs = 5000
const retryMs = 500

/** How the gateway is, heard over the one live connection of the page. */
export function useLive(): Live {
  return useSyncExternalStore(subscribeLive, readLive)
}

/** Keeps the live connection while the component is mounted and the page is visible. */
export function useLiveConnection(): void {
  useEffect(() => {
    const connect = () =>
      followWhileVisible({
        name: 'watch',
        kind: 'state',
        open: watchStatus,
        onItem: onStatus,
        onLost,
        onGap: () => void refreshMissed(),
        retryMs,
      })
    let disconnect = connect()
    reconnect = () => {
      disconnect()
      disconnect = connect()
    }
    return () => {
      reconnect = () => {}
      disconnect()
    }
  }, [])
}

let reconnect = () => {}

/** Connects at once, without waiting for the next try. */
export function reconnectLive(): void {
  reconnect()
}

function onLost(error: unknown): boolean {
  if (isSignedOut(error)) {
    void queries.invalidateQueries({ queryKey: sessionKey })
    return false
  }
  setLive({ ...readLive(), state: 'disconnected', reason: faultOf(error).message })
  return true
}

interface WatchEvent {
  configuration: number | null
  status: StatusOutput
}

/** Pushed by `watch`; a gateway without it is polled. */
async function* watchStatus(signal: AbortSignal): AsyncGenerator<WatchEvent> {
  if (findOperation('watch') === undefined) {
    while (!signal.aborted) {
      yield { configuration: null, status: await admin.status({}, { signal }) }
      await pause(pollMs, signal)
    }
    return
  }
  const pushed = (await callOperation(['watch'], {}, signal)) as AsyncIterable<WatchEvent>
  yield* pushed
}

function onStatus({ configuration, status }: WatchEvent): void {
  const before = readLive()
  const parts = status.degraded.map(({ part, reason }) => `${part}: ${reason}`)
  setLive({
    state: parts.length === 0 ? 'receiving' : 'degraded',
    reason: parts.length === 0 ? null : parts.join('; '),
    status,
    configuration,
    heardAt: Date.now(),
  })
  if (before.status !== null && hasChanged(before, configuration, status)) void refreshConfiguration()
}

/** Without a change counter, compares the counts in the status. */
function hasChanged(before: Live, configuration: number | null, status: StatusOutput): boolean {
  if (configuration !== null) return configuration !== before.configuration
  const sums = (of: StatusOutput | null) => JSON.stringify([of?.providers, of?.routes, of?.keys])
  return sums(before.status) !== sums(status)
}

export type LiveConnectionState = 'receiving' | 'degraded' | 'disconnected'

export interface Live {
  state: LiveConnectionState
  /** What is degraded, or why nothing is heard. */
  reason: string | null
  /** The gateway's status as heard last. */
  status: StatusOutput | null
  /** Increases with every change of configuration; null: not reported. */
  configuration: number | null
  /** When the gateway was heard last; null: not yet. */
  heardAt: number | null
}

type Listener = () => void

let live: Live = { state: 'disconnected', reason: 'Connecting', status: null, configuration: null, heardAt: null }
const listeners = new Set<Listener>()

export function readLive(): Live {
  return live
}

export function subscribeLive(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function setLive(next: Live): void {
  live = next
  for (const listener of listeners) listener()
}
