import { isIP } from 'node:net'
import { isObject } from '../core/json/is-object.ts'
import { ownValue } from '../core/own-value.ts'
import { parseDuration } from '../core/units.ts'
import { type ConvertedAlert, type ConvertedPolicy, durationOf } from './converted.ts'
import { countOf, listOf, numberOf, type Path, type Source, settingIn, type Tree, textOf } from './source.ts'

/** Settings of LiteLLM that hold for all models (docs.litellm.ai/docs/proxy/config_settings), but for those of its router. */

const policyName = 'litellm'

/** What limits all who call; none: nothing does. */
export function convertPolicies(tree: Tree, source: Source): ConvertedPolicy[] {
  const general = isObject(tree.general_settings) ? tree.general_settings : {}
  const at = ['general_settings']
  const policy: ConvertedPolicy = { name: policyName, attach: ['workspace'], ...budgetOf(tree, source) }
  const concurrency = countOf(settingIn(general, at, 'global_max_parallel_requests'), source)
  if (concurrency !== null) policy.concurrency = Math.max(0, Math.floor(concurrency))
  const megabytes = countOf(settingIn(general, at, 'max_request_size_mb'), source)
  if (megabytes !== null && megabytes > 0) policy.max_body = `${megabytes}MB`
  const addresses = addressesIn(general.allowed_ips, [...at, 'allowed_ips'], source)
  if (addresses.length > 0) policy.addresses = addresses
  return Object.keys(policy).length > 2 ? [policy] : []
}

const daily = /^(1d|24h|86400s)$/
const monthly = /^(30d|31d|1mo)$/

function budgetOf(tree: Tree, source: Source): Pick<ConvertedPolicy, 'budget_usd_day' | 'budget_usd_month'> {
  const module = isObject(tree.litellm_settings) ? tree.litellm_settings : {}
  const budget = settingIn(module, ['litellm_settings'], 'max_budget')
  const duration = settingIn(module, ['litellm_settings'], 'budget_duration')
  const usd = countOf(budget, source)
  const period = textOf(duration.value)
  if (usd === null || usd < 0) return {}
  if (period !== null && daily.test(period)) return { budget_usd_day: usd }
  if (period !== null && monthly.test(period)) {
    if (period !== '1mo')
      source.skip(
        duration.path,
        `a budget of ${period}`,
        'a budget is for a calendar month here',
        `Nothing to do, or change it: spgw policies edit ${policyName}`,
      )
    return { budget_usd_month: usd }
  }
  const what = period === null ? 'a budget without a period' : `a budget of ${period}`
  const advice = 'Add one: spgw policies add --help (--budget-usd-day, --budget-usd-month)'
  source.skip(period === null ? budget.path : duration.path, what, 'a budget is for a day or a month here', advice)
  return {}
}

function addressesIn(value: unknown, path: Path, source: Source): string[] {
  return listOf(value).flatMap((one, place) => {
    const text = textOf(one) ?? ''
    const [address = '', bits = '0'] = text.split('/')
    if (isIP(address) !== 0 && /^\d{1,3}$/.test(bits)) return [text]
    const advice = `Add it: spgw policies edit ${policyName} --address`
    source.skip([...path, place], 'an address', 'it is neither an address nor a block of them', advice)
    return []
  })
}

/** `alerting: [slack]`, with the variables from which LiteLLM reads where to. */
export function convertAlerts({ general_settings: general }: Tree, source: Source): ConvertedAlert[] {
  const alerting = isObject(general) ? listOf(general.alerting) : []
  return alerting.flatMap((kind, place): ConvertedAlert[] => {
    if (kind === 'slack') return [{ name: 'slack', url: `\${SLACK_WEBHOOK_URL}`, format: 'slack' }]
    if (kind === 'webhook') return [{ name: 'webhook', url: `\${WEBHOOK_URL}`, format: 'webhook' }]
    const advice = 'Add one: spgw alerts add --help'
    source.skip(['general_settings', 'alerting', place], 'an alert', 'alerts go to webhooks and to Slack', advice)
    return []
  })
}

/** Whether answers to a chat are among what is kept. */
const chatCalls: readonly unknown[] = ['completion', 'acompletion']

/** For how long each route may answer the same request again, as our files write it; null: it does not. */
export function readCache({ litellm_settings: module }: Tree, source: Source): string | null {
  if (!isObject(module)) return null
  const params = isObject(module.cache_params) ? module.cache_params : {}
  const at = ['litellm_settings', 'cache_params']
  if (module.cache !== true) return null
  const { ttl, mode, type, supported_call_types: calls, ...others } = params
  const seconds = numberOf(ttl)
  const length = seconds === null || seconds <= 0 ? null : parseDuration(`${seconds}s`)
  const reason = /semantic/.test(String(type))
    ? 'a route answers the same request again, not a similar one'
    : mode === 'default_off'
      ? 'there each request asks for it, here a route has it'
      : Array.isArray(calls) && !calls.some((call) => chatCalls.includes(call))
        ? 'each route says whether answers are cached'
        : length === null
          ? 'the file does not say for how long'
          : null
  if (reason !== null) {
    source.skip(['litellm_settings', 'cache'], 'cache', reason, cacheAdvice)
    return null
  }
  for (const name of Object.keys(others))
    source.skipOnce([...at, name], 'where answers are kept', 'the gateway keeps them itself', 'Nothing to do.')
  return durationOf((seconds ?? 0) * 1000)
}

