import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import type { BodyHead, BodyNote, BodyPart, CapturedBody } from '../../core/capture.ts'
import { errorText } from '../../core/caught.ts'
import type { BodyEntry } from '../../core/journal-format.ts'
import { isSecretParameter } from '../../core/secrets/address-credentials.ts'
import type { EffectivePolicy } from '../../policy/effective.ts'
import { type BodyKey, sealBody } from '../../sealing/body-seal.ts'
import type { Arrival } from '../request/arrival.ts'
import type { RequestCaller } from '../request/call.ts'
import { findHeader } from '../upstream/headers.ts'
import type { BodyTap } from './body-tap.ts'
import { bodyBytes, KeptBytes, marginBytes } from './kept-bytes.ts'
import type { BodyMask } from './mask-body.ts'

const compress = promisify(zstdCompress)

/** Starts capturing the bodies of a request, if its policies ask for it. */
export function beginCapture(
  arrival: Arrival,
  caller: RequestCaller,
  wanted: NonNullable<EffectivePolicy['capture']>,
): void {
  arrival.trace.policySignals.push(wanted.signal)
  const { bodyKey } = arrival.gateway.model.configuration
  const { mode, retention } = wanted
  if (mode === 'none') return
  if (bodyKey === null) return recordLoss(arrival, 'there is no key to seal them with')
  if (retention !== null) arrival.trace.policySignals.push(retention.signal)
  const until = retention === null ? null : arrival.receivedAt + retention.ms
  arrival.capture = new Capture(arrival, caller, bodyKey, { mode, until })
}

/** A connection that streams in both directions has no body. The record says so if a policy asked for one. */
export function skipCapture(arrival: Arrival, wanted: EffectivePolicy['capture']): void {
  if (wanted === null) return
  arrival.trace.policySignals.push(wanted.signal)
  if (wanted.mode !== 'none') recordLoss(arrival, 'the frames of a WebSocket are not captured')
}

/**
 * The bodies of one request on their way into the journal. The request's body stays where it is; the beginning of the answer is copied as
 * it is sent. They are masked, compressed and sealed here, so that neither journal nor database contains them in clear text.
 */
class Capture implements BodyTap {
  readonly #arrival: Arrival
  readonly #caller: RequestCaller
  readonly #key: BodyKey
  readonly #keeps: { mode: BodyNote['mode']; until: number | null }
  readonly #answer: KeptBytes
  #answerType: string | null = null

  constructor(
    arrival: Arrival,
    caller: RequestCaller,
    key: BodyKey,
    keeps: { mode: BodyNote['mode']; until: number | null },
  ) {
    this.#arrival = arrival
    this.#caller = caller
    this.#key = key
    this.#keeps = keeps
    this.#answer = new KeptBytes(arrival.gateway.captureBudget)
  }

  answerHead(headers: readonly string[]): void {
    const encoding = findHeader(headers, 'content-encoding')
    const type = findHeader(headers, 'content-type')
    this.#answerType = encoding === null || encoding === 'identity' ? type : `${encoding} of ${type ?? 'unknown'}`
  }

  answer(bytes: Buffer): void {
    this.#answer.add(bytes)
  }

  ownAnswer(headers: readonly string[], body: Buffer): void {
    this.answerHead(headers)
    this.answer(body)
  }

