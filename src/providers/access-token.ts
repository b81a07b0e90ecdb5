import { asObject, asPositiveCount, asString, parseJson, parseObject } from '../core/json-value.ts'
import type { EgressOptions, OutboundRequest, ResponseSink, Transport, TransportFault } from './contract.ts'
import { PendingSending } from './deferred-sending.ts'
import { fetchWhole, type WholeAnswer, type WholeLimits } from './whole-answer.ts'
import { baseUrlProblem, joinBaseUrl } from './wire/base-url.ts'

/** One call, gathered whole. */
export type Ask = (request: OutboundRequest) => Promise<WholeAnswer>

/** Where access tokens are bought with a stored credential. */
export interface TokenSource {
  /** Tells sources apart; holds secrets. */
  key: string
  /** Buys one, with as many calls as that takes: `askForToken` makes the last of them. May throw `TokenRejected`. */
  sale(ask: Ask): Promise<Sale>
  /** The answer to the client's call where the token endpoint refuses the credential: a 401 in the lane's shape. */
  refusal(reason: string): { headers: string[]; body: Buffer }
}

/** `lifeSeconds`: null where it is not said. */
export type Sale = { token: string; lifeSeconds: number | null } | { refused: string } | { fault: TransportFault }

/** The credential cannot be used; the message is half a sentence for operators, and holds no secret. */
export class TokenRejected extends Error {}

type Outcome = { token: string } | { refused: string } | { fault: TransportFault }

interface Kept {
  token: string
  /** Epoch milliseconds. */
  renewAt: number
  endsAt: number
}

const limits: WholeLimits = { bytes: 64 * 1024, milliseconds: 10_000 }
const aheadMs = 5 * 60_000
const sourceLimit = 256

/** Tokens of one thread, by source. One that nears its end is renewed while it still serves; none is bought twice at once. */
const kept = new Map<string, Kept>()
const buying = new Map<string, Promise<Outcome>>()

/** Sends calls with a token of the source. `fresh`: one bought for this call, which proves the credential. */
export function withToken(transport: Transport, source: TokenSource, fresh = false): Transport {
  return {
    send: (request, sink) => {
      if (fresh) kept.delete(source.key)
      const call = new TokenCall(transport, source, request, sink)
      void call.begin()
      return call
    },
  }
}

class TokenCall extends PendingSending implements ResponseSink {
  readonly #transport: Transport
  readonly #source: TokenSource
  readonly #request: OutboundRequest
  readonly #sink: ResponseSink
  #token = ''
  /** The token was bought for an earlier call. */
  #old = false

  constructor(transport: Transport, source: TokenSource, request: OutboundRequest, sink: ResponseSink) {
    super()
    this.#transport = transport
    this.#source = source
    this.#request = request
    this.#sink = sink
  }

