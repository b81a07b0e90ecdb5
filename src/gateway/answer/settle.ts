import { errorTable, type Fault, originOf } from '../../core/errors.ts'
import { reachFaultPoint } from '../../core/fault-point.ts'
import type { BookedAmount } from '../../core/journal-format.ts'
import type { Signal, TokenUsage } from '../../core/record.ts'
import { loadOnce } from '../../core/threads/load-once.ts'
import { requestsInFlight, requestsServed } from '../../policy/counters.ts'
import type { CallContent } from '../content/call-content.ts'
import type { Arrival } from '../request/arrival.ts'
import type { Call } from '../request/call.ts'
import { releaseLimits } from '../request/take-limits.ts'
import type { RequestEnd, Trace } from '../request/trace.ts'
import { heldBudgets, settleBudgets } from '../upstream/hold-budgets.ts'
import { estimateHold, priceCall } from './charge.ts'

/** Await this before anything is sent to a provider, so that the request has a record even if the process dies. */
export function journalAdmitted(call: Call): Promise<void> {
  const hold = estimateHold(call)
  call.trace.mark('admitted')
  const record = call.trace.record('admitted', null, hold)
  const budgets = call.arrival.limits === null ? null : heldBudgets(call.arrival)
  const { accounts } = call.arrival
  const held = accounts === null ? budgets : addBooked(budgets, accounts.held())
  return call.gateway.journal.append(
    held === null ? { kind: 'admitted', record } : { kind: 'admitted', hold: held, record },
  )
}

/**
 * Journals the end of a request and releases what it holds in limits and budgets, also when its client has disconnected. Resolves when the
 * entry is written: only then may the client get its last byte. Has no effect if the request is already settled.
 */
export async function settle(arrival: Arrival, end: RequestEnd): Promise<void> {
  const { gateway, abort } = arrival
  if (abort.settled) return
  abort.settled = true
  if (arrival.trace.shadowOf === null) gateway.counters.settle(requestsServed, 0, 1)
  if (arrival.inFlight) gateway.counters.settle(requestsInFlight, 1, 0)
  try {
    await journalEnd(arrival, end)
    reachFaultPoint('journal.after-settled')
  } finally {
    if (arrival.limits !== null) releaseLimits(arrival, end)
    arrival.accounts?.release()
  }
}

function addBooked(
  budgets: readonly BookedAmount[] | null,
  accounts: readonly BookedAmount[],
): readonly BookedAmount[] | null {
  return accounts.length === 0 ? budgets : [...(budgets ?? []), ...accounts]
}

/** Resolves when the entry, or the one that it shares, is written. */
function journalEnd(arrival: Arrival, end: RequestEnd): Promise<void> {
  const { gateway, trace } = arrival
  // This includes revoked and expired keys: whoever still has one must not be able to fill the disk with records.
  if (trace.key === null || (end.error?.code === 'invalid_key' && trace.attempts.length === 0)) {
    const shared = gateway.refusals.share(arrival.clientAddress, arrival.id, Date.now())
    if (shared !== null) return shared
  }
  const { content, capture } = arrival
  const hidden = content === null || !quotesProvider(trace, end) ? null : hideQuoted(content, trace, end)
  if (capture === null)
    return hidden === null ? journalSettled(arrival, end) : hidden.then(() => journalSettled(arrival, end))
  return Promise.all([hidden, capture.journal(end)]).then(() => journalSettled(arrival, end))
}

const hiding = loadOnce(() => import('../content/hide-quoted.ts'))

async function hideQuoted(content: CallContent, trace: Trace, end: RequestEnd): Promise<void> {
  const module = await hiding()
  await module.hideQuoted(content, trace, end)
}

/** A connection goes on after errors. */
function quotesProvider({ attempts, routingSignals }: Trace, { error }: RequestEnd): boolean {
  if (attempts.length === 0) return false
  return error !== null || attempts.some(({ message }) => message !== null) || routingSignals.some(isProvidersError)
}

const isProvidersError = ({ rule }: Signal) => rule === 'provider.error'

function journalSettled(arrival: Arrival, end: RequestEnd): Promise<void> {
  const { gateway, trace } = arrival
  priceCall(arrival, end)
  arrival.objects?.journal(gateway.journal)
  reachFaultPoint('journal.before-settled')
  trace.mark('done')
  const record = trace.record('settled', end)
  const budgets = arrival.limits === null ? null : settleBudgets(arrival, record)
  const { accounts } = arrival
  const booked = accounts === null ? budgets : addBooked(budgets, accounts.settle(record))
  return gateway.journal.append(booked === null ? { kind: 'settled', record } : { kind: 'settled', booked, record })
}

export function endOfFault(
  fault: Fault,
  tokens: TokenUsage | null = null,
  status = errorTable[fault.code].status,
): RequestEnd {
  return { status, error: { code: fault.code, origin: originOf(fault), message: fault.message }, tokens }
}

export const clientClosed = {
  code: 'client_closed',
  origin: 'client',
  message: 'The client disconnected before the answer was complete.',
} as const
