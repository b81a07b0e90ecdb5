import type { Fault } from '../../core/errors.ts'
import type { BookedAmount } from '../../core/journal-format.ts'
import type { AttemptRecord, RequestRecord, TokenUsage } from '../../core/record.ts'
import type { BudgetNeed } from '../../policy/limits/budget-counters.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { LiveProvider } from '../thread/read-model.ts'

/** What a request takes from the limits of accounts at providers (`AccountHolds`, loaded only if an account has limits). */
export interface HeldAccounts {
  /** Called before an attempt is sent. A fault: the account has no room for it, so the next target is tried. */
  take(candidate: Candidate, provider: LiveProvider): Fault | null
  /** The attempt for what was taken last has been sent. */
  began(attempt: AttemptRecord | undefined): void
  /** Another attempt takes the place of this one and uses what was taken for it. */
  replaced(attempt: AttemptRecord, by: AttemptRecord | undefined): void
  /** The attempt failed or lost to another: its usage is known, so the rest of what it took is released. */
  ended(attempt: AttemptRecord | undefined): void
  /** Takes more when an answer may use more than expected. Null: it may go on. */
  raise(need: BudgetNeed): Fault | null
  /** One more turn of a connection; it counts like a request. */
  takeTurn(bytes: number): Fault | null
  /** A turn has ended: `tokens` are those of all turns until now. */
  correctTurns(tokens: TokenUsage | null): void
  /** For journal entries that state what is held: what the store charges if the request never settles. */
  held(): readonly BookedAmount[]
  /** What all attempts used, for the settled entry. */
  settle(record: RequestRecord): readonly BookedAmount[]
  /** Called once, at the end of the request. */
  release(): void
}
