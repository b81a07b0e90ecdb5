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
    description: 'Organisation to bill calls to',
  },
  openaiProject: {
    kinds: ['openai'],
    setting: 'project',
    type: 'string',
    description: 'Project to bill calls to',
  },
  preset: {
    kinds: ['openai-compatible'],
    setting: 'preset',
    type: 'string',
    description: 'Known server or vendor, which sets the base URL and what it does not support',
  },
  apiVersion: {
    kinds: ['azure-openai'],
    setting: 'api_version',
    type: 'string',
    description:
      'API version: a date such as 2024-10-21 (calls deployments by path), or `preview` (default: the v1 API)',
  },
  region: {
    kinds: ['bedrock'],
    setting: 'region',
    type: 'string',
    description: 'Region to call and to sign calls for',
  },
  vertexProject: {
    kinds: ['vertex'],
    setting: 'project',
    type: 'string',
    description: 'Project of the models (default: the project in the credential)',
  },
  location: {
    kinds: ['vertex'],
    setting: 'location',
    type: 'string',
    description: 'Location of the models: a region such as europe-west4, `us`, `eu` or `global`',
  },
  proxy: {
    kinds: networked,
    setting: 'proxy',
    type: 'string',
    description: 'Proxy (http://host:port), or `direct` (default: HTTPS_PROXY and NO_PROXY)',
  },
  authorities: {
    kinds: networked,
    setting: 'authorities',
    type: 'string',
    description: 'Additional certificate authorities to trust (PEM)',
  },
  allowPrivate: {
    kinds: networked,
    setting: 'allow_private',
    type: 'boolean',
    description: 'Allow the host name to resolve to a private address',
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
    field(types[type].nullable().optional(), {
      description: describe(kinds, description),
      help: description,
      flag,
      // What nearly all kinds have needs no list of them.
      ...(kinds === networked ? {} : { kinds }),
    }),
  ]),
) as Fields

function describe(kinds: readonly string[], description: string): string {
  return kinds === networked ? description : `${description} (kind ${kinds.join(', ')})`
}
