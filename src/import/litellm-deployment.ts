import { isObject } from '../core/json/is-object.ts'
import { convertCloud, type WantedProvider } from './cloud.ts'
import { type ConvertedProvider, variableOf } from './converted.ts'
import { azureKeyVariable, cloudParams, hasPrincipal, readCloudModel, withCredential } from './litellm-cloud.ts'
import type { ProviderPool } from './pool.ts'
import {
  countOf,
  isVariable,
  listOf,
  numberOf,
  type Path,
  readValue,
  retriesOf,
  type Setting,
  type Source,
  settingIn,
  type Tree,
  textOf,
  timeoutOf,
} from './source.ts'
import { explainAbsence, type Vendor, type Vendors } from './vendors.ts'

/** One entry of `model_list`, converted. */
export interface Deployment {
  /** The name that clients use. */
  group: string
  provider: string
  /** null: the same as the client's. */
  upstreamModel: string | null
  weight: number | null
  order: number | null
  timeoutMs: number | null
  streamTimeoutMs: number | null
  retries: number | null
  /** Requests and tokens a minute, and where the file says it. */
  rpm: Quota | null
  tpm: Quota | null
}

export interface Quota {
  amount: number
  path: Path
}

/** null: it cannot be carried, and the source says why. `credentials`: what models name by `litellm_credential_name`. */
export function convertDeployment(
  entry: unknown,
  path: Path,
  credentials: readonly unknown[],
  pool: ProviderPool,
  source: Source,
): Deployment | null {
  const own = isObject(entry) && isObject(entry.litellm_params) ? entry.litellm_params : null
  const params = own === null ? null : withCredential(own, credentials)
  const group = isObject(entry) ? textOf(entry.model_name) : null
  const model = params === null ? null : textOf(params.model)
  if (params === null || group === null || model === null) {
    source.skip(path, 'an entry of model_list', 'it has no model_name, or no model', 'Add a route by hand.')
    return null
  }
  const at = [...path, 'litellm_params']
  const named = nameVendor(model, params, source.vendors)
  const vendor = named === null ? null : source.vendors.find(named.vendor)
  if (named === null || vendor === null) {
    const reason = named === null ? 'the name does not say which vendor it is' : explainAbsence(named.vendor)
    const hint = `Add a provider that serves it, then: spgw routes add ${JSON.stringify(group)}`
    source.skip([...at, 'model'], `model ${model}`, reason, hint)
    return null
  }
  const cloud = readCloudModel(vendor.kind, named.model, params, at, source)
  const provider =
    cloud === null
      ? convertProvider(named.vendor, vendor, params, at, source)
      : convertCloud(cloud, [...at, 'model'], source)
  if (provider === null) return null
  const upstreamModel = cloud?.model ?? named.model
  const name = pool.add(provider.wanted, provider.content)
  skipParams(params, at, source)
  if (isObject(entry)) skipEntry(entry, path, source)
  const described = isObject(entry) && isObject(entry.model_info) ? entry.model_info : {}
  skipPrices(params, at, { model: upstreamModel, provider: name }, source)
  skipPrices(described, [...path, 'model_info'], { model: upstreamModel, provider: name }, source)
  const quota = (kind: 'rpm' | 'tpm') => {
    const own = settingIn(params, at, kind)
    return quotaOf(own.value === undefined && isObject(entry) ? settingIn(entry, path, kind) : own, source)
  }
  return {
    group,
    provider: name,
    upstreamModel: upstreamModel === group ? null : upstreamModel,
    weight: countOf(settingIn(params, at, 'weight'), source),
    order: countOf(settingIn(params, at, 'order'), source),
    timeoutMs: timeoutOf(settingIn(params, at, 'timeout', 'request_timeout'), 1000, source),
    streamTimeoutMs: timeoutOf(settingIn(params, at, 'stream_timeout'), 1000, source),
    retries: retriesOf(settingIn(params, at, 'num_retries', 'max_retries'), source),
    rpm: quota('rpm'),
    tpm: quota('tpm'),
  }
}

