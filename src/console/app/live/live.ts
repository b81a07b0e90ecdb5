import { useEffect, useSyncExternalStore } from 'react'
import { admin, callOperation } from '../client/admin.ts'
import { faultOf, isSignedOut } from '../client/fault.ts'
import { pause } from '../client/follow-stream.ts'
import { refreshConfiguration, refreshMissed } from '../client/queries.ts'
import { followWhileVisible } from '../client/visible-stream.ts'
import { whileAnswering } from '../client/while-answering.ts'
import { findOperation } from '../contract/operations.ts'
import { endSession } from '../session/ended-session.ts'
import { heard, isOutdated, type Live, unheard, type WatchEvent } from './live-state.ts'

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
    endSession()
    return false
  }
  setLive({ ...readLive(), state: 'disconnected', reason: faultOf(error).message })
  return true
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
  const open = async (ends: AbortSignal) => (await callOperation(['watch'], {}, ends)) as AsyncIterable<WatchEvent>
  yield* whileAnswering(open, (ends) => admin.status({}, { signal: ends }), signal)
}

function onStatus(event: WatchEvent): void {
  const before = readLive()
  setLive(heard(event, Date.now()))
  if (isOutdated(before, event)) void refreshConfiguration()
}

type Listener = () => void

let live = unheard
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
