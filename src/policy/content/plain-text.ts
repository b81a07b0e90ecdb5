import type { Detection } from '../detectors/detector.ts'

/**
 * Invisible characters (including the one for invalid UTF-8), letters in other shapes, and typographic hyphens and spaces, which models
 * like to write. A reader sees the same text, but a detector finds nothing.
 */
const invisible =
  '\\u{ad}\\u{34f}\\u{61c}\\u{180b}-\\u{180f}\\u{200b}-\\u{200f}\\u{202a}-\\u{202e}\\u{2060}-\\u{206f}\\u{fe00}-\\u{fe0f}\\u{feff}\\u{fffd}\\u{e0000}-\\u{e0fff}'
const otherShapes = '\\u{ff01}-\\u{ff5e}\\u{1d400}-\\u{1d7ff}'
const hyphens = '\\u{2010}-\\u{2013}\\u{2212}\\u{fe58}\\u{fe63}'
const spaces = '\\u{a0}\\u{2000}-\\u{200a}\\u{202f}\\u{205f}\\u{3000}'
const isDisguised = new RegExp(`[${invisible}${otherShapes}${hyphens}${spaces}]`, 'u')
const oneOf = (set: string) => new RegExp(`^[${set}]`, 'u')
const isInvisible = oneOf(invisible)
const hasOtherShape = oneOf(otherShapes)
const isHyphen = oneOf(hyphens)
const isSpace = oneOf(spaces)

/** Matches text that is not plain, in UTF-8 bytes read as Latin-1. It also matches some plain text. */
export const disguisedBytes = String.raw`\xc2[\xa0\xad]|\xcd\x8f|\xd8\x9c|\xe1\xa0|\xe2\x80[\x80-\x93\xaa-\xaf]|\xe2\x81[\x9f-\xaf]|\xe2\x88\x92|\xe3\x80\x80|\xef[\xb8\xb9\xbb-\xbd\xbf]|\xf0\x9d|\xf3\xa0`

/** In JSON inside a text, any character may be escaped, with one more backslash for each level. At the end the escape may be incomplete. */
const escapeForm = /^\\+(?:u[0-9a-f]{4}|\/|u[0-9a-f]{0,3}$|$)/i
const hasEscape = /\\(?:u[0-9a-f]{4}|\/|u?[0-9a-f]{0,3}$)/i
const longestEscape = 24
const backslash = '\\'

/** A text as a model reads it, without characters that only disguise it. */
export interface PlainText {
  text: string
  /** For each character, its index in the original text; the last entry is `openFrom`. */
  places: readonly number[]
  /** Where an incomplete escape at the end of the text begins; the text's length: there is none. */
  openFrom: number
}

/** Null: it is plain already. */
export function plainText(text: string): PlainText | null {
  const escaped = text.includes('\\')
  if (!escaped && !isDisguised.test(text)) return null
  if (escaped && !hasEscape.test(text) && !isDisguised.test(text)) return null
  const places: number[] = []
  let plain = ''
  let at = 0
  let openFrom = text.length
  while (at < text.length) {
    const form = text[at] === backslash ? escapeForm.exec(text.slice(at, at + longestEscape))?.[0] : undefined
    if (form !== undefined) {
      const meant = meaningOf(form)
      if (meant === '') openFrom = at
      for (let unit = 0; unit < meant.length; unit++) places.push(at)
      plain += meant
      at += form.length
      continue
    }
    const point = String.fromCodePoint(text.codePointAt(at) ?? 0)
    const written = point < '\u{a0}' ? point : writtenPlainly(point)
    for (let unit = 0; unit < written.length; unit++) places.push(at)
    plain += written
    at += point.length
  }
  places.push(openFrom)
  return { text: plain, places, openFrom }
}

function writtenPlainly(point: string): string {
  if (isInvisible.test(point)) return ''
  if (isHyphen.test(point)) return '-'
  if (isSpace.test(point)) return ' '
  return hasOtherShape.test(point) ? point.normalize('NFKC') : point
}

/** Empty if the escape is incomplete: the text that follows decides. */
function meaningOf(form: string): string {
  if (form.endsWith('/')) return '/'
  const code = /u([0-9a-f]{4})$/i.exec(form)?.[1]
  return code === undefined ? '' : String.fromCharCode(Number.parseInt(code, 16))
}

/** The range in the original text of a detection in the plain text, including hidden characters after it. */
export function placeIn({ places }: PlainText, { start, end, note }: Detection): Detection {
  return { start: places[start] ?? 0, end: places[end] ?? places.at(-1) ?? 0, note }
}
