/** What a value that this gateway has sealed for its way through a client begins with. */
export const sealedPrefix = 'sp1.'

/** Of a sealed value, the prefix's end and the head of every token: a version, and the high byte of a time before 2039. */
const head = Buffer.from('.AQ')
/** In Gemini's signatures, which are base64 of sealed values. */
const encodedHead = Buffer.from('"c3Ax')

/** Whether the bytes may hold a sealed value. Finds a letter that is rare in texts and absent from base64, so that it costs next to nothing. */
export function mayHoldSealed(bytes: Buffer, isEncoded: boolean): boolean {
  return isEncoded ? bytes.includes(encodedHead) : bytes.includes(head) && bytes.includes(sealedPrefix)
}

export function isSealed(text: string): boolean {
  return text.startsWith(sealedPrefix)
}

/** Gemini's clients may decode a signature and encode it again. */
export function isSealedEncoded(text: string): boolean {
  return Buffer.from(text.slice(0, 8), 'base64').toString('latin1').startsWith(sealedPrefix)
}
