import { convertCloud, type WantedProvider } from './cloud.ts'
import { type ConvertedProvider, variableOf } from './converted.ts'
import { cloudParams, readCloudModel, withCredential } from './litellm-cloud.ts'
import type { ProviderPool } from './pool.ts'
import {
  isTree,
  isVariable,
  listOf,
  numberOf,
  type Path,
  readValue,
  type Source,
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
}

/** null: it cannot be carried, and the source says why. `credentials`: what models name by `litellm_credential_name`. */
export function convertDeployment(
  entry: unknown,
  path: Path,
  credentials: readonly unknown[],
  pool: ProviderPool,
  source: Source,
): Deployment | null {
  const own = isTree(entry) && isTree(entry.litellm_params) ? entry.litellm_params : null
  const params = own === null ? null : withCredential(own, credentials)
  const group = isTree(entry) ? textOf(entry.model_name) : null
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
  skipParams(params, at, source)
  if (isTree(entry) && isTree(entry.model_info)) skipInfo(entry.model_info, [...path, 'model_info'], source)
  return {
    group,
    provider: pool.add(provider.wanted, provider.content),
    upstreamModel: upstreamModel === group ? null : upstreamModel,
    weight: numberOf(params.weight),
    order: numberOf(params.order),
    timeoutMs: timeoutOf(params.timeout ?? params.request_timeout, 1000, [...at, 'timeout'], source),
    streamTimeoutMs: timeoutOf(params.stream_timeout, 1000, [...at, 'stream_timeout'], source),
    retries: numberOf(params.num_retries ?? params.max_retries),
  }
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
  const isOther =
    vendor.kind.kind === 'openai' && base !== null && !base.includes('api.openai.com') && !isVariable(base)
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

const secretHeaders = /^(authorization|proxy-authorization|x-api-key|api-key|x-goog-api-key|cookie)$/i

function headersOf(params: Tree, at: Path, source: Source): Record<string, string> {
  const headers: Record<string, string> = {}
  const given = isTree(params.extra_headers) ? params.extra_headers : isTree(params.headers) ? params.headers : {}
  for (const [name, value] of Object.entries(given)) {
    if (secretHeaders.test(name))
      source.skip(
        [...at, 'extra_headers', name],
        `header ${name}`,
        'it carries a credential',
        'Give it as the credential of the provider.',
      )
    else if (typeof value === 'string') headers[name] = readValue(value)
  }
  return headers
}

const carried = new Set([
  ...['model', 'custom_llm_provider', 'api_key', 'api_base', 'base_url', 'organization', 'extra_headers', 'headers'],
  ...['weight', 'order', 'timeout', 'request_timeout', 'stream_timeout', 'num_retries', 'max_retries'],
  ...cloudParams,
])
const limits = ['rpm', 'tpm', 'max_parallel_requests', 'max_budget', 'budget_duration']
const prices = /cost_per|_cost$/

function skipParams(params: Tree, at: Path, source: Source): void {
  for (const name of Object.keys(params)) {
    if (carried.has(name)) continue
    const path = [...at, name]
    if (limits.includes(name))
      source.skip(
        path,
        name,
        "a target has the limits of its provider's account here",
        'Set them: spgw providers edit --help. A target that answers 429 is paused automatically.',
      )
    else if (prices.test(name))
      source.skip(path, name, 'prices are kept apart from routes here', 'Set it if yours differs: spgw prices set')
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

function skipInfo(info: Tree, path: Path, source: Source): void {
  for (const name of Object.keys(info))
    if (prices.test(name))
      source.skip(
        [...path, name],
        name,
        'prices are kept apart from routes here',
        'Set it if yours differs: spgw prices set',
      )
}

/** `[{ a: [b, c] }]` */
export function readFallbacks(value: unknown, source: Source): Map<string, string[]> {
  const fallbacks = new Map<string, string[]>()
  const skip = (place: number, what: string) =>
    source.skip(
      ['router_settings', 'fallbacks', place],
      what,
      'it is no model with a list of others',
      'Add the targets by hand.',
    )
  for (const [place, one] of listOf(value).entries()) {
    if (!isTree(one)) skip(place, 'a fallback')
    for (const [name, list] of isTree(one) ? Object.entries(one) : []) {
      const names = listOf(list).flatMap((other) => textOf(other) ?? [])
      if (!Array.isArray(list) || names.length < list.length) skip(place, `a fallback of ${name}`)
      fallbacks.set(name, names)
    }
  }
  return fallbacks
}
