import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { stallAwareTimeout } from '../core/threads/stall-aware-timeout.ts'
import type { OutboundRequest, ResponseSink, Sending, Transport, TransportFault } from './contract.ts'
import type { Proxies } from './proxy-choice.ts'
import { chooseConnection, type SocketOptions } from './socket-connect.ts'
import { HeldSocket, Peer, socketOptions } from './socket-peer.ts'
import { describeTransportError } from './transport-error.ts'

/**
 * The handshake with a provider as a call: an answer other than 101 goes to the sink like any other, so that it is classified, retried
 * and passed on like any other. Once the connection is open, `peer` is its end.
 */
export class Handshake implements Transport {
  readonly #maxFrame: number
  readonly #more: readonly string[]
  readonly #proxies: Proxies | null
  peer: Peer | null = null

  /** `more`: headers in addition to those of the call. No subprotocol is requested: a server without any would have to reject the handshake. */
  constructor(maxFrame: number, more: readonly string[], proxies: Proxies | null) {
    this.#maxFrame = maxFrame
    this.#more = more
    this.#proxies = proxies
  }

  send(request: OutboundRequest, sink: ResponseSink): Sending {
    const dial = new Dial(sink, request.connectMs)
    void this.#start(request, dial)
    return { abort: () => dial.abort(), pause: () => {}, resume: () => {} }
  }

  async #start(request: OutboundRequest, dial: Dial): Promise<void> {
    try {
      const connection = await chooseConnection(request, this.#proxies, (tunnel) => dial.own(() => tunnel.destroy()))
      if (!dial.done) this.#dial(request, connection, dial)
    } catch (error) {
      // What fails here is the way through a proxy.
      dial.fail(describeTransportError(error instanceof Error ? error : new Error(String(error)), false, true))
    }
  }

  #dial(request: OutboundRequest, connection: SocketOptions, dial: Dial): void {
    const { headers, path } = withKeyInQuery(request)
    const socket = new HeldSocket(request.origin.replace(/^http/, 'ws') + path, [], {
      ...socketOptions,
      ...connection,
      headers: groupHeaders([...headers, ...this.#more]),
      maxPayload: this.#maxFrame,
      followRedirects: false,
      finishRequest: (outgoing: ClientRequest) => dial.begin(outgoing),
    })
    dial.own(() => socket.terminate())
    socket.on('error', (error) => dial.fail(describeTransportError(error, dial.connected)))
    let raw: Socket | null = null
    socket.once('upgrade', (response: IncomingMessage) => {
      raw = response.socket
      dial.recordHead(response)
    })
    socket.once('unexpected-response', (_request: ClientRequest, response: IncomingMessage) =>
      dial.passAnswer(response),
    )
    socket.once('open', () => {
      // An upgrade comes before every opening.
      if (raw === null) return socket.terminate()
      const peer = new Peer(socket, raw)
      if (!dial.done) this.peer = peer
      if (!dial.open()) peer.terminate()
    })
  }
}

/** One attempt at a handshake. Its end is reported once. */
class Dial {
  readonly #sink: ResponseSink
  readonly #connectTimer: { cancel(): void }
  #head: string[] = []
  #drop: () => void = () => {}
  done = false
  connected = false

  constructor(sink: ResponseSink, connectMs: number) {
    this.#sink = sink
    const message = `No connection to the provider within ${connectMs} ms.`
    this.#connectTimer = stallAwareTimeout(connectMs, () => this.fail({ kind: 'connect-timeout', message }))
  }

  begin(outgoing: ClientRequest): void {
    outgoing.once('socket', (connection) => {
      // Through a proxy it may be open already.
      if ('encrypted' in connection) connection.once('secureConnect', () => this.#onConnected())
      else if (connection.connecting) connection.once('connect', () => this.#onConnected())
      else this.#onConnected()
    })
    outgoing.end()
  }

  #onConnected(): void {
    this.#connectTimer.cancel()
    this.connected = true
    if (!this.done) this.#sink.onConnected()
  }

  /** What to close when nobody waits for it any more. */
  own(drop: () => void): void {
    this.#drop = drop
    if (this.done) drop()
  }

  recordHead(response: IncomingMessage): void {
    this.#head = flatHeaders(response)
  }

  /** False when nobody waits for it any more. */
  open(): boolean {
    if (!this.#finish()) return false
    this.#sink.onHead(101, this.#head)
    return true
  }

  passAnswer(response: IncomingMessage): void {
    if (this.done) return void response.destroy()
    this.#sink.onHead(response.statusCode ?? 0, flatHeaders(response))
    response.on('data', (chunk: Buffer) => !this.done && this.#sink.onData(chunk))
    response.once('end', () => this.#finish() && this.#sink.onEnd())
    response.once('error', (error) => this.fail(describeTransportError(error, true)))
  }

  fail(fault: TransportFault): void {
    if (!this.#finish()) return
    this.#drop()
    queueMicrotask(() => this.#sink.onError(fault))
  }

  abort(): void {
    if (this.#finish()) this.#drop()
  }

  #finish(): boolean {
    this.#connectTimer.cancel()
    const first = !this.done
    this.done = true
    return first
  }
}

/** Google documents the key of a WebSocket in the query, and so its SDKs send it; a token for clients has a name of its own there. */
function withKeyInQuery({ path, headers }: OutboundRequest): { path: string; headers: string[] } {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name === 'x-goog-api-key')
  const key = headers[at + 1]
  if (at < 0 || key === undefined) return { path, headers }
  const name = key.startsWith('auth_tokens/') ? 'access_token' : 'key'
  return {
    path: `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(key).replaceAll('%2F', '/')}`,
    headers: headers.toSpliced(at, 2),
  }
}

function groupHeaders(flat: readonly string[]): Record<string, string | string[]> {
  const grouped: Record<string, string | string[]> = {}
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const [name = '', value = ''] = flat.slice(index, index + 2)
    const before = grouped[name]
    grouped[name] = before === undefined ? value : [...(typeof before === 'string' ? [before] : before), value]
  }
  return grouped
}

function flatHeaders({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text))
}
