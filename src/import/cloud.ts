import type { ProviderKind } from '../providers/contract.ts'
import { describeJson } from '../providers/credential.ts'
import type { ConvertedProvider } from './converted.ts'
import { isVariable, type Path, type Source } from './source.ts'

/** A model in a cloud, as either program states it. Variables stand as `${NAME}`. */
export interface CloudModel {
  kind: ProviderKind
  /** The deployment or model; null: the same name as the client's. */
  model: string | null
  /** The base URL, where the file has one. */
  address: string | null
  settings: Record<string, string>
  /** The environment variable for the credential. */
  variable: string
  /** The credential has several parts, so that the variable has to hold JSON. */
  isJson: boolean
}

export interface WantedProvider {
  wanted: string
  content: Omit<ConvertedProvider, 'name'>
}

/** null: it cannot be converted, and the source says why. */
export function convertCloud(asked: CloudModel, path: Path, source: Source): WantedProvider | null {
  const { kind, address, settings, variable } = asked
  const obstacle = findObstacle(asked)
  if (obstacle !== null) {
    source.skip(path, `a model at ${kind.kind}`, ...obstacle)
    return null
  }
  const [form] = kind.jsonCredentials ?? []
  if (asked.isJson && form !== undefined)
    source.skipOnce(
      path,
      `the credential of ${kind.kind}`,
      'here it is a single variable',
      `Put into the variable ${variable} ${describeJson(form)}.`,
    )
  const content = {
    kind: kind.kind,
    ...(address === null ? {} : { base_url: address }),
    credential: `\${${variable}}`,
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  }
  return { wanted: nameOf(asked), content }
}

function findObstacle({ kind, model, address, settings }: CloudModel): [reason: string, advice: string] | null {
  const byHand = (flag: string) => `Add a provider of the kind ${kind.kind}, with its ${flag}, and the route.`
  if (kind.defaultBaseUrl === '' && address === null)
    return ['the file does not name the resource', byHand('--base-url')]
  if (model === '') return ['it names no deployment', 'Add the route by hand.']
  const serves = kind.imports?.serves
  if (serves !== undefined && model !== null && !serves.models.test(model))
    return [`only ${serves.vendors} models are served there`, 'Add a provider that serves it, and the route.']
  const missing = requiredSettings(kind).find((name) => settings[name] === undefined)
  return missing === undefined
    ? null
    : ['the file does not say where it runs', byHand(`--${missing.replaceAll('_', '-')}`)]
}

function requiredSettings({ settings }: ProviderKind): string[] {
  return Object.keys(settings).filter((name) => settings[name]?.required)
}

/** After its resource or its region, so that two providers of one cloud have different names. */
function nameOf({ kind, address, settings }: CloudModel): string {
  if (address !== null && URL.canParse(address)) return new URL(address).hostname.split('.')[0] ?? kind.kind
  if (kind.defaultBaseUrl === '') return kind.kind.replace(/-.*/, '')
  const [place] = requiredSettings(kind).map((name) => settings[name])
  return place === undefined || isVariable(place) ? kind.kind : `${kind.kind}-${place}`
}
