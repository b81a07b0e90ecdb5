import type { StatusOutput } from './status-output.ts'

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

/** Before anything is heard. */
export const unheard: Live = {
  state: 'disconnected',
  reason: 'Connecting',
  status: null,
  configuration: null,
  heardAt: null,
}

/** Pushed by `watch`. */
export interface WatchEvent {
  configuration: number | null
  status: StatusOutput
}

export function heard({ configuration, status }: WatchEvent, heardAt: number): Live {
  const parts = status.degraded.map(({ part, reason }) => `${part}: ${reason}`)
  const isWell = parts.length === 0
  return {
    state: isWell ? 'receiving' : 'degraded',
    reason: isWell ? null : parts.join('; '),
    ...{ status, configuration, heardAt },
  }
}

/** Whether the page shows a configuration that is no longer so. Without a change counter, the counts in the status say it. */
export function isOutdated(before: Live, { configuration, status }: WatchEvent): boolean {
  // What is shown is read once the first status is there.
  if (before.status === null) return false
  if (configuration !== null) return configuration !== before.configuration
  const counts = ({ providers, routes, keys }: StatusOutput) => JSON.stringify([providers, routes, keys])
  return counts(before.status) !== counts(status)
}
