/**
 * Ids: a prefix and a time-ordered 128-bit number (48 bits of milliseconds, 80 random) as 26 characters of
 * lower-case Crockford base32. Sorted as text they are sorted by time.
 */
export const idPrefixes = [
  'prj',
  'env',
  'prv',
  'rte',
  'key',
  'pol',
  'opr',
  'req',
  'aud',
  'cre',
  'ses',
  'pas',
  'tok',
  'alr',
  'msg',
  'clu',
  'nod',
] as const
export type IdPrefix = (typeof idPrefixes)[number]

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** The ID of a request as users give it: in capitals, or with the name of its header before it. Null: there is none in the text. */
export function findRequestId(text: string): string | null {
  return /\breq_[0-9a-z]{26}\b/i.exec(text)?.[0].toLowerCase() ?? null
}

const poolSize = 4096
const pool = new Uint8Array(poolSize)
let poolOffset = poolSize

/** Entropy is drawn in blocks: one call into the generator serves 409 ids. */
function nextRandomBytes(count: number): number {
  if (poolOffset + count > poolSize) {
    crypto.getRandomValues(pool)
    poolOffset = 0
  }
  poolOffset += count
  return poolOffset - count
}

/** Requests of one millisecond share it. */
let lastTime = { milliseconds: -1, text: '' }

export function newId(prefix: IdPrefix, now: number = Date.now()): string {
  if (lastTime.milliseconds !== now) lastTime = { milliseconds: now, text: encodeTime(now) }
  const text: string[] = [prefix, '_', lastTime.text]
  addRandom(text)
  // Joined, not added: see `flatText`.
  return text.join('')
}

function encodeTime(milliseconds: number): string {
  let text = ''
  let rest = milliseconds
  for (let position = 0; position < 10; position++) {
    text = alphabet[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** All pairs of characters: two at a time halve the pieces of which an id is joined. */
const pairs = Array.from({ length: 1024 }, (_, value) => alphabet.charAt(value >> 5) + alphabet.charAt(value & 31))

function addRandom(text: string[]): void {
  const offset = nextRandomBytes(16)
  for (let index = offset; index < offset + 16; index += 2) {
    text.push(pairs[(((pool[index] ?? 0) & 31) << 5) | ((pool[index + 1] ?? 0) & 31)] ?? '')
  }
}

/** The millisecond an id was made at, or null when the text is no id of ours. */
export function idTime(id: string): number | null {
  const match = /^[a-z]{3}_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/.exec(id)
  if (!match?.[1]) return null
  let time = 0
  for (const character of match[1]) time = time * 32 + alphabet.indexOf(character)
  return time
}

/**
 * Whether the text is a position among ids: an id, even of something removed, or the part of one that holds its time.
 */
export function isPlaceAmongIds(text: string, prefix: IdPrefix): boolean {
  const timeLength = prefix.length + 11
  return isId(text.length === timeLength ? text + '0'.repeat(16) : text, prefix)
}

export function isId(text: string, prefix: IdPrefix): boolean {
  return text.startsWith(`${prefix}_`) && idTime(text) !== null
}
