import type { SettingsFile } from '../config/settings-file.ts'
import { type Converted, type ConvertedRoute, type ConvertedTarget, durationOf, mostRetries } from './converted.ts'
import { convertDeployment, type Deployment, readFallbacks, seconds } from './litellm-deployment.ts'
import { ProviderPool } from './pool.ts'
import { isTree, listOf, mergeAnchors, numberOf, Source, type Tree, textOf } from './source.ts'

/** LiteLLM's proxy configuration (docs.litellm.ai/docs/proxy/configs), as far as it has a counterpart. */
export function convertLitellm(file: SettingsFile): Converted {
  const source = new Source(file)
  const pool = new ProviderPool()
  const tree = mergeAnchors(file.tree)
  const deployments = listOf(tree.model_list).flatMap(
    (entry, place) => convertDeployment(entry, ['model_list', place], listOf(tree.credential_list), pool, source) ?? [],
  )
  const settings = readSettings(tree, source)
  const groups = Map.groupBy(deployments, ({ group }) => group)
  for (const [alias, group] of Object.entries(settings.aliases)) {
    const members = groups.get(group)
    if (members !== undefined)
      groups.set(
        alias,
        members.map((member) => aliased(member, alias)),
      )
  }
  const routes = [...groups].map(([group, members]) => convertGroup(group, members, groups, settings, source))
  if (settings.retries !== null && settings.retries > mostRetries)
    source.leave(
      ['router_settings', 'num_retries'],
      `${settings.retries} retries`,
      `a route has ${mostRetries} at the most`,
      'Nothing has to be done, or add targets.',
    )
  leaveSections(tree, source)
  return { providers: pool.all, routes, left: source.left }
}

interface RouterSettings {
  strategy: ConvertedRoute['strategy'] | null
  retries: number | null
  timeoutMs: number | null
  streamTimeoutMs: number | null
  fallbacks: Map<string, string[]>
  defaultFallbacks: string[]
  aliases: Record<string, string>
}

const strategies: Record<string, ConvertedRoute['strategy']> = {
  'simple-shuffle': 'weighted',
  'latency-based-routing': 'latency',
  'cost-based-routing': 'cost',
}

