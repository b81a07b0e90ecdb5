import { asObject, type JsonObject } from '../../../src/core/json/json-value.ts'
import { parseLossless } from '../../../src/translate/json.ts'

export interface SentEvent {
  /** '' where it has none. */
  name: string
  /** null: `[DONE]`, or a comment. */
  data: JsonObject | null
  /** As it stood. */
  raw: string
}

/** A stream as it stands on the wire, every event closed by a blank line. */
export function readSse(text: string): SentEvent[] {
  return text
    .split(/\r?\n\r?\n/)
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const lines = block.split(/\r?\n/)
      const value = (field: string) =>
        lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).trim())
      return { name: value('event')[0] ?? '', data: asObject(parseLossless(value('data').join('\n'))), raw: block }
    })
}
