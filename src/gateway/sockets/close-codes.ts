import { errorTable, type Fault, fault, originOf } from '../../core/errors.ts'
import type { Closing } from '../../providers/socket-peer.ts'
import { clientClosed } from '../answer/settle.ts'
import type { RequestEnd } from '../request/trace.ts'

/** How a connection ends: what each side is told, and what the record says. */
export interface Closure {
  client: CloseFrame
  provider: CloseFrame
  /** Sent to the client in a frame of its own before the close frame, if the protocol has such a frame. */
  fault: Fault | null
  error: RequestEnd['error']
  /** One side disconnected without a close frame: an error only if a response was in progress. */
  left?: true
}

/** null: the other side is no longer there. */
export type CloseFrame = { code: number | null; reason: Buffer } | null

const reasonBytes = 123
const none = Buffer.alloc(0)
const leaving: CloseFrame = { code: 1001, reason: none }

/** RFC 6455, 7.4.1 and the codes registered with IANA. */
const codes = { policy: 1008, internal: 1011, restart: 1012, later: 1013, tooLarge: 1009 }

/** The client has closed the connection, or is gone. */
export function clientLeft({ code, reason, how }: Closing): Closure {
  if (how === 'asked') return { client: { code, reason }, provider: { code, reason }, fault: null, error: null }
  if (how === 'lost') return { client: null, provider: leaving, fault: null, error: clientClosed, left: true }
  const why =
    code === codes.tooLarge
      ? fault('request_too_large', 'A message was larger than what is allowed here.')
      : fault('invalid_request', `The client sent bytes that are not WebSocket frames (${code}).`)
  return { client: { code, reason: none }, provider: leaving, fault: null, error: errorOf(why) }
}

/** Normal closures: done, going away, no code, and the code for a session whose time is over. */
const plainCodes = new Set([null, 1000, 1001])

/** The provider has closed the connection, or is gone. `clean` removes account ids and credentials from its words. */
export function providerLeft({ code, reason, how }: Closing, clean: (bytes: Buffer) => Buffer): Closure {
  if (how !== 'asked') {
    const what = how === 'lost' ? 'broke the connection off' : 'sent bytes that are not WebSocket frames'
    const answer = { code, reason: none }
    const closure = ended(fault('provider_bad_response', `The provider ${what}. Connect again.`))
    return how === 'lost' ? { ...closure, provider: null, left: true } : { ...closure, provider: answer }
  }
  const words = cutReason(clean(reason))
  const message = `The provider closed the connection (${code ?? 'no code'})${words.length === 0 ? '.' : `: ${words}`}`
  return {
    client: { code, reason: words },
    provider: { code, reason },
    fault: null,
    error: plainCodes.has(code) ? null : { code: 'provider_error', origin: 'provider', message },
  }
}

/**
 * The record's error: the gateway's own, else one that the provider sent in a frame, else the way the connection ended. An end without a
 * response in progress is not an error (contract.md rule 25).
 */
export function recordedError(
  { error, fault: own, left }: Closure,
  busy: boolean,
  inBand: RequestEnd['error'],
): RequestEnd['error'] {
  if (left === true && !busy) return inBand
  return own === null ? (inBand ?? error) : error
}

/** The gateway ends the connection. `restarting`: the client may reconnect at once, to the next process. */
export function ended(why: Fault, restarting = false): Closure {
  const code = restarting ? codes.restart : codeOf(why)
  return {
    client: { code, reason: cutReason(Buffer.from(`${why.code}: ${why.message}`)) },
    provider: leaving,
    fault: restarting ? null : why,
    error: errorOf(why),
  }
}

/** The provider refused the handshake after the client's own had been accepted. */
export function refusedBy(status: number): Closure {
  const message = `The provider answered ${status}`
  const why = fault('provider_bad_response', `${message} to the handshake. Ask the operator, or try again later.`)
  return { ...ended(why), error: { code: 'provider_error', origin: 'provider', message: `${message}.` } }
}

/** A connection with nothing in progress when the gateway stops: not an error. */
export function drained(): Closure {
  const reason = Buffer.from('The gateway restarts. Connect again.')
  return { client: { code: codes.restart, reason }, provider: leaving, fault: null, error: null }
}

function codeOf({ code }: Fault): number {
  if (code === 'overloaded' || code === 'rate_limited' || code === 'provider_not_ready') return codes.later
  if (code === 'request_too_large') return codes.tooLarge
  const { origin } = errorTable[code]
  return origin === 'client' || origin === 'policy' ? codes.policy : codes.internal
}

function errorOf(reason: Fault): RequestEnd['error'] {
  return { code: reason.code, origin: originOf(reason), message: reason.message }
}

/** As much of the reason as a close frame can hold, in whole characters. */
function cutReason(reason: Buffer): Buffer {
  if (reason.length <= reasonBytes) return reason
  let end = reasonBytes
  while (((reason[end] ?? 0) & 0xc0) === 0x80) end--
  return reason.subarray(0, end)
}
