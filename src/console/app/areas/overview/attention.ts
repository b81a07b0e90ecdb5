import { formatAmount, formatPart, nameScope } from '../../../../admin/contract/show-limit.ts'
import { formatMilliseconds } from '../../../../admin/contract/show-value.ts'
import { isUnpriced } from '../../../../admin/contract/unpriced.ts'
import { failsOften } from '../../../../core/attempt-figures.ts'
import { describeApart } from '../../../../core/clock-apart.ts'
import { describeDegraded } from '../../../../core/degraded.ts'
import type { ErrorCode } from '../../../../core/errors.ts'
import { wholePercent } from '../../../../core/text/whole-percent.ts'
import type { StatusOutput } from '../../live/status-output.ts'
import type { Key, Provider, Route, StatsRow } from '../outputs.ts'
import { pluralize } from '../units.ts'

type Budget = StatusOutput['budgets'][number]
type Node = NonNullable<StatusOutput['cluster']>['nodes'][number]

/** One thing that an operator should look at, and where. */
export interface Attention {
  key: string
  tone: 'bad' | 'warning'
  subject: string
  text: string
  to: '/providers/$name' | '/routing/$route' | '/keys/$key' | '/requests' | '/settings/$section'
  params: Record<string, string>
  search: Record<string, string>
}

export interface AttentionInput {
  providers: readonly Provider[]
  routes: readonly Route[]
  keys: readonly Key[]
  /** Of the last hour, by error code. */
  errors: readonly StatsRow[]
  budgets: readonly Budget[]
  /** Of the cluster, the one that is asked first; none: a gateway alone. */
  nodes: readonly Node[]
  /** Of the last day, by model. */
  models: readonly StatsRow[]
  now: number
}

/** The worst first. Each cause is said once: what a provider's trouble leads to is not listed again. */
export function listAttention(input: AttentionInput): Attention[] {
  const { providers, routes, keys, errors, budgets, nodes, models, now } = input
  return [
    ...ofNodes(nodes),
    ...providers.flatMap(ofProvider),
    ...routes.flatMap((route) => ofRoute(route, providers)),
    ...budgets.flatMap(ofBudget),
    ...(budgets.some(({ kind }) => kind === 'usd')
      ? models.filter(isUnpriced).slice(0, mostModels).map(ofUnpriced)
      : []),
    ...errors.flatMap(ofErrors).slice(0, mostErrors),
    ...keys.flatMap((key) => ofKey(key, now)),
  ].sort((left, right) => Number(left.tone !== 'bad') - Number(right.tone !== 'bad'))
}

/** Of the others nothing is known where the one that is asked does not reach PostgreSQL, which stands above all pages. */
function ofNodes([own, ...others]: readonly Node[]): Attention[] {
  if (own === undefined) return []
  const isCut = own.degraded.some(({ part }) => part === 'postgres')
  return [...ofNode(own, true), ...(isCut ? [] : others.flatMap((node) => ofNode(node, false)))]
}

function ofNode({ name, state, degraded, clock_ahead_ms: ahead, draining }: Node, isOwn: boolean): Attention[] {
  const about = { subject: `node ${name}`, to: '/settings/$section', params: { section: 'about' }, search: {} } as const
  if (state === 'absent')
    return [{ key: `node ${name}`, tone: 'bad', text: 'not heard of: it has ended, or is cut off', ...about }]
  const parts = isOwn ? [] : degraded.map(({ part, reason }) => `${describeDegraded(part)}: ${reason}`)
  const out = draining === true ? ['out of service; to bring it back, on it: spgw cluster drain --undo'] : []
  const clock = ahead === null ? [] : [`its clock is ${describeApart(ahead)} PostgreSQL’s`]
  return [...out, ...parts, ...clock].map((text) => ({ key: `node ${name} ${text}`, tone: 'warning', text, ...about }))
}

function ofProvider({
  name,
  active,
  state,
  state_reason: reason,
  last_hour: hour,
  targets,
  calls_without_model: others,
}: Provider): Attention[] {
  if (!active) return []
  const place = { to: '/providers/$name', params: { name }, search: {} } as const
  const counted = `${hour.failed.toLocaleString('en-US')} of ${hour.tried.toLocaleString('en-US')} attempts failed in the last hour`
  if (state === 'failing' || state === 'recovering' || failsOften(hour)) {
    const said = [hour.failed > 0 ? counted : state, reason].filter((word) => word !== null)
    const tone = state === 'failing' || (hour.tried > 0 && hour.failed === hour.tried) ? 'bad' : 'warning'
    return [{ key: `provider ${name}`, tone, subject: name, text: said.join('. '), ...place }]
  }
  const parts = [
    ...targets.map((target) => ({ ...target, part: `${name}/${target.upstream_model}` })),
    ...(others === null ? [] : [{ ...others, part: `${name}, calls without a model (${others.concerns})` }]),
  ]
  return parts
    .filter((each) => each.state === 'failing')
    .map(({ part, state_reason }) => ({
      key: `target ${part}`,
      tone: 'warning' as const,
      subject: part,
      text: ['failing', state_reason].filter((word) => word !== null).join(': '),
      ...place,
    }))
}

