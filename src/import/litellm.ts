import type { SettingsFile } from '../config/settings-file.ts'
import { escapeVariables } from '../core/variables.ts'
import { type Converted, type ConvertedRoute, type ConvertedTarget, durationOf, mostRetries } from './converted.ts'
import { ambientVariable, convertDeployment, type Deployment, readFallbacks } from './litellm-deployment.ts'
import { ProviderPool } from './pool.ts'
import {
  isTree,
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
  const groups = Map.groupBy(deployments, ({ group }) => group)
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
  const routes = [...groups].map(([group, members]) => convertGroup(group, members, groups, settings, source))
  skipSections(tree, source)
  return { providers: pool.usable(source), routes: keepUsableRoutes(routes, source), left: source.left }
}

interface RouterSettings {
  strategy: ConvertedRoute['strategy'] | null
  retries: number | null
  timeoutMs: number | null
  streamTimeoutMs: number | null
  fallbacks: Map<string, string[]>
  fallbacksPath: Path
  defaultFallbacks: string[]
  defaultFallbacksPath: Path
  aliases: Record<string, string>
}

const aliasPath = ['router_settings', 'model_group_alias']

const strategies: ReadonlyMap<string, ConvertedRoute['strategy']> = new Map([
  ['simple-shuffle', 'weighted'],
  ['latency-based-routing', 'latency'],
  ['cost-based-routing', 'cost'],
])

function readSettings(tree: Tree, source: Source): RouterSettings {
  const router = isTree(tree.router_settings) ? tree.router_settings : {}
  const module = isTree(tree.litellm_settings) ? tree.litellm_settings : {}
  const wanted = textOf(router.routing_strategy)
  const strategy = wanted === null ? null : (strategies.get(wanted) ?? null)
  if (wanted !== null && strategy === null)
    source.skip(
      ['router_settings', 'routing_strategy'],
      wanted,
      'there is no such strategy here',
      'Traffic is spread by weight. To change it: spgw routes edit --strategy',
    )
  // Either section may say it; the router's own goes first.
  const either = (name: string, inModule = name) => {
    const own = settingIn(router, ['router_settings'], name)
    return own.value === undefined ? settingIn(module, ['litellm_settings'], inModule) : own
  }
  const [fallbacks, defaults] = [either('fallbacks'), either('default_fallbacks')]
  return {
    strategy,
    retries: retriesOf(either('num_retries'), source),
    timeoutMs: timeoutOf(either('timeout', 'request_timeout'), 1000, source),
    streamTimeoutMs: timeoutOf(settingIn(router, ['router_settings'], 'stream_timeout'), 1000, source),
    fallbacks: readFallbacks(fallbacks, source),
    fallbacksPath: fallbacks.path,
    defaultFallbacks: namesIn(defaults, source),
    defaultFallbacksPath: defaults.path,
    aliases: readAliases(router.model_group_alias, source),
  }
}

function namesIn({ value, path }: Setting, source: Source): string[] {
  const names = listOf(value).flatMap((name) => textOf(name) ?? [])
  if (value !== undefined && value !== null && (!Array.isArray(value) || names.length < value.length))
    source.skip(path, String(path.at(-1)), 'it is no list of models', 'Add the targets by hand.')
  return names
}

function readAliases(value: unknown, source: Source): Record<string, string> {
  if (value !== undefined && value !== null && !isTree(value))
    source.skip(aliasPath, 'model_group_alias', 'it does not name models with others', 'Add the routes by hand.')
  return Object.fromEntries(
    Object.entries(isTree(value) ? value : {}).flatMap(([alias, group]) => {
      const name = textOf(isTree(group) ? group.model : group)
      if (name !== null) return [[alias, name]]
      source.skip([...aliasPath, alias], `the name ${alias}`, 'it names no model', 'Add a route by hand.')
      return []
    }),
  )
}

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
  const own = settings.fallbacks.get(group) ?? settings.fallbacks.get('*') ?? []
  const orders = [...new Set(members.map(({ order }) => order ?? 0))].sort((one, other) => one - other)
  const targets = members.map((member) => convertTarget(member, orders.indexOf(member.order ?? 0)))
  let priority = Math.max(...targets.map((target) => target.priority ?? 0)) + 1
  for (const backup of new Set([...own, ...settings.defaultFallbacks].filter((name) => name !== group))) {
    const others = groups.get(backup)
    if (others === undefined) {
      const [path, what] = own.includes(backup)
        ? [settings.fallbacksPath, `fallback of ${group} to ${backup}`]
        : [settings.defaultFallbacksPath, `default fallback to ${backup}`]
      source.skip(path, what, 'no model of that name was converted', 'Add the target by hand.')
      continue
    }
    targets.push(...others.map((other) => convertTarget(aliased(other, group), priority)))
    priority++
  }
  return withLimits({ model: group, ...withStrategy(targets, settings) }, members, settings)
}

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

