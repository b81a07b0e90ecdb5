import { formatMoney, formatShare, groupDigits } from './show-number.ts'

/** What is used of a limit, as `keys usage` and `policies usage` answer it. */
export interface LimitUsage {
  scope: string
  kind: 'requests' | 'tokens' | 'concurrency' | 'usd'
  period?: 'day' | 'month'
  used: number | null
  held?: number | null
  limit: number
}

const kinds: readonly unknown[] = ['requests', 'tokens', 'concurrency', 'usd'] satisfies LimitUsage['kind'][]

export function isLimitUsage(value: unknown): value is LimitUsage {
  if (typeof value !== 'object' || value === null) return false
  return 'used' in value && 'limit' in value && 'scope' in value && 'kind' in value && kinds.includes(value.kind)
}

/** `requests a minute`, `USD a month` */
export function nameLimit({ kind, period }: Pick<LimitUsage, 'kind' | 'period'>): string {
  if (kind === 'concurrency') return 'requests at once'
  return `${kind === 'usd' ? 'USD' : kind} a ${period ?? 'minute'}`
}

export function formatAmount({ kind }: Pick<LimitUsage, 'kind'>, amount: number): string {
  return kind === 'usd' ? formatMoney(amount) : groupDigits(amount)
}

/** `$42.10 (21%)` */
export function formatUsed(usage: LimitUsage): string {
  const { used, limit } = usage
  if (used === null) return 'per user'
  return limit === 0 ? formatAmount(usage, used) : `${formatAmount(usage, used)} (${formatShare(used / limit)})`
}

/** `12 of 60 requests a minute`, `$42.10 of $200.00 a month, $0.02 held` */
export function formatLimitUsage(usage: LimitUsage): string {
  const { kind, used, held, limit } = usage
  const words = kind === 'usd' ? nameLimit(usage).replace('USD ', '') : nameLimit(usage)
  const whole = `${formatAmount(usage, limit)} ${words}`
  if (used === null) return `${whole} for each end user`
  const more = held === undefined || held === null || held === 0 ? '' : `, ${formatAmount(usage, held)} held`
  return `${formatAmount(usage, used)} of ${whole}${more}`
}
