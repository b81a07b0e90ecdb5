import type { PartName } from '../core/degraded.ts'

/** What the metrics tell of the running gateway, handed in by the composition root. Holds no secret. */
export interface GatewayState {
  workers: number
  inFlight: number
  heldBytes: number
  heldLimit: number
  requestsSinceStart: number
  /** The parts that can be degraded, and whether they are. `times`: how often since the start. */
  parts: { part: PartName; degraded: boolean; times: number }[]
  providers: ProviderState[]
  routes: number
  /** Keys that are not revoked. */
  keys: number
  /** null: the store does not say. */
  databaseBytes: number | null
  journalBytes: number | null
  /** For how long records have waited to be stored. */
  recordLagMs: number | null
  /** Parts of the journal that could not be read, by file. */
  setAside: string[]
  /** Entries that never reached the journal. */
  entriesLost: number
}

export interface ProviderState {
  name: string
  kind: string
  /** `inactive` is the operator's switch; `resting` and `open` end by themselves. */
  state: 'ready' | 'unchecked' | 'failing' | 'resting' | 'open' | 'probing' | 'inactive'
}
