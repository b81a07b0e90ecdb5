import { skipSpace, skipValue } from '../core/json-scan.ts'
import { readValue } from './json-value.ts'
import { applyEdits, type Edit } from './request-body.ts'

const colon = 0x3a
const quote = 0x22
const backslash = 0x5c

/**
 * The body with the text of every member of these names replaced by what `change` makes of it (null: left alone); the same
 * buffer when nothing is. Found by the name's bytes, without parsing; text that only quotes such a member has its
 * quotation marks escaped.
 */
export function editTexts(body: Buffer, names: readonly string[], change: (text: string) => string | null): Buffer {
  const edits = names.flatMap((name) => findEdits(body, Buffer.from(`"${name}"`), change))
  return applyEdits(body, edits)
}

function findEdits(body: Buffer, name: Buffer, change: (text: string) => string | null): Edit[] {
  const edits: Edit[] = []
  for (let at = body.indexOf(name); at >= 0; at = body.indexOf(name, at + name.length)) {
    const after = skipSpace(body, at + name.length, body.length)
    if (body[after] !== colon || body[at - 1] === backslash) continue
    const start = skipSpace(body, after + 1, body.length)
    if (body[start] !== quote) continue
    const end = skipValue(body, start)
    const value = end < 0 ? undefined : readValue(body, { start, end })
    const text = typeof value === 'string' ? change(value) : null
    if (text !== null) edits.push({ span: { start, end }, text: JSON.stringify(text) })
  }
  return edits
}
