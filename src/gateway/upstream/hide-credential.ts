import type { Secret } from '../../core/secret.ts'

/** A credential as a provider may say it again. */
interface Spellings {
  texts: readonly string[]
  shortest: number
  /** How each of them begins: one look that nearly every header passes. null: there is nothing to hide. */
  beginnings: RegExp | null
}

const beginning = 8
const known = new WeakMap<Secret, Spellings>()

/** The same list where no header holds the credential; else without those that do, whose names `hidden` is told. */
export function hideInHeaders(headers: string[], secret: Secret, hidden: (names: string[]) => void): string[] {
  const { beginnings, shortest } = spellingsOf(secret)
  if (beginnings === null || !headers.some((text) => text.length >= shortest && beginnings.test(text))) return headers
  const kept: string[] = []
  const left: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1] ?? ''
    // A name that is the credential must not be told either.
    if (holds(secret, name)) left.push('one whose name it was')
    else if (holds(secret, value)) left.push(name)
    else kept.push(name, value)
  }
  if (left.length === 0) return headers
  hidden(left)
  return kept
}

/** The text with the credential made unreadable in every spelling; the same where none stands in it. */
export function hideInText(text: string, secret: Secret): string {
  const { texts, beginnings } = spellingsOf(secret)
  if (beginnings === null || !beginnings.test(text)) return text
  return texts.reduce((left, spelling) => left.replaceAll(spelling, '***'), text)
}

/** Names are in lower case, whatever they were. */
function holds(secret: Secret, text: string): boolean {
  const lower = text.toLowerCase()
  return spellingsOf(secret).texts.some((spelling) => lower.includes(spelling.toLowerCase()))
}

function spellingsOf(secret: Secret): Spellings {
  const found = known.get(secret)
  if (found !== undefined) return found
  const parts = secret.parts()
  const texts = [...new Set(parts.flatMap(spell))]
  const forms = [...new Set(texts.map((text) => quoteForm(text.slice(0, beginning))))]
  const beginnings = texts.length === 0 ? null : new RegExp(forms.join('|'), 'i')
  const spellings = { texts, shortest: Math.min(...texts.map(({ length }) => length)), beginnings }
  known.set(secret, spellings)
  return spellings
}

function quoteForm(text: string): string {
  return text.replaceAll(/\W/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Longest first, so that none is found within another. Whoever spells it in a way of his own cannot be read. */
function spell(text: string): string[] {
  const bytes = Buffer.from(text)
  const hex = bytes.toString('hex')
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  const escaped = [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  const plain = [JSON.stringify(text).slice(1, -1), encodeURIComponent(text), text]
  return [
    escaped,
    escaped.toUpperCase().replaceAll('\\U', '\\u'),
    percent,
    percent.toUpperCase(),
    hex,
    hex.toUpperCase(),
  ]
    .concat([0, 1, 2].flatMap((offset) => inBase64(bytes, offset)))
    .concat(plain)
}

/** What of it is the same in whatever text it stands, as far as that text's place is `offset` beyond a multiple of three. */
function inBase64(bytes: Buffer, offset: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes])
  const end = Math.floor((whole.length * 8) / 6)
  const core = whole.toString('base64').slice(Math.ceil((offset * 8) / 6), end)
  return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
}
