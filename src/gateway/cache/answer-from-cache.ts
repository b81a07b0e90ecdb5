import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import { ownAnswerHeaders, settleAborted } from '../answer/respond.ts'
import { settle } from '../answer/settle.ts'
import type { Call } from '../request/call.ts'
import { cacheKey } from './cache-key.ts'
import { CacheTap } from './cache-tap.ts'
import { isCacheable } from './cacheable.ts'
import { type KeptAnswer, openAnswer } from './kept-answer.ts'

/**
 * Answers a call with the stored answer to an identical call, if its route allows that. False: there is none, and the provider's answer
 * will be stored. An answer from the cache counts in limits like any other, and costs nothing.
 */
export async function answerFromCache(call: Call, route: SnapshotRoute): Promise<boolean> {
  const { arrival, gateway } = call
  const { bodyKey } = gateway.model.configuration
  if (bodyKey === null || route.cacheMs === null || !isCacheable(call, route)) return false
  const key = cacheKey(call, route)
  const found = await gateway.answers.find(key)
  const kept = found === null || found.keyId !== bodyKey.id ? null : await openAnswer(bodyKey, key, found.sealed)
  if (call.abort.aborted) {
    await settleAborted(arrival)
    return true
  }
  if (kept === null) {
    arrival.cached = 'miss'
    const place = { key, routeId: route.id, ttlMs: route.cacheMs, bodyKey }
    arrival.capture = new CacheTap(call, place, arrival.capture)
    return false
  }
  await answer(call, kept)
  return true
}

const free = { usd: 0, price_version: 'cache' } as const

async function answer({ arrival, trace, abort }: Call, { head, body }: KeptAnswer): Promise<void> {
  const { contentType, tokens, detail, requestId, time, streamed } = head
  arrival.cached = 'hit'
  trace.turnsCost = free
  trace.cost = free
  trace.responseBytes = body.length
  trace.policySignals.push({
    rule: 'cache',
    verdict: 'note',
    text: `Answered from the cache, with the answer to ${requestId} of ${time}.`,
    data: { request: requestId, time },
  })
  arrival.capture?.ownAnswer(['content-type', contentType], body)
  trace.mark('last_byte')
  await settle(arrival, { status: 200, error: null, tokens, detail })
  if (abort.disconnected) return
  const headers = ownAnswerHeaders(arrival)
  headers.push('content-type', contentType, 'content-length', String(body.length))
  if (streamed) headers.push('cache-control', 'no-cache', 'x-accel-buffering', 'no')
  arrival.response.writeHead(200, headers)
  arrival.response.end(body)
}
