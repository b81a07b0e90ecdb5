import type { SettingsFile } from '../config/settings-file.ts'
import { isObject } from '../core/json/is-object.ts'
import { escapeVariables } from '../core/variables.ts'
import { type Converted, type ConvertedRoute, type ConvertedTarget, durationOf, mostRetries } from './converted.ts'
import { ambientVariable, convertDeployment, type Deployment, readFallbacks } from './litellm-deployment.ts'
import { convertAlerts, convertPolicies, readCache, skipSections } from './litellm-settings.ts'
import { ProviderPool } from './pool.ts'
import {
  listOf,
  mergeAnchors,
  type Path,
  retriesOf,
  type Setting,
  Source,
  settingIn,
  type Tree,
  textOf,
  timeoutOf,
} from './source.ts'
import { keepUsableRoutes } from './usable-routes.ts'
import type { Vendors } from './vendors.ts'

/** LiteLLM's proxy configuration (docs.litellm.ai/docs/proxy/configs), as far as it has a counterpart. */
export function convertLitellm(file: SettingsFile, vendors?: Vendors): Converted {
  const source = new Source(file, vendors)
  const pool = new ProviderPool()
  // What looks like a variable of ours is none in that file; its own are `os.environ/NAME`.
  const tree = escapeVariables(mergeAnchors(file.tree))
  const [entries, credentials] = [listOf(tree.model_list), listOf(tree.credential_list)]
  for (const entry of entries) {
    const variable = ambientVariable(entry, credentials, source.vendors)
    if (variable !== null) source.reserve(variable)
  }
  const deployments = entries.flatMap(
    (entry, place) => convertDeployment(entry, ['model_list', place], credentials, pool, source) ?? [],
  )
  const settings = readSettings(tree, source)
  limitProviders(deployments, settings, pool, source)
  const groups = new Map(
    [...Map.groupBy(deployments, ({ group }) => group)].map(([group, members]) => [group, share(members, settings)]),
  )
  for (const [alias, group] of Object.entries(settings.aliases)) {
    const members = groups.get(group)
    if (members === undefined) {
      const what = `the name ${alias} for ${group}`
      source.skip([...aliasPath, alias], what, 'no model of that name was converted', 'Add a route by hand.')
      continue
    }
    groups.set(
      alias,
      members.map((member) => aliased(member, alias)),
    )
  }
  skipStrayFallbacks(groups, settings, source)
  const routes = [...groups].map(([group, members]) => convertGroup(group, members, groups, settings, source))
  const [policies, alerts] = [convertPolicies(tree, source), convertAlerts(tree, source)]
  skipSections(tree, source)
  return {
    providers: pool.usable(source),
    policies,
    routes: keepUsableRoutes(routes, source),
    alerts,
    left: source.left,
  }
}

interface RouterSettings {
  strategy: ConvertedRoute['strategy'] | null
  /** Requests and tokens a minute are limits, and not only shares. */
  enforcesQuotas: boolean
  retries: number | null
  timeoutMs: number | null
  streamTimeoutMs: number | null
  fallbacks: Map<string, string[]>
  fallbacksPath: Path
  defaultFallbacks: string[]
  defaultFallbacksPath: Path
  /** After what a route's word for it names. */
  special: readonly { on: Refusal; lists: Map<string, string[]>; path: Path }[]
  aliases: Record<string, string>
  cache: string | null
}

type Refusal = 'context_length' | 'content_filter'

const aliasPath = ['router_settings', 'model_group_alias']

const strategies: ReadonlyMap<string, ConvertedRoute['strategy']> = new Map([
  ['simple-shuffle', 'weighted'],
  ['latency-based-routing', 'latency'],
  ['cost-based-routing', 'cost'],
])

