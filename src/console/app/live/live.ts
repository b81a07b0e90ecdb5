import { useEffect, useSyncExternalStore } from 'react'
import { admin, callOperation } from '../client/admin.ts'
import { faultOf, isSignedOut } from '../client/fault.ts'
import { queries, refreshConfiguration, sessionKey } from '../client/queries.ts'
import { findOperation } from '../contract/operations.ts'
import { type Live, readLive, setLive, subscribeLive } from './live-store.ts'
import type { StatusOutput } from './status-output.ts'

const pollMs = 5000
const firstPauseMs = 500
const longestPauseMs = 15_000

/** How the gateway is, heard over the one live connection of the page. */
export function useLive(): Live {
  return useSyncExternalStore(subscribeLive, readLive)
}

/** Keeps the live connection for as long as the component stands. */
export function useLiveConnection(): void {
  useEffect(() => {
    const leaving = new AbortController()
    void stayConnected(leaving.signal)
    return () => leaving.abort()
  }, [])
}

async function stayConnected(signal: AbortSignal): Promise<void> {
  let pauseMs = firstPauseMs
  while (!signal.aborted) {
    try {
      for await (const heard of listen(signal)) {
        pauseMs = firstPauseMs
        hear(heard)
      }
    } catch (error) {
      if (signal.aborted) return
      if (isSignedOut(error)) return void queries.invalidateQueries({ queryKey: sessionKey })
      setLive({ ...readLive(), state: 'disconnected', reason: faultOf(error).message })
    }
    await pause(pauseMs, signal)
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }
}

interface Heard {
  configuration: number | null
  status: StatusOutput
}

/** Pushed by `watch`; a gateway without it is asked now and then. */
async function* listen(signal: AbortSignal): AsyncGenerator<Heard> {
  if (findOperation('watch') === undefined) {
    while (!signal.aborted) {
      yield { configuration: null, status: await admin.status({}, { signal }) }
      await pause(pollMs, signal)
    }
    return
  }
  const pushed = (await callOperation(['watch'], {}, signal)) as AsyncIterable<Heard>
  yield* pushed
}

function hear({ configuration, status }: Heard): void {
  const before = readLive()
  const parts = status.degraded.map(({ part, reason }) => `${part}: ${reason}`)
  const wasAway = before.state === 'disconnected' && before.status !== null
  setLive({
    state: parts.length === 0 ? 'receiving' : 'degraded',
    reason: parts.length === 0 ? null : parts.join('; '),
    status,
    configuration,
  })
  if (before.status !== null && (wasAway || hasChanged(before, configuration, status))) void refreshConfiguration()
}

/** Where no counter tells of changes, the sums of the status do as well as they can. */
function hasChanged(before: Live, configuration: number | null, status: StatusOutput): boolean {
  if (configuration !== null) return configuration !== before.configuration
  const sums = (of: StatusOutput | null) => JSON.stringify([of?.providers, of?.routes, of?.keys])
  return sums(before.status) !== sums(status)
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', done)
  })
}
