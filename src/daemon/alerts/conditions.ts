import { nameScope } from '../../admin/contract/show-limit.ts'
import { formatMoney, groupDigits } from '../../admin/contract/show-number.ts'
import type { AlertEvent, AlertMessage, AlertType } from '../../core/alert.ts'
import type { ShownState } from '../../core/provider-state.ts'
import { wholePercent } from '../../core/text/whole-percent.ts'

/** Something that alerts report, once for as long as it holds. */
export interface AlertCondition {
  event: AlertEvent
  /** Names it for ever, so that it is not reported twice: what, and in which period. */
  crossing: string
  /** Crossings that it includes: who spent 80% has spent 50%. */
  includes: readonly string[]
  /** Names of the crossing and of what it includes in an earlier version, under which they may have been reported already. */
  formerly?: readonly string[]
  /** false: it goes on where it was reported before, but is no reason to report it. */
  fires: boolean
  type: AlertType
  data: AlertMessage['data']
}

export interface BudgetFigures {
  counter: string
  /** null: of an account at a provider. */
  policy: string | null
  scope: string
  kind: 'usd' | 'tokens'
  period: 'day' | 'month'
  /** The period that runs: `2026-11-23` or `2026-11`. */
  periodName: string
  used: number
  limit: number
  /** RFC 3339. */
  resetsAt: string
}

export interface Expiry {
  /** `key:default/production/web`, `certificate:gateway`. */
  resource: string
  /** Epoch milliseconds. */
  at: number
}

export interface Observed {
  now: number
  budgets: readonly BudgetFigures[]
  providers: readonly { id: string; name: string; state: ShownState }[]
  /** Of the last five minutes; failures are errors of providers, the network or the gateway. */
  traffic: { requests: number; failures: number }
  /** Of the data directory's file system; null: it does not say. */
  disk: { freeBytes: number; totalBytes: number } | null
  expiries: readonly Expiry[]
}

const budgetSteps = [50, 80, 100] as const
const fewestRequests = 20
/** Reported above the first, and over below the second, so that a figure near the limit is not reported again and again. */
const errorShares = [0.1, 0.05] as const
const diskShares = [0.1, 0.12] as const
const dayMs = 24 * 3600_000
const expiryDays = [14, 3, 0] as const

export function findAlertConditions(observed: Observed): AlertCondition[] {
  return [
    ...observed.budgets.flatMap(findBudget),
    ...observed.providers.flatMap(findProvider),
    ...findErrors(observed.traffic),
    ...findDisk(observed.disk),
    ...observed.expiries.flatMap((expiry) => findExpiry(expiry, observed.now)),
  ]
}

/** On what is spent, never on what is held. A period is named as its counter names it: its end moves with the time zone. */
function findBudget(figures: BudgetFigures): AlertCondition[] {
  const { counter, policy, scope, kind, period, periodName, used, limit, resetsAt } = figures
  if (limit <= 0) return []
  const percent = wholePercent(used, limit)
  const steps = budgetSteps.filter((step) => percent >= step).reverse()
  const nameAll = (name: string) => steps.map((step) => `budget ${counter} ${name} ${step}`)
  const [crossing, ...includes] = nameAll(periodName)
  if (crossing === undefined) return []
  const amounts =
    kind === 'usd'
      ? `${formatMoney(used)} of ${formatMoney(limit)}`
      : `${groupDigits(used)} of ${groupDigits(limit)} tokens`
  const whose = policy === null ? nameScope(scope) : `policy ${policy} (${nameScope(scope)})`
  const text = `Budget of ${whose}: ${amounts} used ${period === 'day' ? 'today' : 'this month'} (${percent}%).`
  const data = {
    resource: policy === null ? scope : `policy:${policy}`,
    scope,
    percent,
    text,
    kind,
    period,
    used,
    limit,
    resets_at: resetsAt,
  }
  const type = percent >= 100 ? 'budget.spent' : 'budget.threshold'
  return [{ event: 'budget', crossing, includes, formerly: nameAll(resetsAt), fires: true, type, data }]
}

function findProvider({ id, name, state }: Observed['providers'][number]): AlertCondition[] {
  if (state.state !== 'failing' && state.state !== 'recovering') return []
  const reason = state.reason ?? 'calls fail'
  const data = {
    resource: `provider:${name}`,
    scope: null,
    percent: null,
    text: `Provider ${name} is failing: ${reason}.`,
    reason,
    since: state.since,
  }
  const fires = state.state === 'failing'
  return [{ event: 'provider', crossing: providerCrossing(id), includes: [], fires, type: 'provider.failing', data }]
}

/** Of so few requests nobody can say how many fail. */
export function isTooFew({ requests }: Observed['traffic']): boolean {
  return requests < fewestRequests
}

function findErrors(traffic: Observed['traffic']): AlertCondition[] {
  const { requests, failures: errors } = traffic
  const share = isTooFew(traffic) ? 0 : errors / requests
  if (share <= errorShares[1]) return []
  const percent = Math.round(share * 100)
  const text = `${errors} of ${requests} requests of the last 5 minutes failed (${percent}%).`
  const data = { resource: 'requests', scope: 'workspace', percent, text, requests, errors }
  const fires = share > errorShares[0]
  return [{ event: 'errors', crossing: errorsCrossing, includes: [], fires, type: 'errors.high', data }]
}

function findDisk(disk: Observed['disk']): AlertCondition[] {
  if (disk === null || disk.totalBytes <= 0) return []
  const share = disk.freeBytes / disk.totalBytes
  if (share >= diskShares[1]) return []
  const percent = Math.floor(share * 100)
  const text = `The disk of the data directory has ${percent}% free.`
  const data = { resource: 'disk', scope: null, percent, text, free_bytes: disk.freeBytes }
  return [{ event: 'disk', crossing: diskCrossing, includes: [], fires: share < diskShares[0], type: 'disk.low', data }]
}

function findExpiry({ resource, at }: Expiry, now: number): AlertCondition[] {
  const until = new Date(at).toISOString()
  const passed = expiryDays
    .filter((days) => at - now <= days * dayMs)
    .map((days) => `expiry ${resource} ${until} ${days}`)
  const [crossing, ...includes] = passed.reverse()
  if (crossing === undefined) return []
  const days = Math.max(0, Math.floor((at - now) / dayMs))
  const when = `${at <= now ? 'expired' : 'expires'} on ${until.slice(0, 16).replace('T', ' ')} UTC`
  const text = `${capitalize(resource.replace(':', ' '))} ${when}.`
  const data = { resource, scope: null, percent: null, text, expires_at: until, days }
  return [{ event: 'expiry', crossing, includes, fires: true, type: 'expiry.soon', data }]
}

export const errorsCrossing = 'errors'
export const diskCrossing = 'disk'

export function providerCrossing(providerId: string): string {
  return `provider ${providerId}`
}

/** Thresholds of a period and of a date are reported once for ever; the others may come again once they are over. */
export function lasts(crossing: string): boolean {
  return /^(budget|expiry) /.test(crossing)
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
