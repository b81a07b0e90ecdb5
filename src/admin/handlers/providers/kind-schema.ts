import { z } from 'zod'
import type { KindSetting, ProviderKind } from '../../../providers/contract.ts'

/** What a kind says of its own settings as a schema, for checking and for showing. */
export function kindSchema({ settings }: Pick<ProviderKind, 'settings'>): z.ZodObject {
  return z.strictObject(
    Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, settingSchema(setting)])),
  )
}

function settingSchema({ description, choices, type, required }: KindSetting): z.ZodType {
  const text = choices === undefined ? z.string().min(1) : z.enum(choices)
  const value = type === 'boolean' ? z.boolean() : text
  return (required ? value : value.optional()).describe(description)
}
