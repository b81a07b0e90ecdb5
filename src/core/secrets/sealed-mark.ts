/** What a value that this gateway has sealed for its way through a client begins with. */
export const sealedPrefix = 'sp1.'

/** What ids of reasoning begin with that this gateway has given out: no provider knows one of them. */
export const ownReasoningPrefix = 'rs_sp_'

/** In the place of a signature, on a call that nobody has signed: newer Gemini models refuse one without any. */
export const unsignedMark: string = Buffer.from(sealedPrefix).toString('base64')

export function isSealed(text: string): boolean {
  return text.startsWith(sealedPrefix)
}

/** Gemini's clients may decode a signature and encode it again. */
export function isSealedEncoded(text: string): boolean {
  return Buffer.from(text.slice(0, 8), 'base64').toString('latin1').startsWith(sealedPrefix)
}