  async journal(): Promise<void> {
    const { gateway, body } = this.#arrival
    const { journal } = gateway
    // On a thread that crashes, the request may end before this does.
    const release = body.lease?.borrow()
    try {
      // Loaded only if a policy captures bodies, to save memory.
      const { BodyMask } = await import('./mask-body.ts')
      const mask = new BodyMask(this.#keeps.mode, secretsOf(this.#arrival, this.#caller))
      const request = await this.#requestEntry(mask)
      const answer = this.#answer.total === 0 ? null : await this.#answerEntry(mask)
      // Records come first: bodies must not take their place in the journal.
      if (journal.degraded !== null) return recordLoss(this.#arrival, 'the journal cannot be written')
      void journal.append(request)
      if (answer !== null) void journal.append(answer)
    } catch (error) {
      recordLoss(this.#arrival, errorText(error))
    } finally {
      release?.()
      this.#answer.release()
    }
  }

  #requestEntry(mask: BodyMask): Promise<BodyEntry> {
    const { body } = this.#arrival
    const bytes = body.bytes.subarray(0, bodyBytes + marginBytes)
    const total = body.upload?.received ?? body.bytes.length
    // A body that was streamed up is not in memory any more.
    const unnamed = body.upload === null ? null : 'application/octet-stream'
    const type = this.#arrival.header('content-type') ?? unnamed
    const head = headOf(this.#arrival, this.#caller, mask)
    return this.#entry('request', { type, bytes, total, head }, mask)
  }

  #answerEntry(mask: BodyMask): Promise<BodyEntry> {
    const { bytes, total } = this.#answer
    return this.#entry('answer', { type: this.#answerType, bytes, total, head: null }, mask)
  }

  async #entry(part: BodyPart, { type, bytes, total, head }: TappedBody, mask: BodyMask): Promise<BodyEntry> {
    const masked = await mask.body(bytes, type)
    const cut = bytes.length < total
    const truncated = masked !== null && (cut || total > bodyBytes)
    const content = masked === null ? null : truncated ? cutText(masked.text, cut) : masked.text
    const clear = Buffer.from(JSON.stringify({ head, content } satisfies CapturedBody))
    const { id } = this.#arrival
    const sealed = sealBody(this.#key, id, part, await compress(clear)).toString('base64')
    const { mode, until } = this.#keeps
    const note = { mode, type, bytes: total, truncated, masked: masked !== null && masked.places > 0 }
    return { kind: 'body', id, part, ...note, key: this.#key.id, ...(until !== null && { until }), sealed }
  }
}

interface TappedBody {
  type: string | null
  bytes: Buffer
  /** The length of the whole body. */
  total: number
  head: BodyHead | null
}

/** Removes the end of a cut-off text, where a secret or a character may be cut in two. */
function cutText(text: string, cut: boolean): string {
  const bytes = Buffer.from(text)
  const end = cut ? Math.max(0, bytes.length - marginBytes) : bytes.length
  const kept = bytes.subarray(0, Math.min(bodyBytes, end))
  return kept.toString('utf8').replace(/\ufffd{1,3}$/, '')
}

/** Headers of an SDK, besides the body, that change what the call does. */
const keptHeaders = ['content-type', 'accept', 'anthropic-version', 'anthropic-beta', 'openai-beta'] as const

function headOf(arrival: Arrival, caller: RequestCaller, mask: BodyMask): BodyHead {
  const headers = keptHeaders.flatMap((name) => {
    const value = arrival.header(name)
    return value === null ? [] : [[name, mask.line(value)] as const]
  })
  const query = stripCredentials(caller.query)
  return {
    method: arrival.request.method ?? 'GET',
    path: mask.line(arrival.path + query),
    headers: Object.fromEntries(headers),
  }
}

function stripCredentials(query: string): string {
  const parameters = new URLSearchParams(query)
  const names = [...parameters.keys()]
  // The id of a resumable upload lets anybody write to it.
  const secret = names.filter((name) => name === 'upload_id' || isSecretParameter(name))
  if (secret.length === 0) return query
  for (const name of secret) parameters.delete(name)
  return parameters.size === 0 ? '' : `?${parameters}`
}

/** Secrets that are never captured, whatever the mode: the request's key, and the credentials that it was sent with. */
function secretsOf({ gateway: { model }, trace }: Arrival, { presented }: RequestCaller): string[] {
  const tried = new Set(trace.attempts.map(({ provider }) => provider))
  const providers = [...model.configuration.providers.values()].filter(({ row }) => tried.has(row.name))
  const credentials = providers.flatMap((provider) =>
    provider.credentials.flatMap((credential) => credential?.parts() ?? []),
  )
  return presented === null ? credentials : [presented, ...credentials]
}

function recordLoss({ trace }: Arrival, reason: string): void {
  trace.policySignals.push({ rule: 'capture', verdict: 'note', text: `The bodies were not kept: ${reason}.` })
}
