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
 * Copies an answer as it is sent to the client, and stores it in the cache if it ended well: complete, with 200, and with usage reported by
 * the provider. A policy that captures bodies still gets them.
 */
export class CacheTap implements BodyTap {
  readonly #call: Call
  readonly #place: CachePlace
  readonly #inner: BodyTap | null
  readonly #bytes: KeptBytes
  /** The cap that the policies set, which is part of the cache key. */
  readonly #outputCap: number | null
  #contentType: string | null = null
  #isPlain = true

  constructor(call: Call, place: CachePlace, inner: BodyTap | null) {
    this.#call = call
    this.#place = place
    this.#inner = inner
    this.#outputCap = call.outputCap
    this.#bytes = new KeptBytes(call.gateway.captureBudget)
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

  /** Storing in the cache is not awaited. */
  async journal(end: RequestEnd): Promise<void> {
    await this.#inner?.journal(end)
    const { trace, outputCap } = this.#call
    // Not cached: a translation's losses must be reported with each answer, and an answer capped by a budget would be too short for others.
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
    gateway.answerCache.keep({ kind: 'cache-put', key, routeId, expiresAt: now + ttlMs, keyId: bodyKey.id, sealed })
  }
}

/** Without reported usage the answer was cut off, or its provider reports none. */
function isGood({ status, error, tokens }: RequestEnd): boolean {
  return status === 200 && error === null && tokens !== null && tokens.source !== 'estimated'
}
