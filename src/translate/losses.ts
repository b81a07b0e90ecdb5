import type { FormatName } from '../core/format.ts'
import { chatFields } from './chat/fields.ts'
import type { Fate, FieldTable } from './field-table.ts'
import { generateFields } from './generate/fields.ts'
import { messagesFields } from './messages/fields.ts'
import { responsesFields } from './responses/fields.ts'

/** The only table of losses, used by the code, the page of losses and the tests. */
export const losses: Readonly<Record<FormatName, FieldTable>> = {
  chat: chatFields,
  responses: responsesFields,
  messages: messagesFields,
  generate: generateFields,
}

/** A member without a row is lost. */
export function fateOf(from: FormatName, field: string, to: FormatName): { fate: Fate; why: string | null } {
  const row = losses[from][field]
  if (row === undefined) return { fate: 'dropped', why: null }
  return { fate: row.to?.[to] ?? row.otherwise, why: row.why ?? null }
}
