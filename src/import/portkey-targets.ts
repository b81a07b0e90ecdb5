import { isObject } from '../core/json/is-object.ts'
import type { ProviderKind } from '../providers/contract.ts'
import { type CloudModel, convertCloud, type WantedProvider } from './cloud.ts'
import { variableOf } from './converted.ts'
import type { ProviderPool } from './pool.ts'
import { countOf, listOf, type Path, type Source, settingIn, type Tree, textOf, textsIn } from './source.ts'
import { explainAbsence, type Vendor, type Vendors } from './vendors.ts'

/** A target without targets of its own. */
export interface TargetLeaf {
  provider: string
  upstreamModel: string | null
  weight: number
  /** Lower goes first; those of the same are chosen by weight. */
  priority: number
}

/** The tree of targets as one list: a route has an order and weights, and no groups within groups. */
export function convertTargets(tree: Tree, path: Path, pool: ProviderPool, source: Source): TargetLeaf[] {
  const inner = listOf(tree.targets)
  if (inner.length === 0) return convertLeaf(tree, path, pool, source)
  const mode = isObject(tree.strategy) ? textOf(tree.strategy.mode) : null
  if (mode !== null && !['fallback', 'loadbalance', 'single'].includes(mode))
    source.skip(
      [...path, 'strategy', 'mode'],
      `the strategy ${mode}`,
      'there is no such strategy here',
      'The targets are tried in their order. Check it.',
    )
  // Of several targets, the first is the one that is used.
  if (mode === 'single' && inner.length > 1)
    source.skip(
      [...path, 'targets', 1],
      'targets after the first',
      'the strategy single uses the first alone',
      'Add them by hand, if they are to be fallbacks.',
    )
  const groups = (mode === 'single' ? inner.slice(0, 1) : inner).flatMap((target, place) => {
    const at = [...path, 'targets', place]
    if (isObject(target)) return [{ target, at, leaves: convertInner(tree, target, at, pool, source) }]
    source.skip(at, 'a target', 'it is not an object', 'Add the target by hand.')
    return []
  })
  if (mode === 'loadbalance')
    return groups.flatMap(({ target, leaves, at }) =>
      share(leaves, countOf(settingIn(target, at, 'weight'), source) ?? 1),
    )
  // In an order: each group comes after all of the one before.
  let next = 0
  return groups.flatMap(({ leaves }) => {
    const placed = leaves.map((leaf) => ({ ...leaf, priority: next + leaf.priority }))
    next = Math.max(next, ...placed.map(({ priority }) => priority + 1))
    return placed
  })
}

/** What a group says of its targets holds for those that say nothing. */
function convertInner(outer: Tree, target: Tree, path: Path, pool: ProviderPool, source: Source): TargetLeaf[] {
  const { override_params: above } = outer
  const own = isObject(target.override_params) ? target.override_params : {}
  const inherited = isObject(above) ? { override_params: { ...above, ...own } } : {}
  const isGroup = listOf(target.targets).length > 0
  if (isGroup && isObject(outer.strategy) && outer.strategy.mode === 'loadbalance' && isFallback(target))
    source.skip(
      path,
      'an order within a balanced group',
      'a route has one order, and weights within it',
      'Its first targets are balanced, and the others come after those of all groups. Check the order.',
    )
  skipSettings(target, path, source)
  if (isGroup && isObject(target.strategy)) skipStrategy(target.strategy, [...path, 'strategy'], ['mode'], source)
  return convertTargets({ ...target, ...inherited }, path, pool, source)
}

const isFallback = ({ strategy }: Tree) => isObject(strategy) && strategy.mode === 'fallback'

function share(leaves: TargetLeaf[], weight: number): TargetLeaf[] {
  const sum = leaves.filter(({ priority }) => priority === 0).reduce((total, leaf) => total + leaf.weight, 0)
  return leaves.map((leaf) => ({
    ...leaf,
    weight: sum === 0 ? 0 : Math.round((leaf.weight / sum) * weight * 1e6) / 1e6,
  }))
}

/** What is carried of a configuration or a target, or reported where it is read. */
const known = new Set([
  ...['strategy', 'targets', 'provider', 'api_key', 'virtual_key', 'retry', 'request_timeout', 'override_params'],
  ...['weight', 'custom_host', 'name', 'slug', 'id', 'on_status_codes', 'config', 'openai_organization'],
  'openai_project',
])

/** Of a configuration or a target. */
export function skipUnknown(name: string, path: Path, source: Source): void {
  if (known.has(name) || cloudMembers.includes(name)) return
  if (/guardrails|_hooks$/.test(name))
    source.skip(
      path,
      name,
      'they are programs of their own',
      'Content rules of a policy block, redact or flag: spgw policies add --help (--content-rule)',
    )
  else source.skip(path, name, 'it has no counterpart here', 'Check whether you still need it.')
}

