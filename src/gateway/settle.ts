import { errorTable, type Fault } from '../core/errors.ts'
import { reachFaultPoint } from '../core/fault-point.ts'
import type { TokenUsage } from '../core/record.ts'
import type { AnswerReader } from '../lanes/contract.ts'
import { releaseHold } from '../policy/admit.ts'
import { requestsServed } from '../policy/counters.ts'
import { estimateInput } from './estimate.ts'
import type { Exchange, ExchangeEnd } from './exchange.ts'
import type { Gateway } from './gateway.ts'

/**
 * Journals the end of an exchange, once; resolves when the entry stands, so that the caller may give the client its
 * last byte. Whatever comes later for the same exchange is ignored: the first end is the true one.
 */
export async function settle(gateway: Gateway, exchange: Exchange, end: ExchangeEnd): Promise<void> {
  if (exchange.settled) return
  exchange.settled = true
  gateway.counters.settle(requestsServed, 0, 1)
  if (exchange.hold !== null) releaseHold(exchange.hold, gateway.counters)
  // A revoked or expired key is no valid one: its holder could fill the disk like anybody.
  const stranger = exchange.key === null || (end.error?.code === 'invalid_key' && exchange.attempts.length === 0)
  const shared = stranger ? gateway.refusals.share(exchange.clientAddress, exchange.id, Date.now()) : null
  if (shared !== null) return shared
  if (exchange.capture !== null) await exchange.capture.journal()
  exchange.mark('done')
  if (exchange.objects !== null) {
    void gateway.journal.append(exchange.objects)
    reachFaultPoint('journal.after-objects')
  }
  if (exchange.results !== null) for (const used of exchange.results.entries()) void gateway.journal.append(used)
  reachFaultPoint('journal.before-settled')
  await gateway.journal.append({ kind: 'settled', record: exchange.record('settled', end) })
  reachFaultPoint('journal.after-settled')
}

export function endOfFault(
  fault: Fault,
  tokens: TokenUsage | null = null,
  status = errorTable[fault.code].status,
): ExchangeEnd {
  return { status, error: { code: fault.code, origin: errorTable[fault.code].origin, message: fault.message }, tokens }
}

export const clientClosed = {
  code: 'client_closed',
  origin: 'client',
  message: 'The client hung up before the answer was complete.',
} as const

/**
 * Tokens of an answer: as the provider reported them, else an estimate where content has gone out (a stream that was
 * cut). The estimate takes a token for four bytes of request and one for each content event, since providers send
 * about a token an event; it never pretends to be more than an estimate.
 */
export function tokensOf(
  exchange: Exchange,
  reader: AnswerReader,
  contentEvents: number,
  complete: boolean,
): TokenUsage | null {
  const reported = reader.usage()
  // What is only shown again was counted when it was made, or counts by its end.
  if (complete || contentEvents === 0 || exchange.match!.endpoint.reportsUsage === 'end') return reported
  return {
    input: reported?.input ?? estimateInput(exchange),
    output: Math.max(reported?.output ?? 0, contentEvents),
    cache_read: reported?.cache_read ?? 0,
    cache_write: reported?.cache_write ?? 0,
    reasoning: reported?.reasoning ?? 0,
    source: 'estimated',
  }
}
