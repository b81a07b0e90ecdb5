/** Shorter values are placeholders (`EMPTY`), and words. */
const shortestPart = 12

/**
 * A value that cannot be printed: string conversion, JSON and `util.inspect` all show `***`.
 * It does not survive a structured clone, so each thread wraps what it receives.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The clear text. Call it only where the value leaves for its one purpose (a provider's header, a seal). */
  reveal(): string {
    return this.#value
  }

  /** What must be hidden from other texts, in clear text: the value, and each value in it if it is a JSON document. */
  parts(): string[] {
    return partsOf(this.#value)
  }

  toString(): string {
    return '***'
  }

  toJSON(): string {
    return '***'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '***'
  }
}

function partsOf(value: string): string[] {
  const parts = value.startsWith('{') ? [...Object.values(readObject(value)), value] : [value]
  return parts.filter((part) => typeof part === 'string' && part.length >= shortestPart)
}

function readObject(text: string): Record<string, string> {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** The spellings in which a server may repeat a secret that it was sent. */
interface Spellings {
  texts: readonly string[]
  shortest: number
  /** Matches the beginning of each spelling: for nearly every text this is the only test. null: there is nothing to hide. */
  beginnings: RegExp | null
}

const beginningLength = 8
const known = new WeakMap<Secret, Spellings>()

/** The headers (a flat list) without those that contain the secret, whose names go to `hidden`. The same list if there are none. */
export function hideInHeaders(headers: string[], secret: Secret, hidden: (names: string[]) => void): string[] {
  const { beginnings, shortest } = spellingsOf(secret)
  if (beginnings === null || !headers.some((text) => text.length >= shortest && beginnings.test(text))) return headers
  const kept: string[] = []
  const left: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1] ?? ''
    // A name that contains the secret must not be shown either.
    if (holdsSecret(name, secret)) left.push('one whose name it was')
    else if (holdsSecret(value, secret)) left.push(name)
    else kept.push(name, value)
  }
  if (left.length === 0) return headers
  hidden(left)
  return kept
}

/** Replaces every spelling of the secret by `***`. */
export function hideSecret(text: string, secret: Secret): string {
  const { texts, beginnings } = spellingsOf(secret)
  if (beginnings === null || !beginnings.test(text)) return text
  return texts.reduce((left, spelling) => left.replaceAll(spelling, '***'), text)
}

/** Ignores case: header names are in lower case. */
function holdsSecret(text: string, secret: Secret): boolean {
  const lower = text.toLowerCase()
  return spellingsOf(secret).texts.some((spelling) => lower.includes(spelling.toLowerCase()))
}

function spellingsOf(secret: Secret): Spellings {
  const found = known.get(secret)
  if (found !== undefined) return found
  const parts = secret.parts()
  const texts = [...new Set(parts.flatMap(spell))]
  const forms = [...new Set(texts.map((text) => quoteForm(text.slice(0, beginningLength))))]
  const beginnings = texts.length === 0 ? null : new RegExp(forms.join('|'), 'i')
  const spellings = { texts, shortest: Math.min(...texts.map(({ length }) => length)), beginnings }
  known.set(secret, spellings)
  return spellings
}

function quoteForm(text: string): string {
  return text.replaceAll(/\W/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Longest first, so that no spelling is found inside another. Other spellings are not found. */
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

/** The characters of its Base64 that do not depend on the surrounding text, for a start `offset` bytes after a multiple of three. */
function inBase64(bytes: Buffer, offset: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes])
  const end = Math.floor((whole.length * 8) / 6)
  const core = whole.toString('base64').slice(Math.ceil((offset * 8) / 6), end)
  return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
}
