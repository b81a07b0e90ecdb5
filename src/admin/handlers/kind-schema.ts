import { z } from 'zod'
import type { KindSetting, ProviderKind } from '../../providers/contract.ts'

/** What a kind says of its own settings as a schema, for checking and for showing. */
export function kindSchema({ settings }: Pick<ProviderKind, 'settings'>): z.ZodObject {
  return z.strictObject(
    Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, settingSchema(setting)])),
  )
}

function settingSchema({ description, choices }: KindSetting): z.ZodOptional {
  const value = choices === undefined ? z.string().min(1) : z.enum(choices)
  return value.optional().describe(description)
}
