const literals = new Map([
  [0x74, Buffer.from('true')],
  [0x66, Buffer.from('false')],
  [0x6e, Buffer.from('null')],
])

/** The index after a number, `true`, `false` or `null`, or `~offset` of what is wrong. */
export function skipScalar(bytes: Buffer, at: number, end: number): number {
  const first = bytes[at] ?? 0
  const literal = first < 0x40 ? undefined : literals.get(first)
  if (literal === undefined) return skipNumber(bytes, at, end)
  for (let offset = 0; offset < literal.length; offset++) {
    if (at + offset >= end || bytes[at + offset] !== literal[offset]) return ~(at + offset)
  }
  return at + literal.length
}

/** Longer numbers nobody writes; each scan would look at every digit. */
const longestNumber = 4096

function skipNumber(bytes: Buffer, at: number, limit: number): number {
  const end = Math.min(limit, at + longestNumber)
  let index = bytes[at] === 0x2d ? at + 1 : at
  const whole = bytes[index] === 0x30 ? index + 1 : skipDigits(bytes, index, end)
  if (whole === index || index >= end) return ~index
  index = whole
  if (index < end && bytes[index] === 0x2e) {
    const fraction = skipDigits(bytes, index + 1, end)
    if (fraction === index + 1) return ~fraction
    index = fraction
  }
  if (index < end && (bytes[index] === 0x65 || bytes[index] === 0x45)) {
    const signed = bytes[index + 1] === 0x2b || bytes[index + 1] === 0x2d
    const first = index + (signed ? 2 : 1)
    index = skipDigits(bytes, first, end)
    if (index === first) return ~index
  }
  return index
}

function skipDigits(bytes: Buffer, at: number, end: number): number {
  let index = at
  while (index < end) {
    const byte = bytes[index] ?? 0
    if (byte < 0x30 || byte > 0x39) break
    index++
  }
  return index
}
