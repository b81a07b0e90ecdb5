import { hasText } from './json-text.ts'

/** What a value that this gateway has sealed for its way through a client begins with. */
export const sealedPrefix = 'sp1.'

/** The same of Gemini's signatures, which are base64 of sealed values. */
export const encodedPrefix = 'c3Ax'

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

const space = 0x20
const quote = 0x22
const colon = 0x3a

/**
 * Whether the text behind the quotation mark begins as what this gateway has sealed, or as that in base64, or stands where it has given out
 * reasoning that nobody signed.
 */
export function mayBeReplayed(bytes: Buffer, at: number): boolean {
  switch (bytes[at]) {
    case 0x73:
      return hasText(bytes, at, sealedPrefix)
    case 0x63:
      return hasText(bytes, at, encodedPrefix)
    case 0x72:
      return hasText(bytes, at, ownReasoningPrefix)
    case quote:
      return isNoSignature(bytes, at - 2)
    default:
      return false
  }
}

const signature = '"signature"'

/** Whether the key before an empty text is `signature`. `before`: the byte before the text. */
function isNoSignature(bytes: Buffer, before: number): boolean {
  const at = bytes[before] === space ? before - 1 : before
  return bytes[at] === colon && at >= signature.length && hasText(bytes, at - signature.length, signature)
}
