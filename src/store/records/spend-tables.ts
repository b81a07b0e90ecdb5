import type { BookedAmount } from '../../core/journal-format.ts'

/** Of these days and months. */
export interface Spent {
  /** What budgets have used. */
  used: BookedAmount[]
  /** What batches hold whose usage is not known yet: one amount for each batch. */
  held: BookedAmount[]
  /** What requests hold that have not settled. */
  open: BookedAmount[]
}

export interface SpendTables {
  spend: {
    list(periods: readonly string[]): Spent
    /** Counts as used from now on besides what requests book. */
    add(amounts: readonly BookedAmount[]): void
  }
}