function readSettings(tree: Tree, source: Source): RouterSettings {
  const router = isTree(tree.router_settings) ? tree.router_settings : {}
  const module = isTree(tree.litellm_settings) ? tree.litellm_settings : {}
  const wanted = textOf(router.routing_strategy)
  const strategy = wanted === null ? null : (strategies[wanted] ?? null)
  if (wanted !== null && strategy === null)
    source.leave(
      ['router_settings', 'routing_strategy'],
      wanted,
      'there is no such strategy here',
      'Traffic is spread by weight; see spgw routes edit --strategy.',
    )
  const aliases = isTree(router.model_group_alias) ? router.model_group_alias : {}
  return {
    strategy,
    retries: numberOf(router.num_retries ?? module.num_retries),
    timeoutMs: seconds(router.timeout ?? module.request_timeout),
    streamTimeoutMs: seconds(router.stream_timeout),
    fallbacks: readFallbacks(router.fallbacks ?? module.fallbacks),
    defaultFallbacks: listOf(router.default_fallbacks ?? module.default_fallbacks).flatMap(
      (name) => textOf(name) ?? [],
    ),
    aliases: Object.fromEntries(
      Object.entries(aliases).flatMap(([alias, group]) => {
        const name = textOf(isTree(group) ? group.model : group)
        return name === null ? [] : [[alias, name]]
      }),
    ),
  }
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
  const backups = [
    ...(settings.fallbacks.get(group) ?? settings.fallbacks.get('*') ?? []),
    ...settings.defaultFallbacks,
  ]
  const targets = members.map((member) => convertTarget(member, member.order === null ? 0 : member.order))
  let priority = Math.max(...targets.map((target) => target.priority ?? 0)) + 1
  for (const backup of new Set(backups.filter((name) => name !== group))) {
    const others = groups.get(backup)
    if (others === undefined) {
      source.leave(
        ['router_settings', 'fallbacks'],
        `fallback of ${group} to ${backup}`,
        'no model of that name was carried',
        'Add the target by hand.',
      )
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
  if (weight !== null && weight !== 1) target.weight = weight
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
  database_url: ['the gateway keeps its state in a file of its own', 'Nothing has to be done.'],
  context_window_fallbacks: [
    'fallbacks go by status, not by the length of a prompt',
    'Let the client ask for the larger model.',
  ],
  content_policy_fallbacks: [
    'a refusal for its content is the answer, and passes',
    'Let the client ask another model.',
  ],
  retry_policy: ['retries are a number for each route', 'See spgw routes edit --retries.'],
  allowed_fails: ['targets rest by themselves when they fail', 'Nothing has to be done.'],
  cooldown_time: ['targets rest by themselves when they fail', 'Nothing has to be done.'],
  enable_pre_call_checks: ['prompts are not measured before a call', 'Nothing has to be done, or make routes by size.'],
  drop_params: [
    'what passes through is not changed; a translation lists what it loses',
    'See spgw routes add --strict.',
  ],
  cache: ['answers are not cached', 'Use the prompt caches of the providers.'],
  cache_params: ['answers are not cached', 'Use the prompt caches of the providers.'],
  success_callback: [
    'there are no callbacks',
    'Records hold it all: spgw requests export, and /metrics of the console.',
  ],
  failure_callback: [
    'there are no callbacks',
    'Records hold it all: spgw requests export, and /metrics of the console.',
  ],
  callbacks: ['there are no callbacks', 'Records hold it all: spgw requests export, and /metrics of the console.'],
  redis_host: ['the gateway counts in its own memory', 'Nothing has to be done.'],
  redis_password: ['the gateway counts in its own memory', 'Nothing has to be done.'],
  redis_port: ['the gateway counts in its own memory', 'Nothing has to be done.'],
  set_verbose: ['it is a setting of that program', 'See log.level in config.example.yaml.'],
  json_logs: ['it is a setting of that program', 'See log.format in config.example.yaml.'],
  include: ['only this file was read', 'Put what it names into one file, or convert those files as well.'],
  guardrails: [
    'there are no guardrails of that kind here',
    'See spgw policies add --help for what a policy can refuse.',
  ],
  mcp_servers: ['the gateway carries no MCP traffic', 'Call those servers directly, or keep that program for them.'],
  pass_through_endpoints: ['paths of other APIs are not passed on', 'Let clients call that server itself.'],
  telemetry: ['nothing is sent home here', 'Nothing has to be done.'],
  store_model_in_db: ['routes are always kept by the gateway', 'Nothing has to be done.'],
  environment_variables: ['files hold no variables', 'Set them in the environment of the command that applies.'],
  files_settings: [
    'calls without a model go to the default provider of their environment',
    'See spgw environments edit --default-provider.',
  ],
  finetune_settings: [
    'calls without a model go to the default provider of their environment',
    'See spgw environments edit --default-provider.',
  ],
}
const unknownSetting: [string, string] = ['it has no counterpart here', 'Look whether it is still needed.']

function leaveSections(tree: Tree, source: Source): void {
  for (const [section, value] of Object.entries(tree)) {
    // What begins with x- is there to be merged into other places.
    if (section === 'model_list' || section === 'credential_list' || section.startsWith('x-')) continue
    const settings = isTree(value) && section.endsWith('_settings') ? Object.keys(value) : []
    const whole = settings.length === 0 || Object.hasOwn(explanations, section)
    if (whole) source.leave([section], section, ...(explanations[section] ?? unknownSetting))
    else
      for (const name of settings)
        if (!carriedSettings[section]?.includes(name))
          source.leave([section, name], name, ...(explanations[name] ?? unknownSetting))
  }
}