  async begin(): Promise<void> {
    const { egress = null } = this.#request
    const found = takeKept(this.#transport, this.#source, egress, Date.now())
    const outcome: Outcome = found === null ? await buy(this.#transport, this.#source, egress) : { token: found }
    if (this.aborted || !('token' in outcome)) dropBody(this.#request.body)
    if (this.aborted) return
    if ('fault' in outcome) return this.#sink.onError(outcome.fault)
    if ('refused' in outcome) return this.#refuse(outcome.refused)
    this.#token = outcome.token
    this.#old = found !== null
    const headers = [...this.#request.headers, 'authorization', `Bearer ${outcome.token}`]
    this.start(this.#transport.send({ ...this.#request, headers }, this))
  }

  #refuse(reason: string): void {
    const { headers, body } = this.#source.refusal(reason)
    this.#sink.onConnected()
    if (!this.aborted) this.#sink.onHead(401, headers)
    if (!this.aborted) this.#sink.onData(body)
    if (!this.aborted) this.#sink.onEnd()
  }

  onConnected(): void {
    this.#sink.onConnected()
  }

  /** A token may be ended before its time: the credential is refused only when a new one is. */
  onHead(status: number, received: string[]): void {
    const headers = withoutText(received, this.#token)
    if (status !== 401) return this.#sink.onHead(status, headers)
    if (kept.get(this.#source.key)?.token === this.#token) kept.delete(this.#source.key)
    const { body } = this.#request
    if (!this.#old || (body !== null && !Buffer.isBuffer(body))) return this.#sink.onHead(status, headers)
    this.abandon()
    void this.begin()
  }

  onData(chunk: Buffer): void {
    this.#sink.onData(chunk)
  }

  onEnd(): void {
    this.#sink.onEnd()
  }

  onError(fault: TransportFault): void {
    this.#sink.onError(fault)
  }
}

/** A header that says the token again goes no further. */
function withoutText(headers: string[], text: string): string[] {
  if (!headers.some((each) => each.includes(text))) return headers
  return headers.filter((_each, index) => !headers[index - (index % 2) + 1]!.includes(text))
}

/** Whoever fills it must learn that nobody takes it. */
function dropBody(body: OutboundRequest['body']): void {
  if (body !== null && !Buffer.isBuffer(body)) body.destroy()
}

function takeKept(transport: Transport, source: TokenSource, egress: EgressOptions | null, now: number): string | null {
  const found = kept.get(source.key)
  if (found === undefined || now >= found.endsAt) return null
  if (now >= found.renewAt) void buy(transport, source, egress)
  return found.token
}

function buy(transport: Transport, source: TokenSource, egress: EgressOptions | null): Promise<Outcome> {
  const running = buying.get(source.key)
  if (running !== undefined) return running
  const bought = buyOne(transport, source, egress).finally(() => buying.delete(source.key))
  buying.set(source.key, bought)
  return bought
}

/** Where the token is sold the provider's own way leads too. */
async function buyOne(transport: Transport, source: TokenSource, egress: EgressOptions | null): Promise<Outcome> {
  const ask: Ask = (request) => fetchWhole(transport, { egress, ...request }, limits)
  try {
    const sold = await source.sale(ask)
    return 'token' in sold ? { token: keep(source.key, sold.token, sold.lifeSeconds) } : sold
  } catch (error) {
    if (error instanceof TokenRejected) return { refused: error.message }
    throw error
  }
}

/** Where a credential says that tokens are sold. Throws `TokenRejected`. */
export function readAddress(url: string, path = ''): { origin: string; path: string } {
  if (baseUrlProblem(url) !== null)
    throw new TokenRejected('the address of its token endpoint is no URL of http or https')
  return joinBaseUrl(url, path)
}

/** The call that is answered with a token. */
export async function askForToken(
  ask: Ask,
  request: OutboundRequest,
  read: (body: Buffer) => { token: string; lifeSeconds: number | null } = readOauth,
): Promise<Sale> {
  const answer = await ask(request)
  if (answer.outcome === 'failed') return { fault: atTokenEndpoint(answer.fault) }
  if (answer.outcome !== 'answered') return { fault: unreachable('gave no answer that could be read') }
  const sold = read(answer.body)
  if (answer.status === 200 && sold.token !== '') return sold
  // RFC 6749 section 5.2: a refused client or grant is a 400 or 401 with a code. A 403 is Google's for who may not act as an account.
  if (![400, 401, 403].includes(answer.status)) return { fault: unreachable(`answered ${answer.status}`) }
  return { refused: describeRefusal(answer.status, asObject(parseJson(answer.body))?.error) }
}

/** RFC 6749, section 5.1. */
function readOauth(bytes: Buffer): { token: string; lifeSeconds: number | null } {
  const body = parseObject(bytes)
  return { token: asString(body?.access_token), lifeSeconds: asPositiveCount(body?.expires_in) }
}

function describeRefusal(status: number, code: unknown): string {
  return typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? `${status} ${code}` : String(status)
}

function keep(key: string, token: string, lifeSeconds: number | null): string {
  const lifeMs = (lifeSeconds ?? 60) * 1000
  const endsAt = Date.now() + lifeMs
  if (kept.size >= sourceLimit) kept.clear()
  // Never used to its very end: clocks differ, and a call takes time to arrive.
  kept.set(key, {
    token,
    renewAt: endsAt - Math.min(aheadMs, lifeMs / 5),
    endsAt: endsAt - Math.min(10_000, lifeMs / 10),
  })
  return token
}

function atTokenEndpoint(fault: TransportFault): TransportFault {
  return { kind: fault.kind, message: `No access token could be fetched: ${fault.message}` }
}

function unreachable(what: string): TransportFault {
  return { kind: 'unreachable', message: `No access token could be fetched: the token endpoint ${what}.` }
}
