import type { BodyKey } from '../../sealing/body-seal.ts'
import type { BodyTap } from '../capture/body-tap.ts'
import { bodyBytes, KeptBytes } from '../capture/kept-bytes.ts'
import type { Call } from '../request/call.ts'
import type { RequestEnd } from '../request/trace.ts'
import { findHeader } from '../upstream/headers.ts'
import { sealAnswer } from './kept-answer.ts'

export interface CachePlace {
  key: string
  routeId: string
  ttlMs: number
  bodyKey: BodyKey
}

/**
 * Copies an answer as it goes out to the client, and gives it to the cache when it has come to a good end: whole, with 200, and
 * with the usage that its provider reported. Whoever keeps bodies of the request for a policy sees them all the same.
 */
export class CacheTap implements BodyTap {
  readonly #call: Call
  readonly #place: CachePlace
  readonly #inner: BodyTap | null
  readonly #bytes: KeptBytes
  /** As the policies have it, which the key of the answer tells apart. */
  readonly #outputCap: number | null
  #contentType: string | null = null
  #isPlain = true

  constructor(call: Call, place: CachePlace, inner: BodyTap | null) {
    this.#call = call
    this.#place = place
    this.#inner = inner
    this.#outputCap = call.outputCap
    this.#bytes = new KeptBytes(call.gateway.captures)
  }

  answerHead(headers: readonly string[]): void {
    this.#inner?.answerHead(headers)
    this.#contentType = findHeader(headers, 'content-type')
    const encoding = findHeader(headers, 'content-encoding')
    if (encoding !== null && encoding !== 'identity') this.#isPlain = false
  }

  answer(bytes: Buffer): void {
    this.#inner?.answer(bytes)
    this.#bytes.add(bytes)
  }

  ownAnswer(headers: readonly string[], body: Buffer): void {
    this.#inner?.ownAnswer(headers, body)
    this.#isPlain = false
  }

  /** Nobody waits for the cache. */
  async journal(end: RequestEnd): Promise<void> {
    await this.#inner?.journal(end)
    const { trace, outputCap } = this.#call
    // What a translation lost is told with each answer. One that was cut to the room of a budget would be short for all others.
    const isPlain = this.#isPlain && trace.translation === null && outputCap === this.#outputCap
    const kept = isPlain && isGood(end) && this.#isWhole() ? Buffer.from(this.#bytes.bytes) : null
    this.#bytes.release()
    if (kept !== null) void this.#keep(kept, end)
  }

  #isWhole(): boolean {
    const { total, bytes } = this.#bytes
    return total > 0 && total <= bodyBytes && bytes.length === total
  }

  async #keep(body: Buffer, { tokens, detail }: RequestEnd): Promise<void> {
    const { gateway, id, inspection } = this.#call
    const { key, routeId, ttlMs, bodyKey } = this.#place
    const now = Date.now()
    const head = {
      ...{ contentType: this.#contentType ?? 'application/json', streamed: inspection.streamed },
      ...{ tokens, detail: detail ?? null, requestId: id, time: new Date(now).toISOString() },
    }
    const sealed = await sealAnswer(bodyKey, key, { head, body }).catch(() => null)
    if (sealed === null) return
    gateway.answers.keep({ kind: 'cache-put', key, routeId, expiresAt: now + ttlMs, keyId: bodyKey.id, sealed })
  }
}

/** Without usage, or with an estimate, it was cut, or comes from a provider that does not say what it used. */
function isGood({ status, error, tokens }: RequestEnd): boolean {
  return status === 200 && error === null && tokens !== null && tokens.source !== 'estimated'
}
