import type { Fault } from '../../core/errors.ts'
import type { BookedAmount } from '../../core/journal-format.ts'
import type { AttemptRecord, RequestRecord, TokenUsage } from '../../core/record.ts'
import type { BudgetNeed } from '../../policy/limits/budget-counters.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { LiveProvider } from '../thread/read-model.ts'

/** What a request takes of the limits that accounts at providers have (`AccountHolds`, loaded where one has any). */
export interface HeldAccounts {
  /** Before an attempt is sent. A fault: the account has no room for it, and the next target is asked. */
  take(candidate: Candidate, provider: LiveProvider): Fault | null
  /** The attempt of what was taken last is under way. */
  began(attempt: AttemptRecord | undefined): void
  /** Another attempt takes its place, within what was taken. */
  replaced(attempt: AttemptRecord, by: AttemptRecord | undefined): void
  /** It failed, or another answered before it: what it used is known, and others may have the rest. */
  ended(attempt: AttemptRecord | undefined): void
  /** Holds more where an answer may come to more than was thought. Null: it may go on. */
  raise(need: BudgetNeed): Fault | null
  /** A further turn of a connection counts like a request. */
  takeTurn(bytes: number): Fault | null
  /** A turn has ended: `tokens` are those of all turns until now. */
  correctTurns(tokens: TokenUsage | null): void
  /** For the entries that tell what is held: what the store charges if the request never settles. */
  held(): readonly BookedAmount[]
  /** What all attempts came to, for the settled entry. */
  settle(record: RequestRecord): readonly BookedAmount[]
  /** At the end, once. */
  release(): void
}
