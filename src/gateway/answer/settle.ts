import { errorTable, type Fault } from '../../core/errors.ts'
import { reachFaultPoint } from '../../core/fault-point.ts'
import type { TokenUsage } from '../../core/record.ts'
import { releaseHold } from '../../policy/admit.ts'
import { requestsServed } from '../../policy/counters.ts'
import type { Arrival } from '../request/arrival.ts'
import type { Call } from '../request/call.ts'
import type { RequestEnd } from '../request/trace.ts'

/** Before anything is sent to a provider: whatever happens from here on, the request has a record. */
export async function journalAdmitted(call: Call): Promise<void> {
  const hold = estimateHold(call)
  call.trace.mark('admitted')
  const record = call.trace.record('admitted', null, hold)
  await call.gateway.journal.append({ kind: 'admitted', record })
  reachFaultPoint('journal.after-admitted')
}

/**
 * What a request is charged for which no end is ever written: its input by estimate, and as much output as its client
 * allows; none where the client sets no limit.
 */
function estimateHold({ body, inspection, match }: Call): TokenUsage | null {
  if (!match.endpoint.usesTokens) return null
  return {
    input: estimateInput(body.bytes),
    output: inspection.outputLimit ?? 0,
    cache_read: 0,
    cache_write: 0,
    reasoning: 0,
    source: 'estimated',
  }
}

/** A token for four bytes of request: what English text comes to. Never more than an estimate. */
function estimateInput(body: Buffer): number {
  return Math.ceil(body.length / 4)
}

/**
 * Journals the end of a request, once; resolves when the entry stands, so that the caller may give the client its last byte.
 * Whatever comes later for the same request is ignored: the first end is the true one.
 */
export async function settle(arrival: Arrival, end: RequestEnd): Promise<void> {
  const { gateway, trace, abort } = arrival
  if (abort.settled) return
  abort.settled = true
  gateway.counters.settle(requestsServed, 0, 1)
  if (arrival.hold !== null) releaseHold(arrival.hold, gateway.counters)
  const shared = isUnauthenticated(arrival, end)
    ? gateway.refusals.share(arrival.clientAddress, arrival.id, Date.now())
    : null
  if (shared !== null) return shared
  if (arrival.capture !== null) await arrival.capture.journal()
  trace.mark('done')
  arrival.objects?.journal(gateway.journal)
  reachFaultPoint('journal.before-settled')
  await gateway.journal.append({ kind: 'settled', record: trace.record('settled', end) })
  reachFaultPoint('journal.after-settled')
}

/** A revoked or expired key is no valid one: its holder could fill the disk like anybody. */
function isUnauthenticated({ trace }: Arrival, { error }: RequestEnd): boolean {
  return trace.key === null || (error?.code === 'invalid_key' && trace.attempts.length === 0)
}

export function endOfFault(
  fault: Fault,
  tokens: TokenUsage | null = null,
  status = errorTable[fault.code].status,
): RequestEnd {
  return { status, error: { code: fault.code, origin: errorTable[fault.code].origin, message: fault.message }, tokens }
}

export const clientClosed = {
  code: 'client_closed',
  origin: 'client',
  message: 'The client disconnected before the answer was complete.',
} as const

/**
 * Tokens of an answer that was cut, or that reported none: as the provider reported them, else an estimate where content has
 * gone out. The estimate takes a token for each content event, since providers send about a token an event; it never pretends
 * to be more.
 */
export function estimateTokens(call: Call, reported: TokenUsage | null, contentEvents: number): TokenUsage | null {
  // What is only shown again was counted when it was made, or counts by its end.
  if (contentEvents === 0 || call.match.endpoint.reportsUsage === 'end') return reported
  return {
    input: reported?.input ?? estimateInput(call.body.bytes),
    output: Math.max(reported?.output ?? 0, contentEvents),
    cache_read: reported?.cache_read ?? 0,
    cache_write: reported?.cache_write ?? 0,
    reasoning: reported?.reasoning ?? 0,
    source: 'estimated',
  }
}
