import type { Call } from '../request/call.ts'
import { ownAnswerHeaders } from './respond.ts'
import { settle } from './settle.ts'

/** Answers with a JSON document of the gateway's own, without any provider. */
export async function answerOwn({ arrival, trace }: Call, body: Buffer, more: readonly string[] = []): Promise<void> {
  trace.responseBytes = body.length
  arrival.capture?.ownAnswer(['content-type', 'application/json'], body)
  await settle(arrival, { status: 200, error: null, tokens: null })
  if (arrival.abort.disconnected) return
  const headers = ownAnswerHeaders(arrival)
  headers.push('content-type', 'application/json', 'content-length', String(body.length), ...more)
  arrival.response.writeHead(200, headers)
  arrival.response.end(body)
}