function ofRoute({ id, model, enabled, targets }: Route, providers: readonly Provider[]): Attention[] {
  // Behind a pattern each model has a state of its own once it was answered: the target's own is that of the others.
  const isPattern = model.includes('*')
  const isDown = (name: string, state: string) => {
    const provider = providers.find((one) => one.name === name)
    return provider?.active === false || (isPattern ? provider?.state : state) === 'failing'
  }
  if (!enabled || targets.length === 0 || !targets.every(({ provider, state }) => isDown(provider, state))) return []
  return [
    {
      key: `route ${id}`,
      tone: 'bad',
      subject: model,
      text:
        targets.length === 1 ? 'its only target cannot be used' : `none of its ${targets.length} targets can be used`,
      to: '/routing/$route',
      params: { route: id },
      search: {},
    },
  ]
}

const fewErrors = 5
const mostErrors = 4
/** What failed at a provider is said of the provider. */
const ofProviders: readonly (ErrorCode | string)[] = [
  'provider_not_ready',
  'provider_unreachable',
  'provider_timeout',
  'provider_bad_response',
  'provider_error',
  'client_closed',
]

/** Why requests end so, for those who do not know the codes by heart. */
const reasons: Partial<Record<ErrorCode | string, string>> = {
  policy_denied: ' were denied by a policy',
  rate_limited: ' were over a rate limit',
  budget_exceeded: ' were over a budget',
  model_not_found: ' asked for a model that has no route there',
  invalid_key: ' had a key that is not valid',
  not_translatable: ' could not be translated for their target',
  overloaded: ' found the gateway overloaded',
}

function ofErrors({ group, requests }: StatsRow): Attention[] {
  if (requests < fewErrors || ofProviders.includes(group) || group.startsWith('(')) return []
  const isStatus = group.startsWith('status_')
  return [
    {
      key: `error ${group}`,
      tone: 'warning',
      subject: isStatus ? group.replace('status_', 'status ') : group,
      text: `${requests.toLocaleString('en-US')} requests in the last hour${reasons[group] ?? ' ended with this error'}`,
      to: '/requests',
      params: {},
      search: { since: '1h', ...(isStatus ? { status: group.slice('status_'.length) } : { error: group }) },
    },
  ]
}

/** From here on it is worth a look. */
const nearEnd = 80

function ofBudget(budget: Budget): Attention[] {
  const { policy, scope, kind, period, used, limit } = budget
  if (used === null || limit === 0 || wholePercent(used, limit) < nearEnd) return []
  const isSpent = used >= limit
  return [
    {
      key: `budget ${policy} ${scope} ${kind} ${period}`,
      tone: isSpent ? 'bad' : 'warning',
      subject: `Budget of ${scope === 'workspace' ? 'the workspace' : nameScope(scope)}`,
      text: `${formatAmount(budget, used)} of ${formatAmount(budget, limit)} a ${period} ${kind === 'usd' ? 'spent' : 'used'} (${formatPart(used, limit)}, policy ${policy})`,
      to: '/settings/$section',
      params: { section: 'policies' },
      search: { find: policy },
    },
  ]
}

const mostModels = 3

/** Only where there is a budget in USD: whoever set it takes it to cover all. */
function ofUnpriced({ group, requests }: StatsRow): Attention {
  return {
    key: `price ${group}`,
    tone: 'warning',
    subject: `model ${group}`,
    text: `has no price: the cost of its ${pluralize(requests, 'request')} of the last day is unknown. Where a budget in USD applies, it is denied, or passes uncounted`,
    to: '/settings/$section',
    params: { section: 'prices' },
    search: {},
  }
}

const soonMs = 14 * 86_400_000

function ofKey({ id, name, state, expires_at }: Key, now: number): Attention[] {
  if (state !== 'active' || expires_at === null) return []
  const left = Date.parse(expires_at) - now
  if (left > soonMs) return []
  return [
    {
      key: `key ${id}`,
      tone: 'warning',
      subject: `key ${name}`,
      text: `expires in ${formatMilliseconds(Math.max(0, left))}`,
      to: '/keys/$key',
      params: { key: id },
      search: {},
    },
  ]
}