const carriedSettings: Record<string, readonly string[]> = {
  router_settings: [
    'routing_strategy',
    'num_retries',
    'timeout',
    'stream_timeout',
    'fallbacks',
    'default_fallbacks',
    'model_group_alias',
  ],
  litellm_settings: ['num_retries', 'request_timeout', 'fallbacks', 'default_fallbacks'],
}

/** By the setting's name, or its section's. */
const explanations: Record<string, [reason: string, advice: string]> = {
  master_key: ['the gateway has no master key', 'Create keys: spgw keys create --name NAME'],
  database_url: ['the gateway keeps its state in a file of its own', 'Nothing to do.'],
  context_window_fallbacks: [
    'fallbacks go by status, not by the length of a prompt',
    'Let the client ask for the larger model.',
  ],
  content_policy_fallbacks: ['a content refusal goes to the client as the answer', 'Let the client ask another model.'],
  retry_policy: ['retries are a number for each route', 'Set it on the route: spgw routes edit --retries'],
  allowed_fails: ['targets are paused automatically after failures', 'Nothing to do.'],
  cooldown_time: ['targets are paused automatically after failures', 'Nothing to do.'],
  enable_pre_call_checks: ['prompts are not measured before a call', 'Nothing to do, or make routes by size.'],
  drop_params: ['requests pass unchanged; a translation lists what it loses', 'See spgw routes add --strict.'],
  cache: ['each route says whether answers are cached', 'Say it where you want it: spgw routes edit --cache 1h'],
  cache_params: ['each route says whether answers are cached', 'Say it where you want it: spgw routes edit --cache 1h'],
  success_callback: [
    'there are no callbacks',
    'Use the request records (spgw requests export), /metrics of the console, or traces (telemetry).',
  ],
  failure_callback: [
    'there are no callbacks',
    'Use the request records (spgw requests export), /metrics of the console, or traces (telemetry).',
  ],
  callbacks: [
    'there are no callbacks',
    'Use the request records (spgw requests export), /metrics of the console, or traces (telemetry).',
  ],
  redis_host: ['the gateway keeps its counters itself', 'Nothing to do.'],
  redis_password: ['the gateway keeps its counters itself', 'Nothing to do.'],
  redis_port: ['the gateway keeps its counters itself', 'Nothing to do.'],
  set_verbose: ['it is a setting of that gateway', 'See log.level in config.example.yaml.'],
  json_logs: ['it is a setting of that gateway', 'See log.format in config.example.yaml.'],
  include: ['only this file was read', 'Put what it names into one file, or convert those files as well.'],
  guardrails: ['there is no such guardrail here', 'See what a policy can reject: spgw policies add --help'],
  mcp_servers: ['MCP traffic is not supported', 'Call those servers directly, or keep that gateway for them.'],
  pass_through_endpoints: ['paths of other APIs are not supported', 'Let clients call that server directly.'],
  telemetry: ['there is no telemetry here', 'Nothing to do.'],
  store_model_in_db: ['the gateway always stores routes', 'Nothing to do.'],
  environment_variables: ['files contain no variables', 'Set them in the environment of the command that applies.'],
  files_settings: [
    'calls without a model go to the default provider of their environment',
    'See spgw environments edit --default-provider.',
  ],
  finetune_settings: [
    'calls without a model go to the default provider of their environment',
    'See spgw environments edit --default-provider.',
  ],
}
const unknownSetting: [string, string] = ['it has no counterpart here', 'Check whether you still need it.']

function explain(name: string): [reason: string, advice: string] {
  return (Object.hasOwn(explanations, name) ? explanations[name] : undefined) ?? unknownSetting
}

function skipSections(tree: Tree, source: Source): void {
  for (const [section, value] of Object.entries(tree)) {
    // What begins with x- is there to be merged into other places.
    if (section === 'model_list' || section === 'credential_list' || section.startsWith('x-')) continue
    // A section with nothing in it, or nothing but comments.
    if (isTree(value) && Object.keys(value).length === 0) continue
    const settings = isTree(value) && section.endsWith('_settings') ? Object.keys(value) : []
    const whole = settings.length === 0 || Object.hasOwn(explanations, section)
    if (whole) source.skip([section], section, ...explain(section))
    else
      for (const name of settings)
        if (!(Object.hasOwn(carriedSettings, section) && carriedSettings[section]?.includes(name)))
          source.skip([section, name], name, ...explain(name))
  }
}
