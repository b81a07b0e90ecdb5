const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Base32 after Douglas Crockford: upper case, without the letters that are read as digits. Five bytes make eight characters. */
export function encodeCrockford(bytes: Uint8Array): string {
  let text = ''
  let rest = 0
  let bits = 0
  for (const byte of bytes) {
    rest = (rest << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(rest >>> (bits - 5)) & 31]
    rest &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + alphabet[(rest << (5 - bits)) & 31]
}

/** Reads what a person wrote down: either case, I and L for 1, O for 0. Null for any other character. */
export function decodeCrockford(text: string): Uint8Array | null {
  const bytes: number[] = []
  let rest = 0
  let bits = 0
  for (const character of text.toUpperCase().replace(/[IL]/g, '1').replaceAll('O', '0')) {
    const value = alphabet.indexOf(character)
    if (value === -1) return null
    rest = (rest << 5) | value
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes.push(rest >>> bits)
      rest &= (1 << bits) - 1
    }
  }
  return Uint8Array.from(bytes)
}
