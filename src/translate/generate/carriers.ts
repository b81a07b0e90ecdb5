import { sealedPrefix } from '../../core/secrets/sealed-mark.ts'
import type { Carriers } from '../codec.ts'
import type { Opaque } from '../conversation.ts'

/** More than any model's reasoning parts before one call. */
const mostCarried = 16

/**
 * A `thoughtSignature` that carries what other providers have signed: all reasoning before a call, in order. It is base64, which some
 * clients decode and encode again.
 */
export function writeSealed(sealed: readonly string[]): string | null {
  return sealed.length === 0 ? null : Buffer.from(sealed.slice(-mostCarried).join('\n')).toString('base64')
}

/** Null: it is Gemini's own. Empty: of a call that nobody has signed (`unsignedMark`). */
export function readSealed(signature: string, carriers: Carriers): Opaque[] | null {
  const pieces = Buffer.from(signature, 'base64').toString('latin1').split('\n')
  if (pieces.length > mostCarried) return null
  if (pieces.length === 1 && pieces[0] === sealedPrefix) return []
  const opened = pieces.flatMap((piece) => carriers.open(piece) ?? [])
  return opened.length === pieces.length ? opened : null
}
