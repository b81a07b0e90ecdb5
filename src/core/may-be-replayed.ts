import { hasText } from './json-text.ts'

/** What a value that this gateway has sealed for its way through a client begins with. */
export const sealedPrefix = 'sp1.'

/** What ids of reasoning begin with that this gateway has given out: no provider knows one of them. */
export const ownReasoningPrefix = 'rs_sp_'

/**
 * Whether the text behind the quotation mark begins as what this gateway has sealed, or as that in base64 (Gemini's signatures), or is
 * where it has given out reasoning that nobody signed.
 */
export function mayBeReplayed(bytes: Buffer, at: number): boolean {
  switch (bytes[at]) {
    case 0x73:
      return hasText(bytes, at, sealedPrefix)
    case 0x63:
      return hasText(bytes, at, 'c3Ax')
    case 0x72:
      return hasText(bytes, at, ownReasoningPrefix)
    case 0x22:
      return hasText(bytes, at - 13, '"signature":"') || hasText(bytes, at - 14, '"signature": "')
    default:
      return false
  }
}
