import { asObject, asPositiveCount, asString, parseJson, parseObject } from '../core/json/json-value.ts'
import type { EgressOptions, OutboundRequest, ResponseSink, Transport, TransportFault } from './contract.ts'
import { PendingSending } from './deferred-sending.ts'
import { fetchWhole, type WholeAnswer, type WholeLimits } from './whole-answer.ts'
import { baseUrlProblem, joinBaseUrl } from './wire/base-url.ts'

/** One call, gathered whole. */
export type Ask = (request: OutboundRequest) => Promise<WholeAnswer>

/** Where access tokens are issued for a stored credential. */
export interface TokenSource {
  /** Identifies the source; holds secrets. */
  key: string
  /** Gets a token with as many calls as that takes; `askForToken` makes the last of them. May throw `TokenRejected`. */
  issue(ask: Ask): Promise<IssuedToken>
  /** The answer to the client's call when the token endpoint rejects the credential: a 401 in the lane's shape. */
  rejection(reason: string): { headers: string[]; body: Buffer }
}

/** `lifeSeconds`: null when the endpoint does not say it. */
export type IssuedToken =
  | { token: string; lifeSeconds: number | null }
  | { refused: string }
  | { fault: TransportFault }

/** The credential cannot be used; the message is half a sentence for operators, and holds no secret. */
export class TokenRejected extends Error {}

type TokenOutcome = { token: string } | { refused: string } | { fault: TransportFault }

interface KeptToken {
  token: string
  /** Epoch milliseconds. */
  renewAt: number
  endsAt: number
}

const limits: WholeLimits = { bytes: 64 * 1024, milliseconds: 10_000 }
const aheadMs = 5 * 60_000
const sourceLimit = 256

/** Tokens of one thread, by source. A token near its end is renewed while it is still used; no token is fetched twice at once. */
const kept = new Map<string, KeptToken>()
const inFlight = new Map<string, Promise<TokenOutcome>>()

/** Sends calls with a token of the source. `fresh`: a new one for this call, which proves the credential. */
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
  /** The token was fetched for an earlier call. */
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
    const outcome: TokenOutcome =
      found === null ? await fetchToken(this.#transport, this.#source, egress) : { token: found }
    if (this.aborted || !('token' in outcome)) dropBody(this.#request.body)
    if (this.aborted) return
    if ('fault' in outcome) return this.#sink.onError(outcome.fault)
    if ('refused' in outcome) return this.#reject(outcome.refused)
    this.#token = outcome.token
    this.#old = found !== null
    const headers = [...this.#request.headers, 'authorization', `Bearer ${outcome.token}`]
    this.start(this.#transport.send({ ...this.#request, headers }, this))
  }

  #reject(reason: string): void {
    const { headers, body } = this.#source.rejection(reason)
    this.#sink.onConnected()
    if (!this.aborted) this.#sink.onHead(401, headers)
    if (!this.aborted) this.#sink.onData(body)
    if (!this.aborted) this.#sink.onEnd()
  }

  onConnected(): void {
    this.#sink.onConnected()
  }

  /** A token may be revoked early: the credential is rejected only when a new token is. */
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

/** A header of the answer that repeats the token is not passed on. */
function withoutText(headers: string[], text: string): string[] {
  if (!headers.some((each) => each.includes(text))) return headers
  return headers.filter((_each, index) => !headers[index | 1]?.includes(text))
}

/** The producer of the body must learn that nobody reads it. */
function dropBody(body: OutboundRequest['body']): void {
  if (body !== null && !Buffer.isBuffer(body)) body.destroy()
}

function takeKept(transport: Transport, source: TokenSource, egress: EgressOptions | null, now: number): string | null {
  const found = kept.get(source.key)
  if (found === undefined || now >= found.endsAt) return null
  if (now >= found.renewAt) void fetchToken(transport, source, egress)
  return found.token
}

function fetchToken(transport: Transport, source: TokenSource, egress: EgressOptions | null): Promise<TokenOutcome> {
  const running = inFlight.get(source.key)
  if (running !== undefined) return running
  const fetching = fetchOnce(transport, source, egress).finally(() => inFlight.delete(source.key))
  inFlight.set(source.key, fetching)
  return fetching
}

/** The token endpoint is called with the provider's own egress options. */
async function fetchOnce(
  transport: Transport,
  source: TokenSource,
  egress: EgressOptions | null,
): Promise<TokenOutcome> {
  const ask: Ask = (request) => fetchWhole(transport, { egress, ...request }, limits)
  try {
    const issued = await source.issue(ask)
    return 'token' in issued ? { token: keep(source.key, issued.token, issued.lifeSeconds) } : issued
  } catch (error) {
    if (error instanceof TokenRejected) return { refused: error.message }
    throw error
  }
}

/** The token endpoint that a credential names. Throws `TokenRejected`. */
export function readAddress(url: string, path = ''): { origin: string; path: string } {
  if (baseUrlProblem(url) !== null)
    throw new TokenRejected('the address of its token endpoint is not an http or https URL')
  return joinBaseUrl(url, path)
}

/** Makes the call that is answered with a token. */
export async function askForToken(
  ask: Ask,
  request: OutboundRequest,
  read: (body: Buffer) => { token: string; lifeSeconds: number | null } = readOauth,
): Promise<IssuedToken> {
  const answer = await ask(request)
  if (answer.outcome === 'failed') return { fault: atTokenEndpoint(answer.fault) }
  if (answer.outcome !== 'answered') return { fault: unreachable('gave no answer that could be read') }
  const issued = read(answer.body)
  if (answer.status === 200 && issued.token !== '') return issued
  // RFC 6749 section 5.2: a rejected client or grant is a 400 or 401 with a code. Google answers 403 to who may not act as an account.
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
  // A token is not used until its very end: clocks differ, and a call takes time to arrive.
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
