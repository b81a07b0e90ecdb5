/** What a value that this gateway has sealed for its way through a client begins with. */
export const sealedPrefix = 'sp1.'

/** The same of Gemini's signatures, which are base64 of sealed values. */
export const encodedPrefix = 'c3Ax'

export function isSealed(text: string): boolean {
  return text.startsWith(sealedPrefix)
}

/** Gemini's clients may decode a signature and encode it again. */
export function isSealedEncoded(text: string): boolean {
  return Buffer.from(text.slice(0, 8), 'base64').toString('latin1').startsWith(sealedPrefix)
}