function quotaOf(setting: Setting, source: Source): Quota | null {
  const amount = countOf(setting, source)
  return amount === null || amount <= 0 ? null : { amount, path: setting.path }
}

/** The variable from which an entry without a key of its own has it: no key in clear text may get that name. */
export function ambientVariable(entry: unknown, credentials: readonly unknown[], vendors: Vendors): string | null {
  const own = isObject(entry) && isObject(entry.litellm_params) ? entry.litellm_params : {}
  const params = withCredential(own, credentials)
  const model = textOf(params.model)
  if (model === null || textOf(params.api_key) !== null) return null
  const named = nameVendor(model, params, vendors)
  const vendor = named === null ? null : vendors.find(named.vendor)
  if (vendor === null || isOtherServer(vendor, addressOf(params.api_base ?? params.base_url, vendor))) return null
  if (vendor.kind.kind !== 'azure-openai') return vendor.keyVariable
  return hasPrincipal(params) ? null : azureKeyVariable
}

function nameVendor(model: string, params: Tree, vendors: Vendors): { vendor: string; model: string } | null {
  const explicit = textOf(params.custom_llm_provider)
  const slash = model.indexOf('/')
  const prefix = slash > 0 ? model.slice(0, slash) : null
  if (explicit !== null) return { vendor: explicit, model: prefix === explicit ? model.slice(slash + 1) : model }
  if (prefix !== null && vendors.isKnown(prefix)) return { vendor: prefix, model: model.slice(slash + 1) }
  const guessed = vendors.guess(model)
  if (guessed !== null) return { vendor: guessed, model }
  return textOf(params.api_base) === null
    ? prefix === null
      ? null
      : { vendor: prefix, model }
    : { vendor: 'openai_like', model }
}

function convertProvider(name: string, vendor: Vendor, params: Tree, at: Path, source: Source): WantedProvider | null {
  const base = addressOf(params.api_base ?? params.base_url, vendor)
  const isOther = isOtherServer(vendor, base)
  const kind = isOther ? 'openai-compatible' : vendor.kind.kind
  if (vendor.needsAddress && base === null) {
    source.skip(at, `a provider ${name}`, 'it has no api_base', 'Add the provider by hand, with its --base-url.')
    return null
  }
  const settings: Record<string, string> = {}
  if (vendor.preset !== null) settings.preset = vendor.preset.name
  const organization = textOf(params.organization)
  if (organization !== null && kind === 'openai') settings.organization = readValue(organization)
  // A server of one's own is named by its host: the key of the vendor whose format it speaks must not go there.
  const wanted = isOther || vendor.needsAddress ? hostOf(base ?? name) : (vendor.preset?.name ?? name)
  const credential = credentialOf(isOther || vendor.needsAddress ? wanted : name, vendor, isOther, params, at, source)
  const headers = headersOf(params, at, source)
  const content: Omit<ConvertedProvider, 'name'> = { kind }
  if (base !== null && base !== 'https://api.openai.com/v1') content.base_url = base
  if (credential !== null) content.credential = credential
  if (Object.keys(headers).length > 0) content.headers = headers
  if (Object.keys(settings).length > 0) content.settings = settings
  return { wanted, content }
}

function isOtherServer({ kind }: Vendor, base: string | null): boolean {
  if (kind.kind !== 'openai' || base === null || isVariable(base)) return false
  // OpenAI has hosts for regions, such as eu.api.openai.com. A proxy may have its name anywhere in its address.
  const host = URL.canParse(base) ? new URL(base).hostname : (base.split('/')[0] ?? '')
  return host !== 'api.openai.com' && !host.endsWith('.api.openai.com')
}

