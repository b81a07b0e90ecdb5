import { isObject } from '../../core/json/is-object.ts'
import { type JsonObject, parseObject } from '../../core/json/json-value.ts'
import { usesHostedTools } from '../../lanes/hosted-tools.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import { ownAnswerHeaders, settleAborted } from '../answer/respond.ts'
import { settle } from '../answer/settle.ts'
import type { Call } from '../request/call.ts'
import { cacheKey } from './cache-key.ts'
import { CacheTap } from './cache-tap.ts'
import { type KeptAnswer, openAnswer } from './kept-answer.ts'

/**
 * Answers a call with the stored answer to an identical call, if its route allows that. False: there is none, and the provider's answer
 * will be stored. An answer from the cache counts in limits like any other, and costs nothing.
 */
export async function answerFromCache(call: Call, route: SnapshotRoute): Promise<boolean> {
  const { arrival, gateway } = call
  const { bodyKey } = gateway.model.configuration
  if (bodyKey === null || route.cacheMs === null || !isCacheable(call)) return false
  const key = cacheKey(call, route)
  const found = await gateway.answerCache.find(key)
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

/** Larger requests rarely repeat, and would have to be read whole here. */
const largestBody = 1024 * 1024

/**
 * Whether an answer to the call may be stored and reused. Not if the provider stores it or it names stored objects, if the provider does
 * more than ask a model, or if a policy forbids it.
 */
function isCacheable(call: Call): boolean {
  const { body, inspection, policy } = call
  if (!asksModel(call)) return false
  if (body.bytes.length === 0 || body.bytes.length > largestBody) return false
  if (call.createsObjects || inspection.stores || call.pin !== null || call.clientSecret !== null) return false
  if (policy.capture?.mode === 'none') return false
  if (isNoStore(call.header('cache-control'))) return false
  return !usesHostedTools(call.lane.name, body.bytes) && isPlain(parseObject(body.bytes), inspection.streamed)
}

/** Whether the call asks one model, in JSON, for an answer in JSON or events. */
function asksModel({ arrival, match: { endpoint }, body, inspection }: Call): boolean {
  const { requestForms, responseForm, usesTokens, socket, readWhole } = endpoint
  if (arrival.request.method !== 'POST' || body.upload !== null || inspection.model === null) return false
  return usesTokens && requestForms.includes('json') && responseForm === 'json' && socket === null && readWhole !== true
}

function isNoStore(header: string | null): boolean {
  return header?.split(',').some((directive) => directive.trim().toLowerCase() === 'no-store') ?? false
}

/** Members that make the provider continue in the background, or read what it has stored. */
const storedMembers = ['background', 'cachedContent', 'cached_content']

function isPlain(body: JsonObject | null, streamed: boolean): boolean {
  if (body === null || storedMembers.some((name) => isSet(body[name]))) return false
  // The choices of a stream arrive interleaved, in an order that no other answer has.
  return !(streamed && choicesOf(body) > 1)
}

function choicesOf(body: JsonObject): number {
  const config = [body.generationConfig, body.generation_config].find(isObject)
  const counts = [body.n, body.best_of, config?.candidateCount, config?.candidate_count]
  return Math.max(1, ...counts.filter((count) => typeof count === 'number'))
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false