function readSettings(tree: Tree, source: Source): RouterSettings {
  const router = isObject(tree.router_settings) ? tree.router_settings : {}
  const module = isObject(tree.litellm_settings) ? tree.litellm_settings : {}
  const wanted = textOf(router.routing_strategy)
  const strategy = wanted === null ? null : (strategies.get(wanted) ?? null)
  const usageBased = wanted?.startsWith('usage-based-routing') === true
  if (wanted !== null && strategy === null)
    source.skip(
      ['router_settings', 'routing_strategy'],
      wanted,
      'there is no such strategy here',
      wanted === 'least-busy'
        ? 'Traffic is spread by weight. The nearest: spgw routes edit MODEL --strategy latency'
        : 'Traffic is spread by weight. To change it: spgw routes edit MODEL --strategy priority',
    )
  // Either section may say it; the router's own goes first.
  const either = (name: string, inModule = name) => {
    const own = settingIn(router, ['router_settings'], name)
    return own.value === undefined ? settingIn(module, ['litellm_settings'], inModule) : own
  }
  const [fallbacks, defaults] = [either('fallbacks'), either('default_fallbacks')]
  const special = (['context_window_fallbacks', 'content_policy_fallbacks'] as const).map((name) => {
    const setting = either(name)
    const on: Refusal = name === 'context_window_fallbacks' ? 'context_length' : 'content_filter'
    return { on, lists: readFallbacks(setting, source), path: setting.path }
  })
  const checks = listOf(router.optional_pre_call_checks)
  return {
    strategy,
    enforcesQuotas:
      usageBased || router.enable_pre_call_checks === true || checks.includes('enforce_model_rate_limits'),
    retries: retriesOf(either('num_retries'), source),
    timeoutMs: timeoutOf(either('timeout', 'request_timeout'), 1000, source),
    streamTimeoutMs: timeoutOf(settingIn(router, ['router_settings'], 'stream_timeout'), 1000, source),
    fallbacks: readFallbacks(fallbacks, source),
    fallbacksPath: fallbacks.path,
    defaultFallbacks: namesIn(defaults, source),
    defaultFallbacksPath: defaults.path,
    special,
    aliases: readAliases(router.model_group_alias, source),
    cache: readCache(tree, source),
  }
}

/** What each deployment may be asked in a minute is its provider's limit, where no other deployment has that provider. */
function limitProviders(
  deployments: readonly Deployment[],
  { enforcesQuotas }: RouterSettings,
  pool: ProviderPool,
  source: Source,
): void {
  for (const [name, members] of Map.groupBy(deployments, ({ provider }) => provider)) {
    for (const kind of ['rpm', 'tpm'] as const) {
      const isLimit = enforcesQuotas && members.length === 1
      for (const { [kind]: quota } of members) {
        if (quota === null) continue
        if (isLimit && Number.isInteger(quota.amount)) pool.limit(name, { [kind]: quota.amount })
        else
          source.skip(
            quota.path,
            kind,
            enforcesQuotas ? "a limit is of a provider's whole account here" : 'that file does not make it a limit',
            `To limit the account: spgw providers edit ${name} --${kind} ${quota.amount}`,
          )
      }
    }
  }
}

function namesIn({ value, path }: Setting, source: Source): string[] {
  const names = listOf(value).flatMap((name) => textOf(name) ?? [])
  if (value !== undefined && value !== null && (!Array.isArray(value) || names.length < value.length))
    source.skip(path, String(path.at(-1)), 'it is not a list of models', 'Add the targets by hand.')
  return names
}

function readAliases(value: unknown, source: Source): Record<string, string> {
  if (value !== undefined && value !== null && !isObject(value))
    source.skip(aliasPath, 'model_group_alias', 'it does not name models with others', 'Add the routes by hand.')
  return Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).flatMap(([alias, group]) => {
      const name = textOf(isObject(group) ? group.model : group)
      if (name !== null) return [[alias, name]]
      source.skip([...aliasPath, alias], `the name ${alias}`, 'it names no model', 'Add a route by hand.')
      return []
    }),
  )
}

/** LiteLLM draws by weight, or else by how many requests, or tokens, each may be asked in a minute. */
function share(members: Deployment[], { strategy }: RouterSettings): Deployment[] {
  if (members.length < 2 || (strategy ?? 'weighted') !== 'weighted') return members
  if (members.some(({ weight }) => weight !== null)) return members
  for (const kind of ['rpm', 'tpm'] as const) {
    const amounts = members.map((member) => member[kind]?.amount ?? 0)
    if (!amounts.every((amount) => amount > 0)) continue
    const unit = amounts.every(Number.isInteger) ? amounts.reduce(commonDivisor) : 1
    return members.map((member, at) => ({ ...member, weight: (amounts[at] ?? unit) / unit }))
  }
  return members
}

const commonDivisor = (one: number, other: number): number => (other === 0 ? one : commonDivisor(other, one % other))

/** Under another name, the model that was left to be the client's own has to be said. */
function aliased(deployment: Deployment, alias: string): Deployment {
  return { ...deployment, group: alias, upstreamModel: deployment.upstreamModel ?? deployment.group }
}

function convertGroup(
  group: string,
  members: readonly Deployment[],
  groups: Map<string, Deployment[]>,
  settings: RouterSettings,
  source: Source,
): ConvertedRoute {
  const orders = [...new Set(members.map(({ order }) => order ?? 0))].sort((one, other) => one - other)
  const targets = members.map((member) => convertTarget(member, orders.indexOf(member.order ?? 0)))
  let priority = Math.max(...targets.map((target) => target.priority ?? 0)) + 1
  const added = new Map<string, FallbackList>()
  const conditions = new Set<string>(members.length > 1 ? ['default'] : [])
  for (const list of listsOf(group, settings)) {
    for (const backup of list.names) {
      const others = groups.get(backup)
      if (others === undefined) source.skip(list.path, list.what(backup), 'no model of that name was converted', byHand)
      if (others === undefined) continue
      conditions.add(list.on)
      if (added.has(backup)) continue
      added.set(backup, list)
      targets.push(...others.map((other) => convertTarget(aliased(other, group), priority)))
      priority++
    }
  }
  const route: ConvertedRoute = { model: group, ...withStrategy(targets, settings) }
  if (conditions.size > (conditions.has('default') ? 1 : 0)) {
    route.fallback_on = ['default', 'context_length', 'content_filter'].filter((word) => conditions.has(word))
    reportOrder(group, [...added], conditions, source)
  }
  if (settings.cache !== null) route.cache = settings.cache
  return withLimits(route, members, settings)
}

