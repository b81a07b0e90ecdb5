/** What a value that this gateway has sealed for its way through a client begins with. */
export const sealedPrefix = 'sp1.'

const start = Buffer.from(`"${sealedPrefix}`)
/** In Gemini's signatures, which are base64 of sealed values. */
const encodedStart = Buffer.from('"c3Ax')

/** Whether the bytes may hold a sealed value. By the quotation mark, which is rarer in texts and files than any letter of the prefix. */
export function mayHoldSealed(bytes: Buffer, isEncoded: boolean): boolean {
  return bytes.includes(isEncoded ? encodedStart : start)
}

export function isSealed(text: string): boolean {
  return text.startsWith(sealedPrefix)
}

/** Gemini's clients may decode a signature and encode it again. */
export function isSealedEncoded(text: string): boolean {
  return Buffer.from(text.slice(0, 8), 'base64').toString('latin1').startsWith(sealedPrefix)
}