/** As the vendor's own SDK would be given it: with `/v1` for servers of OpenAI's kind, the origin alone for the others. */
function addressOf(value: unknown, vendor: Vendor): string | null {
  const text = textOf(value)
  if (text === null) return null
  const address = readValue(text)
    .replace(/\/+$/, '')
    .replace(/\/(chat\/completions|v1\/messages)$/, '')
  if (!vendor.kind.lanes.includes('openai')) return address.replace(/\/v1(beta)?$/, '')
  return vendor.preset?.name === 'ollama' && !/\/v1$/.test(address) && !isVariable(address) ? `${address}/v1` : address
}

function hostOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null) return address.replace(/[${}]/g, '')
  if (!/^[\d.]+$|^\[|^localhost$/.test(url.hostname)) return url.hostname
  return `server-${url.port || (url.protocol === 'https:' ? '443' : '80')}`
}

/** A key that stands in the file is not copied into another one. */
function credentialOf(
  name: string,
  vendor: Vendor,
  isOther: boolean,
  params: Tree,
  at: Path,
  source: Source,
): string | null {
  const given = textOf(params.api_key)
  if (given === null) return vendor.keyVariable === null || isOther ? null : `\${${vendor.keyVariable}}`
  const read = readValue(given)
  if (read !== given) return read
  if (/^(none|null|empty|fake|dummy|anything|sk-1234|x+)(-?key)?$/i.test(given)) return null
  const variable = source.variableFor(`${variableOf(name)}_API_KEY`, given)
  source.skip(
    [...at, 'api_key'],
    'a key in clear text',
    'secrets are not copied into files',
    `Put it into the variable ${variable}.`,
  )
  return `\${${variable}}`
}

/** The gateway sets them itself. */
const secretHeaders = /^(authorization|proxy-authorization|x-api-key|api-key|x-goog-api-key|cookie)$/i

/** Of other names, whatever could be a secret goes into a variable. */
const mayBeSecret = /auth|key|token|secret|cookie|passw|credential/i
const secretForm = /^(bearer|basic)\s|^sk-/i

function headersOf(params: Tree, at: Path, source: Source): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const member of ['headers', 'extra_headers']) {
    const given = params[member]
    const path = [...at, member]
    if (given !== undefined && !isObject(given))
      source.skip(path, member, 'it does not name headers with their values', 'Add them by hand.')
    for (const [name, value] of isObject(given) ? Object.entries(given) : []) {
      const text = headerOf(name, value, [...path, name], source)
      if (text !== null) headers[name] = text
    }
  }
  return headers
}

function headerOf(name: string, value: unknown, path: Path, source: Source): string | null {
  const what = `header ${name}`
  if (secretHeaders.test(name)) {
    source.skip(path, what, 'it carries a credential', 'Give it as the credential of the provider.')
    return null
  }
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') {
    source.skip(path, what, 'it is not text', 'Add it by hand.')
    return null
  }
  const read = readValue(value)
  if (read !== value || !(mayBeSecret.test(name) || secretForm.test(value))) return read
  const variable = source.variableFor(variableOf(name), value)
  source.skip(path, what, 'secrets are not copied into files', `Put its value into the variable ${variable}.`)
  return `\${${variable}}`
}

const carried = new Set([
  ...['model', 'custom_llm_provider', 'api_key', 'api_base', 'base_url', 'organization', 'extra_headers', 'headers'],
  ...['weight', 'order', 'timeout', 'request_timeout', 'stream_timeout', 'num_retries', 'max_retries', 'rpm', 'tpm'],
  ...cloudParams,
])
const limits = ['max_parallel_requests', 'max_budget', 'budget_duration']
const prices = /cost_per|_cost$/
/** Of a token, and the flag that has it of a million. */
const tokenPrices: ReadonlyMap<string, string> = new Map([
  ['input_cost_per_token', '--input'],
  ['output_cost_per_token', '--output'],
  ['cache_read_input_token_cost', '--cache-read'],
  ['cache_creation_input_token_cost', '--cache-write'],
])

