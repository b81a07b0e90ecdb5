/**
 * Finds the known name that the key of a member means, in whatever spelling: in other letters, with escapes, or with characters beyond
 * ASCII that fold to its letters (see `foldName`). Nothing is allocated.
 */

const backslash = 0x5c

/** The most bytes that one letter of a name can take: the sign of Kelvin, its UTF-8 read as characters, each written as an escape. */
export const letterBytes = 18

/** Names are shorter than this. */
export const mostLetters = 64
export const letters = Buffer.alloc(mostLetters)
/** Whether the key just decoded was written in the letters of ASCII, escaped or not. */
let isAscii = true

/** Whether the last key was written in the letters of ASCII, escaped or not. */
export function wasAscii(): boolean {
  return isAscii
}

/**
 * Puts the key into `letters` and gives their number; -1 as soon as it can be no name of at most `longest` letters. `start` and `end` lie
 * within the quotes. `forgiving`: an invalid escape is read the way a forgiving parser would.
 */
export function decodeName(bytes: Buffer, start: number, end: number, longest: number, forgiving = false): number {
  let count = 0
  isAscii = true
  for (let index = start; index < end; ) {
    if (count === longest) return -1
    let unit = readUnit(bytes, index, end)
    if (unit < 0 && forgiving && bytes[index] === backslash && !isControl(bytes[index + 1])) {
      // The backslash alone counts for nothing.
      unit = index + 1 < end ? readUnit(bytes, index + 1, end) : -1
      unitBytes++
    }
    index += unitBytes
    if (unit > 0x7f) {
      isAscii = false
      if (unit === 0xc5 || unit === 0xe2) {
        // UTF-8 that was read as characters.
        unit = readPair(bytes, index, end, unit)
        index += unitBytes
      }
      unit = unit === 0x17f ? 0x73 : unit === 0x212a ? 0x6b : -1
    }
    if (unit < 0x20) return -1
    letters[count++] = unit
  }
  return count
}

/** After `readUnit` and `readPair`: how many bytes were read. */
let unitBytes = 0

/** The character at `index`, escaped or not; -1 for what neither is ASCII nor part of what folds to it. */
function readUnit(bytes: Buffer, index: number, end: number): number {
  const byte = bytes[index] ?? 0
  unitBytes = 1
  if (byte === backslash) return readEscape(bytes, index, end)
  if (byte < 0x80) return byte
  unitBytes = 2
  const next = index + 1 < end ? (bytes[index + 1] ?? 0) : 0
  if (byte === 0xc5) return next === 0xbf ? 0x17f : -1
  if ((byte === 0xc2 || byte === 0xc3) && (next & 0xc0) === 0x80) return ((byte & 3) << 6) | (next & 0x3f)
  unitBytes = 3
  const isKelvin = byte === 0xe2 && next === 0x84 && index + 2 < end && bytes[index + 2] === 0xaa
  return isKelvin ? 0x212a : -1
}

function readEscape(bytes: Buffer, index: number, end: number): number {
  const kind = index + 1 < end ? (bytes[index + 1] ?? 0) : 0
  unitBytes = 2
  if (kind !== 0x75) return kind === 0x22 || kind === 0x2f || kind === backslash ? kind : -1
  unitBytes = 6
  if (index + 6 > end) return -1
  let unit = 0
  for (let at = index + 2; at < index + 6; at++) {
    const byte = bytes[at] ?? 0
    const letter = byte | 0x20
    if (byte >= 0x30 && byte <= 0x39) unit = unit * 16 + byte - 0x30
    else if (letter >= 0x61 && letter <= 0x66) unit = unit * 16 + letter - 0x57
    else return -1
  }
  return unit
}

/** Whether a backslash makes a control character of this letter: `b`, `f`, `n`, `r`, `t`. */
function isControl(byte: number | undefined): boolean {
  return byte === 0x62 || byte === 0x66 || byte === 0x6e || byte === 0x72 || byte === 0x74
}

/** What the two or three characters are, the first of which is `first`. */
function readPair(bytes: Buffer, index: number, end: number, first: number): number {
  const second = index < end ? readUnit(bytes, index, end) : -1
  const size = unitBytes
  if (first === 0xc5) return second === 0xbf ? 0x17f : -1
  const third = second === 0x84 && index + size < end ? readUnit(bytes, index + size, end) : -1
  unitBytes += size
  return third === 0xaa ? 0x212a : -1
}
