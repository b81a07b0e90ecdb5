import type { BookedAmount } from '../../core/journal-format.ts'

export interface SpendTables {
  spend: {
    /** What budgets have used in these days and months. */
    list(periods: readonly string[]): BookedAmount[]
  }
}
