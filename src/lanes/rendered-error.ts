import { errorTable, type Fault } from '../core/errors.ts'
import type { AnswerReader, RenderedError } from './contract.ts'

/** The common part of all lanes' error answers: the status from the error table, and the headers that SDKs obey. */
export function renderAnswer(fault: Fault, body: object): RenderedError {
  const row = errorTable[fault.code]
  const headers: [string, string][] = [['content-type', 'application/json']]
  if (fault.retryAfterMs !== undefined) headers.push(['retry-after', String(retrySeconds(fault.retryAfterMs))])
  if (fault.resetsAt !== undefined) headers.push(['x-sp-reset', fault.resetsAt])
  const mayRetry = fault.shouldRetry ?? row.final !== true
  if (!mayRetry) headers.push(['x-should-retry', 'false'])
  return { status: row.status, headers, body: Buffer.from(JSON.stringify(body)) }
}

/** An SSE event from the gateway. It first ends an event that was cut in the middle. */
export function renderEvent(text: string, reader: AnswerReader | null): Buffer {
  return Buffer.from(reader?.seen().insideEvent ? `\n\n${text}` : text)
}

export function retrySeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}
