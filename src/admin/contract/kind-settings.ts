import { z } from 'zod'
import { field } from './operation.ts'

type Scalar = string | number | boolean

interface KindSetting {
  kinds: readonly string[]
  /** Its name among the kind's settings. */
  setting: string
  type: 'string' | 'number' | 'boolean'
  description: string
}

/** All that call somebody over the network. */
const networked = ['openai', 'anthropic', 'gemini', 'openai-compatible', 'azure-openai', 'bedrock', 'vertex']

/**
 * The settings that provider kinds have of their own, by the input field of `providers add` and `edit` that carries
 * them. A field has the setting's name, with the kind's in front where that word means something else already. The
 * contract may not know the kinds: a test holds these rows equal to what the kinds declare.
 */
export const kindSettings = {
  organization: {
    kinds: ['openai'],
    setting: 'organization',
    type: 'string',
    description: 'Organisation that calls are billed to',
  },
  openaiProject: {
    kinds: ['openai'],
    setting: 'project',
    type: 'string',
    description: 'Project that calls are billed to',
  },
  preset: {
    kinds: ['openai-compatible'],
    setting: 'preset',
    type: 'string',
    description: 'Known server or vendor: fills in the base URL and what it does not know',
  },
  apiVersion: {
    kinds: ['azure-openai'],
    setting: 'api_version',
    type: 'string',
    description: 'API version: a date (2024-10-21) calls deployments by their path; left out, or `preview`, the v1 API',
  },
  region: {
    kinds: ['bedrock'],
    setting: 'region',
    type: 'string',
    description: 'Region whose models are called, and for which calls are signed',
  },
  vertexProject: {
    kinds: ['vertex'],
    setting: 'project',
    type: 'string',
    description: 'Project whose models are called (default: the one that the credential names)',
  },
  location: {
    kinds: ['vertex'],
    setting: 'location',
    type: 'string',
    description: 'Where they run: a region (europe-west4), `us`, `eu` or `global`',
  },
  proxy: {
    kinds: networked,
    setting: 'proxy',
    type: 'string',
    description: 'Proxy to go through (http://host:port), or `direct`; default: HTTPS_PROXY and NO_PROXY',
  },
  authorities: {
    kinds: networked,
    setting: 'authorities',
    type: 'string',
    description: "Certificates (PEM) of authorities that are believed besides the system's",
  },
  allowPrivate: {
    kinds: networked,
    setting: 'allow_private',
    type: 'boolean',
    description: 'Whether its host name may lead to a private address',
  },
} as const satisfies Record<string, KindSetting>

type KindSettingField = keyof typeof kindSettings

/** What was given of them; null takes one off. */
export type KindSettingsInput = { [Name in KindSettingField]?: Scalar | null | undefined }

export interface ListedKindSetting extends KindSetting {
  field: KindSettingField
  /** As the command line writes it. */
  flag: string
}

export const listedKindSettings: readonly ListedKindSetting[] = (Object.keys(kindSettings) as KindSettingField[]).map(
  (name) => ({ ...kindSettings[name], field: name, flag: flagOf(name) }),
)

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

type Fields = { [Name in KindSettingField]: z.ZodOptional<z.ZodNullable<z.ZodType<Scalar>>> }

const types: Record<KindSetting['type'], z.ZodType<Scalar>> = {
  string: z.string().min(1),
  number: z.number(),
  boolean: z.boolean(),
}

export const kindSettingFields = Object.fromEntries(
  listedKindSettings.map(({ field: name, flag, type, kinds, description }) => [
    name,
    field(types[type].nullable().optional(), { description: describe(kinds, description), flag }),
  ]),
) as Fields

/** What nearly all kinds have needs no list of them. */
function describe(kinds: readonly string[], description: string): string {
  return kinds === networked ? description : `${description} (kind ${kinds.join(', ')})`
}
