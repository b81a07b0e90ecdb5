import { nanoOfUsd, nanoPerUsd } from '../cost/money.ts'

/** What may be limited in amounts: per minute, at once, and per day or month in the workspace's time zone. */
export type LimitKind = 'requests' | 'tokens' | 'concurrency' | 'usd'

/** More room in the budgets in USD of a policy, until then. */
export interface BudgetGrant {
  usd: number
  /** RFC 3339. */
  until: string
}

/** The rules of a policy that need counters, by the rules' names. One that is absent or null limits nothing; 0 lets nothing pass. */
export interface LimitRules {
  /** Requests in any 60 seconds. */
  rpm?: number | null
  /** Tokens in any 60 seconds. */
  tpm?: number | null
  /** Requests at once. */
  concurrency?: number | null
  /** USD. */
  budgetUsdDay?: number | null
  budgetUsdMonth?: number | null
  budgetTokensDay?: number | null
  budgetTokensMonth?: number | null
  /** What happens where a budget has no room; null: refuse. */
  onBudget?: 'refuse' | 'warn' | null
  /** Where a budget has room for a shorter answer only, that is what the request may get. */
  capOutput?: boolean
  /** Gives each key or end user counters of its own, wherever the policy is attached. */
  per?: 'key' | 'user' | null
  grants?: readonly BudgetGrant[]
}

/** What an account at a provider may be used for, by whomever. Null: without a limit. */
export interface AccountLimits {
  /** Requests in any 60 seconds. */
  rpm: number | null
  /** Tokens in any 60 seconds. */
  tpm: number | null
  /** USD a month. */
  budgetUsdMonth: number | null
}

export const noAccountLimits: Readonly<AccountLimits> = { rpm: null, tpm: null, budgetUsdMonth: null }

/** One limit of one policy at one place: what its counter counts, and up to what. */
export interface Limit {
  /** Names its counter for ever, in memory, in the journal and in the store: policy, place and what is counted. */
  counter: string
  /** The policy's name; null: it is an account's at a provider. */
  policy: string | null
  /** `workspace`, `project:P`, `environment:P/E`, `key:P/E/NAME`, or `provider:NAME`. */
  scope: string
  kind: LimitKind
  /** null: in any minute, or at once. */
  period: 'day' | 'month' | null
  /** Requests, tokens or nano-dollars. */
  limit: number
  /** What is granted on top of it: nano-dollars, until epoch milliseconds. */
  grants?: readonly { amount: number; until: number }[]
  /** A budget that is exceeded is reported, and refuses nothing. */
  warns: boolean
  /** Each end user has a counter of its own, named `counter` and the user. */
  perUser: boolean
  /** A budget: a request that needs more than is left is allowed a shorter answer, and not refused. */
  caps?: true
}

/** An amount as limits count it: money in nano-dollars, all else as it is written. */
export function countedAmount(kind: LimitKind, written: number): number {
  return kind === 'usd' ? nanoOfUsd(written) : Math.round(written)
}

/** An amount as people read it: money in USD. */
export function shownAmount(kind: LimitKind, counted: number): number {
  return kind === 'usd' ? counted / nanoPerUsd : counted
}

/** With what is granted on top of it at that time, in epoch milliseconds. */
export function limitAt({ limit, grants }: Pick<Limit, 'limit' | 'grants'>, now: number): number {
  return grants === undefined
    ? limit
    : grants.reduce((sum, { amount, until }) => (until > now ? sum + amount : sum), limit)
}

/** Of a limit a minute: what is left of it, and when all of it is free again. */
export interface WindowFigures {
  limit: number
  left: number
  resetMs: number
}

/** Of the tightest limits a minute of a key, for the headers of its answers; null: none of the kind. */
export interface LimitFigures {
  requests: WindowFigures | null
  tokens: WindowFigures | null
}

const kinds: readonly string[] = ['requests', 'tokens', 'concurrency', 'usd'] satisfies LimitKind[]

/** The name of a counter: policy, place, what is counted, and the period. None of them has a blank. */
export function nameCounter(policyId: string, placeId: string, kind: LimitKind, period: Limit['period']): string {
  return [policyId, placeId, kind, period ?? 'minute'].join(' ')
}

/** Where a counter's limit is attached: an id, `workspace`, or `account`; '' where it is no counter's name. */
export function placeOfCounter(counter: string): string {
  return counter.split(' ')[1] ?? ''
}

/** Null: it is no counter's name. */
export function kindOfCounter(counter: string): LimitKind | null {
  const [, , kind = ''] = counter.split(' ')
  return kinds.includes(kind) ? (kind as LimitKind) : null
}