/** Models that are asked in place of another, and after what. */
interface FallbackList {
  on: Refusal | 'default'
  names: readonly string[]
  path: Path
  what(backup: string): string
}

/** Of a model that only a pattern takes, or that none of the routes takes. */
function skipStrayFallbacks(groups: Map<string, Deployment[]>, settings: RouterSettings, source: Source): void {
  const { fallbacks, fallbacksPath, special } = settings
  for (const { lists, path } of [{ lists: fallbacks, path: fallbacksPath }, ...special])
    for (const [name, others] of lists)
      if (name !== '*' && !groups.has(name))
        source.skip(
          path,
          `fallback of ${name} to ${others.join(', ')}`,
          'no model of that name was converted',
          `Add a route for it: spgw routes add ${JSON.stringify(name)} --target`,
        )
}

function listsOf(group: string, settings: RouterSettings): FallbackList[] {
  const { fallbacks, fallbacksPath, defaultFallbacks, defaultFallbacksPath, special } = settings
  const namesIn = (lists: Map<string, string[]>) =>
    (lists.get(group) ?? lists.get('*') ?? []).filter((name) => name !== group)
  const what = (backup: string) => `fallback of ${group} to ${backup}`
  const defaults = defaultFallbacks.filter((name) => name !== group)
  return [
    { on: 'default', names: namesIn(fallbacks), path: fallbacksPath, what },
    { on: 'default', names: defaults, path: defaultFallbacksPath, what: (backup) => `default fallback to ${backup}` },
    ...special.map(({ on, lists, path }) => ({ on, names: namesIn(lists), path, what })),
  ]
}

/** A route has one order of targets, and goes on in it whatever it goes on after. */
function reportOrder(
  group: string,
  added: readonly (readonly [string, FallbackList])[],
  conditions: ReadonlySet<string>,
  source: Source,
): void {
  if (!conditions.has('default') && conditions.size < 2) return
  for (const [backup, { on, path, what }] of added)
    if (on !== 'default')
      source.skip(
        path,
        what(backup),
        'a route has one order of targets, so it is asked after other failures too',
        `Nothing to do, or change it: spgw routes edit ${JSON.stringify(group)} --target`,
      )
}

const byHand = 'Add the target by hand.'

function convertTarget({ provider, upstreamModel, weight }: Deployment, priority: number): ConvertedTarget {
  const target: ConvertedTarget = { provider }
  if (upstreamModel !== null) target.upstream_model = upstreamModel
  if (weight !== null && weight !== 1) target.weight = Math.max(0, weight)
  target.priority = priority
  return target
}

/** Targets in a plain order need no numbers. */
function withStrategy(
  targets: ConvertedTarget[],
  { strategy }: RouterSettings,
): Pick<ConvertedRoute, 'strategy' | 'targets'> {
  const places = targets.map(({ priority }) => priority ?? 0)
  const isChoice = new Set(places).size < targets.length
  if (isChoice) return { strategy: strategy ?? 'weighted', targets }
  return {
    targets: targets
      .sort((one, other) => (one.priority ?? 0) - (other.priority ?? 0))
      .map(({ priority: _, ...rest }) => rest),
  }
}

function withLimits(route: ConvertedRoute, members: readonly Deployment[], settings: RouterSettings): ConvertedRoute {
  const longest = (values: (number | null)[]) => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? null : Math.max(...known)
  }
  const total = longest(members.map(({ timeoutMs }) => timeoutMs)) ?? settings.timeoutMs
  const firstByte = longest(members.map(({ streamTimeoutMs }) => streamTimeoutMs)) ?? settings.streamTimeoutMs
  const retries = longest(members.map((member) => member.retries)) ?? settings.retries
  const timeouts: Record<string, string> = {}
  if (firstByte !== null) timeouts.first_byte = durationOf(firstByte)
  if (total !== null) timeouts.total = durationOf(total)
  if (retries !== null) route.retries = Math.min(mostRetries, Math.max(0, Math.round(retries)))
  if (Object.keys(timeouts).length > 0) route.timeouts = timeouts
  return route
}
