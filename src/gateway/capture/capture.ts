import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import type { BodyHead, BodyNote, BodyPart, CapturedBody } from '../../core/capture.ts'
import { errorText } from '../../core/caught.ts'
import type { BodyEntry } from '../../core/journal-format.ts'
import type { EffectivePolicy } from '../../policy/effective.ts'
import { type BodyKey, sealBody } from '../../sealing/body-seal.ts'
import type { Arrival } from '../request/arrival.ts'
import type { RequestCaller } from '../request/call.ts'
import { findHeader } from '../upstream/headers.ts'
import type { BodyTap } from './body-tap.ts'
import { bodyBytes, KeptBytes, marginBytes } from './kept-bytes.ts'
import type { BodyMask } from './mask-body.ts'

const compress = promisify(zstdCompress)

/** Begins to keep the bodies of a request, where its policies say so. */
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

/** What flows both ways has no body; the record says so, where a policy wanted one. */
export function skipCapture(arrival: Arrival, wanted: EffectivePolicy['capture']): void {
  if (wanted === null) return
  arrival.trace.policySignals.push(wanted.signal)
  if (wanted.mode !== 'none') recordLoss(arrival, 'the frames of a WebSocket are not captured')
}

/**
 * The bodies of one request, on their way into the journal: the request's stays where it is, of the answer's the
 * beginning is copied as it goes out. Masked, compressed and sealed here, so that neither journal nor database has them in clear.
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
    this.#answer = new KeptBytes(arrival.gateway.captures)
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
    // The request of a thread that crashes may end before this does.
    const release = body.lease?.borrow()
    try {
      // Nobody needs it where no policy wants bodies, and it is memory.
      const { BodyMask } = await import('./mask-body.ts')
      const mask = new BodyMask(this.#keeps.mode, secretsOf(this.#arrival, this.#caller))
      const request = await this.#requestEntry(mask)
      const answer = this.#answer.total === 0 ? null : await this.#answerEntry(mask)
      // Bodies never take the room of records.
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
    // A body that went up while it came is not here any more.
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
  /** Of the whole body. */
  total: number
  head: BodyHead | null
}

/** Where the bytes end before the body does, a secret may too: so the last of them go. Nor is half a character left. */
function cutText(text: string, cut: boolean): string {
  const bytes = Buffer.from(text)
  const end = cut ? Math.max(0, bytes.length - marginBytes) : bytes.length
  const kept = bytes.subarray(0, Math.min(bodyBytes, end))
  return kept.toString('utf8').replace(/\ufffd{1,3}$/, '')
}

/** What an SDK says besides the body that makes the call another one. */
const keptHeaders = ['content-type', 'accept', 'anthropic-version', 'anthropic-beta', 'openai-beta'] as const
/** Whoever has the id of a resumable upload may write to it. */
const credentialParameters = ['key', 'access_token', 'upload_id']

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
  if (!credentialParameters.some((name) => query.includes(`${name}=`))) return query
  const parameters = new URLSearchParams(query)
  for (const name of credentialParameters) parameters.delete(name)
  return parameters.size === 0 ? '' : `?${parameters}`
}

/** What must not be kept whatever the mode: the key it came with, and the credentials it was sent with. */
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