const cacheAdvice = 'Say it where you want it: spgw routes edit MODEL --cache 1h'

const carriedSettings: Record<string, readonly string[]> = {
  router_settings: [
    ...['routing_strategy', 'num_retries', 'timeout', 'stream_timeout', 'fallbacks', 'default_fallbacks'],
    ...['context_window_fallbacks', 'content_policy_fallbacks', 'model_group_alias'],
  ],
  litellm_settings: [
    ...['num_retries', 'request_timeout', 'fallbacks', 'default_fallbacks'],
    ...['context_window_fallbacks', 'content_policy_fallbacks'],
    ...['max_budget', 'budget_duration', 'cache', 'cache_params'],
  ],
  general_settings: ['global_max_parallel_requests', 'max_request_size_mb', 'allowed_ips', 'alerting'],
}

type WhyLeft = [reason: string, advice: string]

const callbacks: WhyLeft = [
  'there are no callbacks',
  'Use the request records (spgw requests export), /metrics of the console, or traces (telemetry).',
]
const counters: WhyLeft = [
  'the gateway keeps its counters itself',
  'Nothing to do; for several nodes: spgw cluster init --help',
]
const perUser: WhyLeft = [
  'limits of each end user are rules of a policy',
  'Add one: spgw policies add --help (--per user)',
]
const alertSettings: WhyLeft = ['an alert says itself what it is for', 'Change it: spgw alerts edit --help (--on)']
const defaultProvider: WhyLeft = [
  'calls without a model go to the default provider of their environment',
  'See spgw environments edit NAME --default-provider.',
]

/** By the setting's name, or its section's. */
const explanations: Record<string, WhyLeft> = {
  master_key: ['the gateway has no master key', 'Create keys: spgw keys create --name NAME'],
  database_url: [
    'keys, teams and their budgets in that database are not in this file',
    'Make a key for each team, with a policy: spgw policies add --help (--attach). Projects need routes of their own.',
  ],
  retry_policy: ['retries are a number for each route', 'Set it on the route: spgw routes edit MODEL --retries N'],
  allowed_fails: ['targets are paused automatically after failures', 'Nothing to do.'],
  cooldown_time: ['targets are paused automatically after failures', 'Nothing to do.'],
  enable_pre_call_checks: [
    'prompts are not measured before a call',
    'Let a route fall back after a refusal: spgw routes edit MODEL --fallback-on default,context_length',
  ],
  optional_pre_call_checks: [
    "limits of a provider's account hold without a check",
    'For prompt caching: spgw routes edit --help (--sticky)',
  ],
  provider_budget_config: [
    'the account of a provider has a budget for a month here',
    'Set it: spgw providers edit --help (--budget-usd-month)',
  ],
  drop_params: ['requests pass unchanged; a translation lists what it loses', 'See spgw routes add MODEL --strict.'],
  success_callback: callbacks,
  failure_callback: callbacks,
  callbacks,
  redis_host: counters,
  redis_password: counters,
  redis_port: counters,
  max_parallel_requests: perUser,
  max_end_user_budget: perUser,
  max_internal_user_budget: perUser,
  alert_types: alertSettings,
  alerting_threshold: alertSettings,
  alerting_args: alertSettings,
  set_verbose: ['it is a setting of that gateway', 'See log.level in config.example.yaml.'],
  json_logs: ['it is a setting of that gateway', 'See log.format in config.example.yaml.'],
  include: ['only this file was read', 'Put what it names into one file, or convert those files as well.'],
  guardrails: [
    'they are programs of their own',
    'Content rules of a policy block, redact or flag: spgw policies add --help (--content-rule)',
  ],
  mcp_servers: ['MCP traffic is not supported', 'Call those servers directly, or keep that gateway for them.'],
  pass_through_endpoints: ['paths of other APIs are not supported', 'Let clients call that server directly.'],
  telemetry: ['the gateway reports its use to nobody', 'Nothing to do.'],
  store_model_in_db: [
    'models that were added in its interface are not in this file',
    'Add a route for each: spgw routes add MODEL --provider NAME',
  ],
  environment_variables: ['files contain no variables', 'Set them in the environment of the command that applies.'],
  files_settings: defaultProvider,
  finetune_settings: defaultProvider,
}
const unknownSetting: WhyLeft = ['it has no counterpart here', 'Check whether you still need it.']

function explain(name: string): WhyLeft {
  return ownValue(explanations, name) ?? unknownSetting
}

/** Reports all that nothing was made of. */
export function skipSections(tree: Tree, source: Source): void {
  for (const [section, value] of Object.entries(tree)) {
    // What begins with x- is there to be merged into other places.
    if (section === 'model_list' || section === 'credential_list' || section.startsWith('x-')) continue
    // A section with nothing in it, or nothing but comments.
    if (isObject(value) && Object.keys(value).length === 0) continue
    const settings = isObject(value) && section.endsWith('_settings') ? Object.keys(value) : []
    const whole = settings.length === 0 || Object.hasOwn(explanations, section)
    if (whole) source.skip([section], section, ...explain(section))
    else
      for (const name of settings)
        if (!(Object.hasOwn(carriedSettings, section) && carriedSettings[section]?.includes(name)))
          source.skip([section, name], name, ...explain(name))
  }
}
