import { z } from 'zod'
import settings from './kind-settings.json' with { type: 'json' }
import { field } from './operation.ts'

type Scalar = string | number | boolean

interface KindSetting {
  kinds: readonly string[]
  /** Its name among the kind's settings. */
  setting: string
  /** `string` or `boolean`. */
  type: string
  description: string
}

/**
 * The settings of all provider kinds, by the input field of `providers add` and `edit` that carries them. The kinds' files state them;
 * the contract runs in browsers, too, and cannot load those. So `npm run reference` writes them as data, and a rule test compares.
 */
const kindSettings: Readonly<Record<KindSettingField, KindSetting>> = settings

type KindSettingField = keyof typeof settings

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

export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

type Fields = { [Name in KindSettingField]: z.ZodOptional<z.ZodNullable<z.ZodType<Scalar>>> }

export const kindSettingFields = fieldsOf(listedKindSettings) as Fields

/** One optional input field a setting. What every kind with a setting has needs no list of kinds. */
export function fieldsOf(listed: readonly (KindSetting & { field: string; flag: string })[]) {
  const everyKind = new Set(listed.flatMap(({ kinds }) => kinds))
  return Object.fromEntries(
    listed.map(({ field: name, flag, type, kinds, description }) => {
      const value: z.ZodType<Scalar> = type === 'boolean' ? z.boolean() : z.string().min(1)
      const some = kinds.length < everyKind.size ? { kinds } : {}
      const shown = 'kinds' in some ? `${description} (kind ${kinds.join(', ')})` : description
      return [name, field(value.nullable().optional(), { description: shown, help: description, flag, ...some })]
    }),
  )
}