function skipParams(params: Tree, at: Path, source: Source): void {
  for (const name of Object.keys(params)) {
    if (carried.has(name)) continue
    const path = [...at, name]
    if (limits.includes(name)) skipLimit(path, name, source)
    else if (prices.test(name)) continue
    else if (name === 'tags')
      source.skip(
        path,
        name,
        'targets are not chosen by tags',
        'Make a route for each model name, or an environment for each tag.',
      )
    else source.skip(path, name, 'the gateway adds no parameters to what clients send', 'Send it from the client.')
  }
}

function skipLimit(path: Path, name: string, source: Source): void {
  source.skip(
    path,
    name,
    "a target has the limits of its provider's account here",
    'Set them: spgw providers edit --help (--rpm, --tpm, --budget-usd-month).',
  )
}

/** Prices are no part of a configuration file: the command that sets them is said. */
function skipPrices(tree: Tree, at: Path, target: { model: string; provider: string }, source: Source): void {
  const named = Object.keys(tree).filter((name) => prices.test(name))
  const flags = named.flatMap((name) => {
    const flag = tokenPrices.get(name)
    const price = numberOf(tree[name])
    return flag === undefined || price === null ? [] : [`${flag} ${Number((price * 1e6).toPrecision(12))}`]
  })
  const command = `spgw prices set ${quoteWord(target.model)} --provider ${target.provider} ${flags.join(' ')}`
  for (const name of named) {
    const isToken = tokenPrices.has(name) && flags.length > 0
    source.skip(
      [...at, name],
      name,
      'prices are kept apart from routes here',
      `Set it if yours differs: ${isToken ? command : 'spgw prices set'}`,
    )
  }
}

const quoteWord = (word: string) => (/^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** Who may use a model, as `model_info` says it. All else there describes the model. */
const restrictions = ['access_groups', 'team_id', 'supported_environments']

/** What stands beside `litellm_params`. */
function skipEntry(entry: Tree, at: Path, source: Source): void {
  for (const name of Object.keys(entry)) {
    if (['model_name', 'litellm_params', 'model_info', 'rpm', 'tpm'].includes(name)) continue
    if (limits.includes(name)) skipLimit([...at, name], name, source)
    else source.skip([...at, name], name, 'it has no counterpart here', 'Check whether you still need it.')
  }
  for (const name of isObject(entry.model_info) ? Object.keys(entry.model_info) : []) {
    if (restrictions.includes(name))
      source.skip(
        [...at, 'model_info', name],
        name,
        'a route serves all keys of its project or environment',
        'Say which models a key may use: spgw policies add --help (--allow-model)',
      )
  }
}

/** `[{ a: [b, c] }]` */
export function readFallbacks({ value, path }: Setting, source: Source): Map<string, string[]> {
  const fallbacks = new Map<string, string[]>()
  const skip = (place: number, what: string) =>
    source.skip([...path, place], what, 'it is not a model with a list of others', 'Add the targets by hand.')
  if (value !== undefined && value !== null && !Array.isArray(value))
    source.skip(path, 'fallbacks', 'it is not a list', 'Add the targets by hand.')
  for (const [place, one] of listOf(value).entries()) {
    if (!isObject(one)) skip(place, 'a fallback')
    for (const [name, list] of isObject(one) ? Object.entries(one) : []) {
      const names = listOf(list).flatMap((other) => textOf(other) ?? [])
      if (!Array.isArray(list) || names.length < list.length) skip(place, `a fallback of ${name}`)
      // The first that names a model holds, there as here.
      if (fallbacks.has(name))
        source.skip(
          [...path, place],
          `another list of fallbacks of ${name}`,
          'the first counts',
          'Nothing to do, or add the targets by hand.',
        )
      else fallbacks.set(name, names)
    }
  }
  return fallbacks
}
