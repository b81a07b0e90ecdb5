import { wholePercent } from '../../core/text/whole-percent.ts'
import type { Column } from './operation.ts'
import { formatMoney, formatShare, groupDigits } from './show-number.ts'

/** What is used of a limit, as `keys usage` and `policies usage` answer it. */
export interface LimitUsage {
  scope: string
  kind: 'requests' | 'tokens' | 'concurrency' | 'usd'
  period?: 'day' | 'month' | null
  used: number | null
  held?: number | null
  used_includes_held?: boolean | undefined
  limit: number
}

export const limitColumns: readonly Column[] = [
  { field: 'policy', title: 'POLICY' },
  { field: 'scope', title: 'APPLIES TO', cut: 'middle', spare: true },
  { field: 'kind', title: 'LIMIT', format: 'limit' },
  { field: 'used', title: 'USED', format: 'used' },
  { field: 'held', title: 'HELD', format: 'amount', minor: true },
  { field: 'limit', title: 'OF', format: 'amount' },
  { field: 'resets_at', title: 'RESETS', format: 'age' },
]

const kinds: readonly unknown[] = ['requests', 'tokens', 'concurrency', 'usd'] satisfies LimitUsage['kind'][]

export function isLimitUsage(value: unknown): value is LimitUsage {
  if (typeof value !== 'object' || value === null) return false
  return 'used' in value && 'limit' in value && 'scope' in value && 'kind' in value && kinds.includes(value.kind)
}

/** `project:search` as people say it: `project search`. */
export function nameScope(scope: string): string {
  return scope.replace(':', ' ')
}

/** `requests a minute`, `USD a month` */
export function nameLimit({ kind, period }: Pick<LimitUsage, 'kind' | 'period'>): string {
  if (kind === 'concurrency') return 'requests at once'
  return `${kind === 'usd' ? 'USD' : kind} a ${period ?? 'minute'}`
}

export function formatAmount({ kind }: Pick<LimitUsage, 'kind'>, amount: number): string {
  return kind === 'usd' ? formatMoney(amount) : groupDigits(amount)
}

/** `$42.10 (21%)`, `39 (65%) used or held` */
export function formatUsed(usage: LimitUsage): string {
  const { used, limit } = usage
  if (used === null) return 'per user'
  const words = limit === 0 ? formatAmount(usage, used) : `${formatAmount(usage, used)} (${formatPart(used, limit)})`
  return `${words}${nameHeld(usage)}`
}

/** As alerts say it, which fire at whole percents: what is not all used is not 100%, and what is a little over is. */
export function formatPart(used: number, limit: number): string {
  const percent = wholePercent(used, limit)
  return percent < 10 ? formatShare(used / limit) : `${percent}%`
}

/** What nodes hold in hand of a limit that they share is used by nobody yet, and cannot be told from what is. */
export function nameHeld({
  used_includes_held: isHeld,
  used,
}: Pick<LimitUsage, 'used_includes_held' | 'used'>): string {
  return isHeld === true && used !== 0 ? ' used or held' : ''
}

/** `12 of 60 requests a minute`, `39 of 60 requests a minute used or held`, `$42.10 of $200.00 a month, $0.02 held` */
export function formatLimitUsage(usage: LimitUsage): string {
  const { kind, used, held, limit } = usage
  const words = kind === 'usd' ? nameLimit(usage).replace('USD ', '') : nameLimit(usage)
  const whole = `${formatAmount(usage, limit)} ${words}`
  if (used === null) return `${whole} for each end user`
  const more = held === undefined || held === null || held === 0 ? '' : `, ${formatAmount(usage, held)} held`
  return `${formatAmount(usage, used)} of ${whole}${nameHeld(usage)}${more}`
}

/** Of what may still be used: what is held counts. */
export function shareOf({ used, held, limit }: LimitUsage): number {
  return limit === 0 ? 1 : ((used ?? 0) + (held ?? 0)) / limit
}

/** `3 of 3 requests a minute (+2)`: the one nearest to its end, and how many others there are. */
export function formatNearest(limits: readonly LimitUsage[]): string | null {
  const [nearest, ...others] = limits.toSorted((left, right) => shareOf(right) - shareOf(left))
  if (nearest === undefined) return null
  return `${formatLimitUsage(nearest)}${others.length === 0 ? '' : ` (+${others.length})`}`
}

/** What `keys usage` and `policies usage` answer, limit by limit: budgets first. */
export function limitRows(answer: unknown): readonly LimitUsage[] {
  const usages: readonly unknown[] = Array.isArray(answer) ? answer : []
  const lists = (['periods', 'limits'] as const).map((name) => {
    return usages.flatMap((usage): unknown => {
      const list: unknown = typeof usage === 'object' && usage !== null ? Reflect.get(usage, name) : null
      return Array.isArray(list) ? list : []
    })
  })
  return lists.flat().filter(isLimitUsage)
}
