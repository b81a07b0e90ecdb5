import type { ConvertedProvider } from './converted.ts'
import type { Path, Source } from './source.ts'
import type { Cloud } from './vendors.ts'

/** A model in a cloud, as either program says it. Variables stand as `${NAME}`. */
export interface CloudModel {
  cloud: Cloud
  /** A deployment, where the cloud has such; null: the same as the client's. */
  model: string | null
  /** Of Azure's resource. */
  address: string | null
  /** Of Azure's API; a region, or a location. */
  version: string | null
  region: string | null
  /** Of Google. */
  project: string | null
  /** The variable in which the credential is. */
  variable: string
  /** It is more than one word, so that the variable has to hold a document. */
  isDocument: boolean
}

export interface WantedProvider {
  wanted: string
  content: Omit<ConvertedProvider, 'name'>
}

/** null: it cannot be carried, and the source says why. */
export function convertCloud(asked: CloudModel, path: Path, source: Source): WantedProvider | null {
  const lack = findLack(asked)
  if (lack !== null) {
    source.leave(path, `a model at ${asked.cloud}`, ...lack)
    return null
  }
  if (asked.isDocument)
    source.leaveOnce(
      path,
      `the credential of ${asked.cloud}`,
      'it is one document here',
      `Put into the variable ${asked.variable}: ${documents[asked.cloud]}.`,
    )
  const content = { kind: asked.cloud, ...addressOf(asked), credential: `\${${asked.variable}}`, ...settingsOf(asked) }
  return { wanted: nameOf(asked), content }
}

const documents: Record<Cloud, string> = {
  'azure-openai': '{"tenant_id": …, "client_id": …, "client_secret": …}, or the API key of the resource',
  bedrock: '{"access_key_id": …, "secret_access_key": …}, or a Bedrock API key',
  vertex: "the JSON of a service account's key",
}

function findLack({ cloud, model, address, region }: CloudModel): [reason: string, advice: string] | null {
  if (cloud === 'azure-openai') {
    if (address === null) return ['the file does not say which resource', byHand(cloud, '--base-url')]
    return model === '' ? ['it names no deployment', 'Add the route by hand.'] : null
  }
  const isServed = model === null || served[cloud].test(model)
  if (!isServed)
    return [`only ${whose[cloud]} models are served there`, 'Add a provider that serves it, and the route.']
  return region === null ? ['the file does not say where', byHand(cloud, `--${placeNames[cloud]}`)] : null
}

function byHand(cloud: Cloud, flag: string): string {
  return `Add a provider of the kind ${cloud}, with its ${flag}, and the route.`
}

/** A `*` stands for what its clients ask for. */
const served = {
  bedrock: /(^|[.:/])anthropic\.|^arn:|^\*$/,
  vertex: /^(gemini|claude|text-embedding|imagen|veo)|^\*$/,
}
const whose = { bedrock: "Anthropic's", vertex: "Google's and Anthropic's" }
const placeNames = { bedrock: 'region', vertex: 'location' }

function addressOf({ address }: CloudModel): { base_url?: string } {
  return address === null ? {} : { base_url: address }
}

function settingsOf({ cloud, version, region, project }: CloudModel): Pick<ConvertedProvider, 'settings'> {
  const settings: Record<string, string> = {}
  if (cloud === 'azure-openai') {
    if (version !== null) settings.api_version = version
  } else if (region !== null) settings[placeNames[cloud]] = region
  if (cloud === 'vertex' && project !== null) settings.project = project
  return Object.keys(settings).length === 0 ? {} : { settings }
}

/** After its resource or its region, so that two of a cloud are told apart. */
function nameOf({ cloud, address, region }: CloudModel): string {
  if (cloud === 'azure-openai')
    return address !== null && URL.canParse(address) ? (new URL(address).hostname.split('.')[0] ?? 'azure') : 'azure'
  return region === null || region.startsWith('$') ? cloud : `${cloud}-${region}`
}
