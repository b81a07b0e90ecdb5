import { isObject } from '../core/json/is-object.ts'
import type { ProviderKind } from '../providers/contract.ts'
import type { CloudModel } from './cloud.ts'
import { type Path, readValue, type Source, type Tree, textOf, textsIn } from './source.ts'

/** What of `litellm_params` says where a cloud is, and who calls. */
export const cloudParams = [
  ...['api_version', 'tenant_id', 'client_id', 'client_secret'],
  ...['aws_region_name', 'aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'],
  ...['vertex_project', 'vertex_ai_project', 'vertex_location', 'vertex_ai_location', 'vertex_credentials'],
]

export const azureKeyVariable = 'AZURE_API_KEY'

type ReadCloudModel = (model: string, params: Tree, at: Path, source: Source) => Omit<CloudModel, 'kind'>

const readers: Readonly<Record<string, ReadCloudModel>> = {
  'azure-openai': readAzure,
  bedrock: readBedrock,
  vertex: readVertex,
}

/** LiteLLM's models in clouds (docs.litellm.ai/docs/providers/azure, /bedrock and /vertex); null: the kind is none. */
export function readCloudModel(
  kind: ProviderKind,
  model: string,
  params: Tree,
  at: Path,
  source: Source,
): CloudModel | null {
  const read = readers[kind.kind]
  if (read === undefined) return null
  const found = read(model, params, at, source)
  const address = ['api_base', 'base_url'].find((name) => textOf(params[name]) !== null)
  if (found.address === null && address !== undefined)
    source.skip(
      [...at, address],
      `the address of a model at ${kind.kind}`,
      'it follows from the region or location here',
      'If calls must go elsewhere: spgw providers edit NAME --base-url',
    )
  return { kind, ...found }
}

export function hasPrincipal({ client_secret, tenant_id }: Tree): boolean {
  return textOf(client_secret) !== null || textOf(tenant_id) !== null
}

function readAzure(model: string, params: Tree, at: Path, source: Source): Omit<CloudModel, 'kind'> {
  const address = given(params.api_base ?? params.base_url)
  const isJson = hasPrincipal(params)
  return {
    model: model.replace(/^(o_series|gpt5_series|responses)\//, ''),
    address: address === null ? null : rootOf(address),
    settings: textsIn({ api_version: given(params.api_version) }),
    variable: isJson
      ? source.variableFor('AZURE_CREDENTIAL', identityOf(params, ['tenant_id', 'client_id', 'client_secret']))
      : keyVariable(params, azureKeyVariable, at, source),
    isJson,
  }
}

/** Up to what stands there for one deployment: `https://RESOURCE.openai.azure.com/openai/deployments/…` */
function rootOf(address: string): string {
  return address.replace(/\/+$/, '').replace(/^(https?:\/\/[^/]+(?:\/.*?)?)\/openai(?:\/.*)?$/, '$1')
}

/** A key in the file is not copied into another one. */
function keyVariable({ api_key: key }: Tree, usual: string, at: Path, source: Source): string {
  if (textOf(key) === null) return usual
  const named = variableIn(key)
  if (named !== null) return named
  const variable = source.variableFor(usual, String(key))
  source.skip(
    [...at, 'api_key'],
    'a key in clear text',
    'secrets are not copied into files',
    `Put it into the variable ${variable}.`,
  )
  return variable
}

/** `converse/`, `invoke/` and a region may stand before the model. */
function readBedrock(text: string, params: Tree, _at: Path, source: Source): Omit<CloudModel, 'kind'> {
  const [, placed, model = ''] =
    /^(?:(?:converse|invoke|converse_like)\/)?(?:([a-z]{2}(?:-[a-z]+)+-\d)\/)?(.*)$/.exec(text) ?? []
  const account = variableIn(params.aws_access_key_id)?.replace(/_?ACCESS_KEY_ID$/, '')
  return {
    model,
    address: null,
    settings: { region: given(params.aws_region_name) ?? placed ?? readValue('os.environ/AWS_REGION') },
    variable:
      account === undefined || account === 'AWS'
        ? source.variableFor(
            'BEDROCK_CREDENTIAL',
            // What the SDK of AWS takes from its usual variables is the same as where nothing is said.
            account === 'AWS' ? identityOf({}, []) : identityOf(params, ['aws_access_key_id', 'aws_secret_access_key']),
          )
        : `${account}_CREDENTIAL`,
    isJson: true,
  }
}

function readVertex(model: string, params: Tree, _at: Path, source: Source): Omit<CloudModel, 'kind'> {
  const location = given(params.vertex_location ?? params.vertex_ai_location) ?? 'us-central1'
  const project = given(params.vertex_project ?? params.vertex_ai_project)
  return {
    model,
    address: null,
    settings: textsIn({ location, project }),
    variable:
      variableIn(params.vertex_credentials) ??
      source.variableFor('VERTEX_CREDENTIAL', identityOf(params, ['vertex_credentials'])),
    isJson: true,
  }
}

/** What the file says of a credential: the same for all that say nothing. */
function identityOf(params: Tree, names: readonly string[]): string {
  const said = names.flatMap((name) => params[name] ?? [])
  return said.length === 0 ? '' : JSON.stringify(said)
}

function given(value: unknown): string | null {
  const text = textOf(value)
  return text === null ? null : readValue(text)
}

function variableIn(value: unknown): string | null {
  return /^os\.environ\/(\w+)$/.exec(textOf(value) ?? '')?.[1] ?? null
}

/** What `credential_list` says of the credential that a model names, below what the model says itself. */
export function withCredential(params: Tree, list: readonly unknown[]): Tree {
  const { litellm_credential_name: name, ...own } = params
  const found = list.find((one) => isObject(one) && one.credential_name === name)
  if (textOf(name) === null || !isObject(found)) return params
  return isObject(found.credential_values) ? { ...found.credential_values, ...own } : own
}
