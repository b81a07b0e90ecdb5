const quote = 0x22
const backslash = 0x5c

/** After a backslash: a quote, another, a slash, and `b`, `f`, `n`, `r`, `t`. */
const escapeLetters = new Set([quote, backslash, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74])

/** A native search costs as much as this many bytes in a loop, and most strings are shorter. */
const nearBytes = 32
const farBytes = 4096

/** As `passString`, and looks at every escape and control character: `~offset` of one that is wrong. */
export function readString(bytes: Buffer, at: number, end: number): number {
  let index = at
  while (index < end) {
    // biome-ignore lint/style/noNonNullAssertion: the loop ends before the bytes do, and runs for every byte
    const byte = bytes[index]!
    if (byte === quote) return index + 1
    if (byte < 0x20) return ~index
    const size = byte === backslash ? escapeSize(bytes, index) : 1
    if (size === 0) return ~index
    index += size
  }
  return ~end
}

/** Of the escape at `at`; 0 when it is none. */
function escapeSize(bytes: Buffer, at: number): number {
  const kind = bytes[at + 1] ?? 0
  if (kind !== 0x75) return escapeLetters.has(kind) ? 2 : 0
  for (let index = at + 2; index < at + 6; index++) if (!isHexDigit(bytes[index] ?? 0)) return 0
  return 6
}

function isHexDigit(byte: number): boolean {
  const letter = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66)
}

/** To the byte after the closing quote, whatever lies within; `~end` where there is none. `at` is the byte after the opening quote. */
export function passString(bytes: Buffer, at: number, end: number): number {
  let index = at
  for (let span = nearBytes; ; ) {
    const near = Math.min(index + span, end)
    for (; index < near; index++) {
      const byte = bytes[index]
      if (byte === quote) return index + 1
      if (byte === backslash) index++
    }
    if (index >= end) return ~end
    const found = bytes.indexOf(quote, index)
    if (found === -1 || found >= end) return ~end
    if (!isEscaped(bytes, found, index)) return found + 1
    // Where many quotes are escaped, the search would find each of them.
    span = found - index < 4 * nearBytes ? Math.min(2 * span, farBytes) : nearBytes
    index = found + 1
  }
}

/** `from` must not itself be an escaped byte. */
function isEscaped(bytes: Buffer, at: number, from: number): boolean {
  let index = at
  while (index > from && bytes[index - 1] === backslash) index--
  return ((at - index) & 1) === 1
}