export function skipStrategy(strategy: Tree, path: Path, carried: readonly string[], source: Source): void {
  for (const name of Object.keys(strategy).filter((one) => !carried.includes(one))) {
    const isOfRoute = name === 'on_status_codes'
    const reason = isOfRoute ? 'it is set once for a route here' : 'it has no counterpart here'
    const advice = isOfRoute
      ? 'Set it on the route: spgw routes edit MODEL --fallback-on LIST'
      : 'Check whether you still need it.'
    source.skip([...path, name], `${name} of the strategy`, reason, advice)
  }
}

const ofRoutes = ['retry', 'request_timeout', 'cache']

/** Of a target: what a whole route has here, or nothing has. */
function skipSettings(target: Tree, path: Path, source: Source): void {
  for (const name of Object.keys(target))
    if (ofRoutes.includes(name) || /guardrails|_hooks$/.test(name))
      source.skip(
        [...path, name],
        `${name} of one target`,
        'it is set once for a route here, or not at all',
        'Set it on the route or the provider, if it matters.',
      )
    else skipUnknown(name, [...path, name], source)
}

function convertLeaf(tree: Tree, path: Path, pool: ProviderPool, source: Source): TargetLeaf[] {
  const overrides = isObject(tree.override_params) ? tree.override_params : {}
  const { slug, model } = readModel(textOf(overrides.model))
  const named = readVendor(tree, slug, model, source.vendors)
  if (named === null) {
    source.skip(
      path,
      'a target',
      'it names no vendor that the gateway knows',
      'Add the provider and the target by hand.',
    )
    return []
  }
  const vendor = source.vendors.find(named.vendor)
  if (vendor === null) {
    const reason = explainAbsence(named.vendor)
    source.skip(path, `a target at ${named.vendor}`, reason, 'Add a provider that serves it, and the target.')
    return []
  }
  const cloud = readCloudTarget(vendor.kind, named.name, model, tree, source)
  const wanted =
    cloud === null ? convertVendor(named.name, vendor, tree, path, source) : convertCloud(cloud, path, source)
  if (wanted === null) return []
  // An API key; credentials of several parts are reported by `convertCloud`.
  if (cloud?.isJson === false) credentialOf(tree, named.name, path, source)
  if (named.guessed)
    source.skip(
      path,
      `the vendor of ${named.name}`,
      `the file does not name it; ${named.vendor} was derived from the name`,
      'Check that it is right.',
    )
  for (const name of Object.keys(overrides))
    if (name !== 'model')
      source.skip(
        [...path, 'override_params', name],
        name,
        'the gateway adds no parameters to what clients send',
        'Send it from the client.',
      )
  // A cloud's own name says less than what the file calls it.
  const provider = pool.add(cloud === null || named.name === named.vendor ? wanted.wanted : named.name, wanted.content)
  const upstreamModel = cloud === null ? model : cloud.model
  return [{ provider, upstreamModel, weight: countOf(settingIn(tree, path, 'weight'), source) ?? 1, priority: 0 }]
}

function convertVendor(name: string, vendor: Vendor, tree: Tree, path: Path, source: Source): WantedProvider {
  const host = textOf(tree.custom_host)
  const isOther = vendor.kind.kind === 'openai' && host !== null
  const settings: Record<string, string> = vendor.preset === null ? {} : { preset: vendor.preset.name }
  if (typeof tree.openai_organization === 'string' && vendor.kind.kind === 'openai' && !isOther)
    settings.organization = tree.openai_organization
  if (typeof tree.openai_project === 'string' && vendor.kind.kind === 'openai' && !isOther)
    settings.project = tree.openai_project
  const content = {
    kind: isOther ? 'openai-compatible' : vendor.kind.kind,
    ...(host === null ? {} : { base_url: host.replace(/\/+$/, '') }),
    credential: credentialOf(tree, name, path, source),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  }
  return { wanted: name, content }
}

/** `@openai-prod/gpt-4o` names the provider in the model. */
function readModel(text: string | null): { slug: string | null; model: string | null } {
  const match = /^@([^/]+)\/(.+)$/.exec(text ?? '')
  return match === null ? { slug: null, model: text } : { slug: match[1] ?? null, model: match[2] ?? null }
}

interface NamedVendor {
  vendor: string
  /** What to call the provider. */
  name: string
  guessed: boolean
}

