import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import type { BodyHead, BodyNote, BodyPart, CapturedBody } from '../core/capture.ts'
import type { BodyEntry } from '../core/journal-format.ts'
import { type Find, maskPlainText } from '../policy/detectors/mask-text.ts'
import type { EffectivePolicy } from '../policy/effective.ts'
import { type BodyKey, sealBody } from '../sealing/body-seal.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { findHeader } from './headers.ts'
import { bodyBytes, KeptBytes, marginBytes } from './kept-bytes.ts'
import { chooseFind, isKept, maskBody } from './mask-body.ts'

const compress = promisify(zstdCompress)

/** Begins to keep the bodies of a request, where its policies say so. */
export function beginCapture(gateway: Gateway, exchange: Exchange, wanted: EffectivePolicy['capture']): void {
  if (wanted === null) return
  exchange.policySignals.push(wanted.signal)
  const { bodyKey } = gateway.model.configuration
  if (wanted.mode === 'none') return
  if (bodyKey === null) noteLoss(exchange, 'there is no key to seal them with')
  else exchange.capture = new Capture(gateway, bodyKey, wanted.mode)
}

/** What flows both ways has no body; the record says so, where a policy wanted one. */
export function skipCapture(exchange: Exchange, wanted: EffectivePolicy['capture']): void {
  if (wanted === null) return
  exchange.policySignals.push(wanted.signal)
  if (wanted.mode !== 'none') noteLoss(exchange, 'the frames of a WebSocket are not captured')
}

/**
 * The bodies of one request, on their way into the journal: the request's stays where it is, of the answer's the
 * beginning is copied as it goes out. Masked, compressed and sealed here, so that neither journal nor database has them in clear.
 */
export class Capture {
  readonly #gateway: Gateway
  readonly #key: BodyKey
  readonly #mode: BodyNote['mode']
  readonly #answer: KeptBytes
  #answerType: string | null = null

  constructor(gateway: Gateway, key: BodyKey, mode: BodyNote['mode']) {
    this.#gateway = gateway
    this.#key = key
    this.#mode = mode
    this.#answer = new KeptBytes(gateway.captures)
  }

  /** The head of the answer, as a flat list of names in lower case and values. */
  answerHead(headers: readonly string[]): void {
    const encoding = findHeader(headers, 'content-encoding')
    const type = findHeader(headers, 'content-type')
    this.#answerType = encoding === null || encoding === 'identity' ? type : `${encoding} of ${type ?? 'unknown'}`
  }

  /** An answer that the gateway gives itself. */
  ownAnswer(headers: readonly string[], body: Buffer): void {
    this.answerHead(headers)
    this.answer(body)
  }

  /** What goes out to the client, as it goes out. */
  answer(bytes: Buffer): void {
    this.#answer.add(bytes)
  }

  /** Appends what was kept; before the settled entry, which stands whatever comes of this. */
  async journal(exchange: Exchange): Promise<void> {
    try {
      const find = chooseFind(this.#mode, secretsOf(this.#gateway, exchange))
      const request = await this.#entry(exchange, 'request', find)
      const answer = await this.#entry(exchange, 'answer', find)
      // Bodies never take the room of records.
      if (this.#gateway.journal.degraded !== null) return noteLoss(exchange, 'the journal cannot be written')
      void this.#gateway.journal.append(request)
      if (answer.bytes > 0) void this.#gateway.journal.append(answer)
    } catch (error) {
      noteLoss(exchange, error instanceof Error ? error.message : String(error))
    } finally {
      this.#answer.release()
    }
  }

  async #entry(exchange: Exchange, part: BodyPart, find: Find): Promise<BodyEntry> {
    const asked = part === 'request'
    const type = asked ? exchange.header('content-type') : this.#answerType
    const bytes = asked ? exchange.body.subarray(0, bodyBytes + marginBytes) : this.#answer.bytes
    const whole = asked ? (exchange.upload?.received ?? exchange.body.length) : this.#answer.total
    const kept = isKept(type)
    const { text, places } = kept ? await maskBody(bytes.toString('utf8'), type, find) : { text: '', places: 0 }
    const truncated = kept && whole > bodyBytes
    const content = kept ? (truncated ? cutText(text) : text) : null
    const head = asked ? headOf(exchange, find) : null
    const clear = Buffer.from(JSON.stringify({ head, content } satisfies CapturedBody))
    const sealed = sealBody(this.#key, exchange.id, part, await compress(clear))
    const note = { mode: this.#mode, type, bytes: whole, truncated, masked: places > 0 }
    return { kind: 'body', id: exchange.id, part, ...note, key: this.#key.id, sealed: sealed.toString('base64') }
  }
}

/** A character that the bound cuts in two is left out. */
function cutText(text: string): string {
  const bytes = Buffer.from(text).subarray(0, bodyBytes)
  return bytes.toString('utf8').replace(/\ufffd{1,3}$/, '')
}

/** What an SDK says besides the body that makes the call another one. */
const keptHeaders = ['content-type', 'accept', 'anthropic-version', 'anthropic-beta', 'openai-beta'] as const
/** Whoever has the id of a resumable upload may write to it. */
const credentialParameters = ['key', 'access_token', 'upload_id']

function headOf(exchange: Exchange, find: Find): BodyHead {
  const headers = keptHeaders.flatMap((name) => {
    const value = exchange.header(name)
    return value === null ? [] : [[name, plain(value, find)] as const]
  })
  const query = stripCredentials(exchange.query)
  return {
    method: exchange.request.method ?? 'GET',
    path: plain(exchange.path + query, find),
    headers: Object.fromEntries(headers),
  }
}

function stripCredentials(query: string): string {
  if (!credentialParameters.some((name) => query.includes(`${name}=`))) return query
  const parameters = new URLSearchParams(query)
  for (const name of credentialParameters) parameters.delete(name)
  return parameters.size === 0 ? '' : `?${parameters}`
}

function plain(text: string, find: Find): string {
  return maskPlainText(text, find).text
}

/** What must not be kept whatever the mode: the key it came with, and the credentials it was sent with. */
function secretsOf({ model }: Gateway, { presented, attempts }: Exchange): string[] {
  const tried = new Set(attempts.map(({ provider }) => provider))
  const providers = [...model.configuration.providers.values()].filter(({ row }) => tried.has(row.name))
  const credentials = providers.flatMap((provider) =>
    provider.credentials.flatMap((credential) => credential?.parts() ?? []),
  )
  return presented === null ? credentials : [presented, ...credentials]
}

function noteLoss(exchange: Exchange, reason: string): void {
  exchange.policySignals.push({ rule: 'capture', verdict: 'note', text: `The bodies were not kept: ${reason}.` })
}
