import type { RequestRecord } from '../../core/record.ts'

/**
 * Records that wait to be exported as traces. Ingestion adds each in the transaction that stores it, and it stays until it was
 * exported, so that neither a crash nor a restart loses one or adds one twice.
 */
export interface TraceTables {
  traces: {
    /** The oldest. */
    take(limit: number): PendingTrace[]
    /** How many wait; exact but for what was given up in between. */
    pending(): number
    /** Not audited: those up to that number were exported, or are given up. */
    finish(through: number): void
    /** Not audited: gives up the oldest beyond that many. Returns how many. */
    trim(most: number): number
  }
}

export interface PendingTrace {
  sequence: number
  /** null: it was removed in the meantime. */
  record: RequestRecord | null
}
