import { errorTable, type Fault } from '../../core/errors.ts'
import { bytesPerToken } from '../../core/estimated-tokens.ts'
import { reachFaultPoint } from '../../core/fault-point.ts'
import type { AttemptRecord, TokenUsage } from '../../core/record.ts'
import { releaseHold } from '../../policy/admit.ts'
import { requestsServed } from '../../policy/counters.ts'
import type { Arrival } from '../request/arrival.ts'
import type { Call } from '../request/call.ts'
import { releaseLimits } from '../request/take-limits.ts'
import type { RequestEnd } from '../request/trace.ts'
import { bookBudgets, heldBudgets } from '../upstream/hold-budgets.ts'
import type { UpstreamCall } from '../upstream/upstream-call.ts'
import { priceCall, priceUsage } from './price-call.ts'

/** Journaled before anything is sent to a provider, so that the request has a record even if the process dies. */
export async function journalAdmitted(call: Call): Promise<void> {
  const hold = estimateHold(call)
  call.trace.mark('admitted')
  const record = call.trace.record('admitted', null, hold)
  const held = call.arrival.limits === null ? null : heldBudgets(call.arrival)
  await call.gateway.journal.append(
    held === null ? { kind: 'admitted', record } : { kind: 'admitted', hold: held, record },
  )
  reachFaultPoint('journal.after-admitted')
}

/**
 * What a request is charged if its end is never journaled: its estimated input, and as much output as the client allows. No output if the
 * client sets no limit.
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

function estimateInput(body: Buffer): number {
  return Math.ceil(body.length / bytesPerToken)
}

/**
 * Journals the end of a request and releases what it holds. Resolves when the entry is written: only then may the client get its last
 * byte. Has no effect if the request is already settled.
 */
export async function settle(arrival: Arrival, end: RequestEnd): Promise<void> {
  const { gateway, abort } = arrival
  if (abort.settled) return
  abort.settled = true
  gateway.counters.settle(requestsServed, 0, 1)
  if (arrival.hold !== null) releaseHold(arrival.hold, gateway.counters)
  try {
    await journalEnd(arrival, end)
  } finally {
    if (arrival.limits !== null) releaseLimits(arrival, end)
  }
}

async function journalEnd(arrival: Arrival, end: RequestEnd): Promise<void> {
  const { gateway, trace } = arrival
  // Also with a revoked or expired key: whoever holds one must not be able to fill the disk with records.
  if (trace.key === null || (end.error?.code === 'invalid_key' && trace.attempts.length === 0)) {
    const shared = gateway.refusals.share(arrival.clientAddress, arrival.id, Date.now())
    if (shared !== null) return shared
  }
  if (arrival.capture !== null) await arrival.capture.journal()
  trace.mark('done')
  priceCall(arrival, end)
  arrival.objects?.journal(gateway.journal)
  reachFaultPoint('journal.before-settled')
  const record = trace.record('settled', end)
  const booked = arrival.limits === null ? null : bookBudgets(arrival, record)
  await gateway.journal.append(booked === null ? { kind: 'settled', record } : { kind: 'settled', booked, record })
  reachFaultPoint('journal.after-settled')
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
 * An attempt that reached the provider and was cut from this side (its time was up, its client left) may be billed all the same: it
 * costs its estimate, or what was reported by then.
 */
export function chargeCutAttempt(call: Call, attempt: AttemptRecord, upstream: UpstreamCall): void {
  if (upstream.times.connected === null) return
  const tokens = estimateCut(call, upstream.reader.usage())
  if (tokens === null) return
  call.trace.cutTokens = { ...tokens, source: 'estimated' }
  attempt.cost = priceUsage(call.arrival, { tokens, detail: null })
}

/**
 * Tokens of a call that was cut before any content came: what was reported, else its input. Null: it asks no model for anything, or
 * went up as a stream.
 */
export function estimateCut({ match, inspection, body }: Call, reported: TokenUsage | null): TokenUsage | null {
  const { usesTokens, model, reportsUsage, socket, readUnits } = match.endpoint
  if (reported !== null) return reported
  if (!usesTokens || model === 'none' || inspection.model === null || reportsUsage === 'end') return null
  if (socket !== null || body.upload !== null || readUnits !== undefined) return null
  const input = estimateInput(body.bytes)
  return { input, output: 0, cache_read: 0, cache_write: 0, reasoning: 0, source: 'estimated' }
}

/**
 * Tokens of an answer that was cut off, or that reported none: as reported by the provider, else estimated if content has gone out: one
 * token for each content event, since providers send about one token per event.
 */
export function estimateTokens(call: Call, reported: TokenUsage | null, contentEvents: number): TokenUsage | null {
  // An answer that only shows an earlier one was counted before; some count only when they end.
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
