/** The scan has paused as requested: before a value, or in the middle of a text. */
export const paused = Number.NEGATIVE_INFINITY
export const never = Number.POSITIVE_INFINITY
/** How far the text was scanned in which the scan paused. */
let passedTo = 0

const quote = 0x22
const backslash = 0x5c

/** A native search costs as much as this many bytes in a loop, and most strings are shorter. */
const nearBytes = 32
const farBytes = 4096

/**
 * To the byte after the closing quote, whatever lies within; `~end` where there is none. `at` is the byte after the opening quote. It pauses
 * only where quotes are escaped: without one, the native search takes no time that counts.
 */
export function passString(bytes: Buffer, at: number, end: number, pauseAt = never): number {
  const near = Math.min(at + nearBytes, end)
  let index = at
  while (index < near) {
    const byte = bytes[index]
    if (byte === quote) return index + 1
    index += byte === backslash ? 2 : 1
  }
  return passLong(bytes, index, end, pauseAt)
}

function passLong(bytes: Buffer, at: number, end: number, pauseAt: number): number {
  let index = at
  for (let span = nearBytes; ; ) {
    if (index >= end) return ~end
    const found = bytes.indexOf(quote, index)
    if (found === -1 || found >= end) return ~end
    if (!isEscaped(bytes, found, index)) return found + 1
    // Where many quotes are escaped, the search would find each of them.
    span = found - index < 4 * nearBytes ? Math.min(2 * span, farBytes) : nearBytes
    index = found + 1
    if (index >= pauseAt) {
      passedTo = index
      return paused
    }
    const near = Math.min(index + span, end)
    while (index < near) {
      const byte = bytes[index]
      if (byte === quote) return index + 1
      index += byte === backslash ? 2 : 1
    }
  }
}

/** `from` must not itself be an escaped byte. */
function isEscaped(bytes: Buffer, at: number, from: number): boolean {
  let index = at
  while (index > from && bytes[index - 1] === backslash) index--
  return ((at - index) & 1) === 1
}

/** How far the text was scanned in which `passString` paused. */
export function pausedAt(): number {
  return passedTo
}
