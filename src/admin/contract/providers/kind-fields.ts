import { z } from 'zod'
import { field } from '../operation.ts'

export type Scalar = string | number | boolean

/** A setting of provider kinds, as `kind-settings.json` has it. */
export interface SettingRow {
  kinds: readonly string[]
  /** Its name among the kind's settings. */
  setting: string
  /** `string` or `boolean`. */
  type: string
  description: string
}

export interface ListedSetting<Name extends string> extends SettingRow {
  field: Name
  /** As the command line writes it. */
  flag: string
}

export function listSettings<Name extends string>(rows: Readonly<Record<Name, SettingRow>>): ListedSetting<Name>[] {
  return (Object.keys(rows) as Name[]).map((name) => ({
    ...rows[name],
    field: name,
    flag: `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  }))
}

export type SettingFields<Name extends string> = {
  [Each in Name]: z.ZodOptional<z.ZodNullable<z.ZodType<Scalar>>>
}

/** One optional input field per setting. A setting of every kind that has settings needs no list of kinds. */
export function fieldsOf<Name extends string>(listed: readonly ListedSetting<Name>[]): SettingFields<Name> {
  const everyKind = new Set(listed.flatMap(({ kinds }) => kinds))
  const fields = listed.map(({ field: name, flag, type, kinds, description }) => {
    const value: z.ZodType<Scalar> = type === 'boolean' ? z.boolean() : z.string().min(1)
    const isGeneral = kinds.length === everyKind.size
    const shown = isGeneral ? description : `${description} (kind ${kinds.join(', ')})`
    const meta = { description: shown, help: description, flag, ...(isGeneral ? {} : { kinds }) }
    return [name, field(value.nullable().optional(), meta)]
  })
  return Object.fromEntries(fields) as SettingFields<Name>
}