/** `provider` is a vendor, or the slug of a stored provider (`@openai-prod`), as `virtual_key` is one. */
function readVendor(tree: Tree, slug: string | null, model: string | null, vendors: Vendors): NamedVendor | null {
  const provider = textOf(tree.provider)
  const key = textOf(tree.virtual_key)
  if (provider !== null && !provider.startsWith('@'))
    return { vendor: provider, name: key ?? slug ?? hostIn(tree) ?? provider, guessed: false }
  const stored = provider?.slice(1) ?? key ?? slug
  if (stored === null || stored === undefined) return null
  const vendor = vendorInName(stored, vendors) ?? (model === null ? null : vendors.guess(model))
  return vendor === null ? null : { vendor, name: stored, guessed: true }
}

/** The key of a vendor must not go to another's server. */
function hostIn({ custom_host }: Tree): string | null {
  const url = typeof custom_host === 'string' && URL.canParse(custom_host) ? new URL(custom_host) : null
  return url === null ? null : url.hostname
}

/** The longest beginning of a slug that is a vendor's name: `azure-openai-prod` is not `azure`. */
function vendorInName(slug: string, vendors: Vendors): string | null {
  const words = slug.toLowerCase().split('-')
  for (let count = words.length; count > 0; count--) {
    const name = words.slice(0, count).join('-')
    if (vendors.isKnown(name)) return name
  }
  return null
}

/** Portkey keeps credentials itself, or has them in clear text: neither is copied. */
function credentialOf(tree: Tree, name: string, path: Path, source: Source): string {
  const key = textOf(tree.api_key)
  const variable = keyVariable(tree, name, source)
  if (key !== null)
    source.skip(
      [...path, 'api_key'],
      'a key in clear text',
      'secrets are not copied into files',
      `Put it into the variable ${variable}.`,
    )
  else if (textOf(tree.virtual_key) !== null)
    source.skip(
      [...path, 'virtual_key'],
      'a virtual key',
      'the credential behind it stays at Portkey',
      `Put the credential into the variable ${variable}.`,
    )
  return `\${${variable}}`
}

/** What has no key in the file is told apart by its name, which may differ in what a variable cannot have. */
function keyVariable(tree: Tree, name: string, source: Source): string {
  return source.variableFor(`${variableOf(name)}_API_KEY`, textOf(tree.api_key) ?? `the key of ${name}`)
}

/** Portkey's targets in clouds (portkey.ai/docs/integrations/llms: the gateway's header names without their prefix); null: the kind is none. */
function readCloudTarget(
  kind: ProviderKind,
  name: string,
  model: string | null,
  tree: Tree,
  source: Source,
): CloudModel | null {
  const said = cloudSecrets.flatMap((member) => tree[member] ?? [])
  const variableOfParts = () =>
    source.variableFor(`${variableOf(name)}_CREDENTIAL`, JSON.stringify(said.length === 0 ? name : said))
  switch (kind.kind) {
    case 'azure-openai': {
      const azure = readAzure(tree, model)
      return { kind, ...azure, variable: azure.isJson ? variableOfParts() : keyVariable(tree, name, source) }
    }
    case 'bedrock':
      return {
        kind,
        model,
        address: null,
        settings: textsIn({ region: textOf(tree.aws_region) }),
        variable: variableOfParts(),
        isJson: true,
      }
    case 'vertex': {
      const settings = textsIn({ location: textOf(tree.vertex_region), project: textOf(tree.vertex_project_id) })
      return { kind, model, address: null, settings, variable: variableOfParts(), isJson: true }
    }
    default:
      return null
  }
}

function readAzure(tree: Tree, model: string | null) {
  const resource = textOf(tree.azure_resource_name) ?? textOf(tree.resource_name)
  return {
    address: resource === null ? textOf(tree.custom_host) : `https://${resource}.openai.azure.com`,
    settings: textsIn({ api_version: textOf(tree.azure_api_version) ?? textOf(tree.api_version) }),
    model: textOf(tree.azure_deployment_id) ?? textOf(tree.deployment_id) ?? model,
    isJson: textOf(tree.azure_entra_client_secret) !== null,
  }
}

const cloudSecrets = [
  ...['azure_entra_tenant_id', 'azure_entra_client_id', 'azure_entra_client_secret'],
  ...['aws_access_key_id', 'aws_secret_access_key', 'vertex_service_account_json'],
]

/** Members of a target that state the place and the credential of a cloud. */
export const cloudMembers = [
  ...['azure_resource_name', 'resource_name', 'azure_deployment_id', 'deployment_id', 'azure_api_version'],
  ...['api_version', 'azure_model_name', 'azure_entra_client_secret', 'azure_entra_client_id'],
  ...['azure_entra_tenant_id', 'azure_auth_mode', 'aws_region', 'aws_access_key_id', 'aws_secret_access_key'],
  ...['aws_session_token', 'vertex_project_id', 'vertex_region', 'vertex_service_account_json'],
]
