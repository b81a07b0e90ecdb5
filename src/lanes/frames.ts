import { type Fault, fault } from '../core/errors.ts'
import { type Member, scanObject, shortValue } from '../core/json/json-scan.ts'
import { readValue } from '../core/json/json-value.ts'
import type { NameWatch } from '../core/watched-names.ts'
import type { SocketReading } from './contract.ts'
import { rejectMisspelled, tooManyToScan } from './request-body.ts'

/**
 * The wanted top-level members of a client's frame, text or binary. Every frame of every lane is one JSON object.
 * Anything else is rejected: the provider's parser might still accept it, and it would be forwarded unchecked.
 */
export function scanFrame(
  frame: Buffer,
  wanted: readonly string[],
  watch: NameWatch | null,
): readonly Member[] | Fault {
  const scan = scanObject(frame, wanted, undefined, watch, true)
  if (!scan.ok) {
    if (scan.tooMany) return tooManyToScan
    const place = scan.at >= frame.length ? 'it ends too early' : `see byte ${scan.at}`
    return fault('invalid_request', `The message is not one valid JSON object: ${place}.`)
  }
  return rejectMisspelled(frame, scan) ?? scan.members
}

/**
 * The frame's `type`; '' where it has none. Parsers disagree on which of two counts, so two different ones are
 * rejected.
 */
export function readType(frame: Buffer, members: readonly Member[]): string | Fault {
  let type: string | null = null
  for (const member of members) {
    if (member.name !== 'type') continue
    const value = readValue(frame, member, shortValue)
    if (typeof value !== 'string') return badType('`type` must be a string.')
    if (type !== null && type !== value) return badType('`type` is given twice with different values; send it once.')
    type = value
  }
  return type ?? ''
}

function badType(message: string): Fault {
  return fault('invalid_request', message, { param: 'type' })
}

/** The reading of a frame that says nothing new. */
export const emptyReading: SocketReading = { created: [], seen: [], error: null }
