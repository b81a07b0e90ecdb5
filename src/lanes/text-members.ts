import type { Edit } from '../core/json/json-scan.ts'
import { readValue } from '../core/json/json-value.ts'
import { skipSpace, skipValue } from '../core/json/json-walk.ts'
import { applyEdits } from './patch-body.ts'

const colon = 0x3a
const openBrace = 0x7b
const openBracket = 0x5b
const backslash = 0x5c

/** Stands for an object or an array. */
const container = Symbol('container')

/** The replacement; undefined: no change. `at`: where the value begins. */
type ChangeText = (value: unknown, at: number) => string | null | undefined

/** `editMembers` for members whose value is a string; `change` returns null for no change. */
export function editTexts(body: Buffer, names: readonly string[], change: (text: string) => string | null): Buffer {
  return editMembers(body, names, (value) => (typeof value === 'string' ? (change(value) ?? undefined) : undefined))
}

/**
 * The body with the value of every member of these names replaced by what `change` returns; the same buffer when
 * nothing changes. Members are found by their name's bytes, without parsing: text that quotes such a member has its
 * quotes escaped.
 */
export function editMembers(body: Buffer, names: readonly string[], change: ChangeText): Buffer {
  const escaped = body.includes('\\u00')
  const edits = names.flatMap((name) =>
    findEdits(body, escaped ? findEscaped(body, name) : findPlain(body, name), change),
  )
  return applyEdits(body, edits)
}

/** The position after the name's closing quote. */
function findPlain(body: Buffer, name: string): number[] {
  const bytes = Buffer.from(`"${name}"`)
  const found: number[] = []
  for (let at = body.indexOf(bytes); at >= 0; at = body.indexOf(bytes, at + bytes.length))
    if (body[at - 1] !== backslash) found.push(at + bytes.length)
  return found
}

/** The same where any letter of the name may be escaped. */
function findEscaped(body: Buffer, name: string): number[] {
  const letters = [...name].map((letter) => `(?:${letter}|\\\\u00${hexOf(letter)})`)
  const form = new RegExp(`(?<!\\\\)"${letters.join('')}"`, 'g')
  return [...body.toString('latin1').matchAll(form)].map((match) => match.index + match[0].length)
}

function hexOf(letter: string): string {
  const [high = '', low = ''] = letter.charCodeAt(0).toString(16).padStart(2, '0')
  return `${high}[${low}${low.toUpperCase()}]`
}

/** A match within a value that is replaced is replaced with it. */
function findEdits(body: Buffer, nameEnds: readonly number[], change: ChangeText): Edit[] {
  const edits: Edit[] = []
  let done = 0
  for (const nameEnd of nameEnds) {
    const [edit] = nameEnd < done ? [] : findEdit(body, nameEnd, change)
    if (edit === undefined) continue
    edits.push(edit)
    done = edit.span.end
  }
  return edits
}

function findEdit(body: Buffer, nameEnd: number, change: ChangeText): Edit[] {
  const after = skipSpace(body, nameEnd, body.length)
  if (body[after] !== colon) return []
  const start = skipSpace(body, after + 1, body.length)
  const isContainer = body[start] === openBrace || body[start] === openBracket
  // Nested matches would be read to their end again and again, so the end is only searched if a value is replaced.
  const replacement = isContainer ? change(container, start) : undefined
  if (isContainer && replacement === undefined) return []
  const end = skipValue(body, start)
  const value = isContainer || end < 0 ? undefined : readValue(body, { start, end })
  const text = value === undefined ? replacement : change(value, start)
  return text === undefined || end < 0 ? [] : [{ span: { start, end }, text: JSON.stringify(text) }]
}
