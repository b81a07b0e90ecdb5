import type { Socket } from 'node:net'
import type { buildConnector, Dispatcher } from 'undici'
import buildConnectorOf from 'undici/lib/core/connect.js'
// Not undici's index: it holds fetch, caches and mocks, which every thread would carry.
import PoolClass from 'undici/lib/dispatcher/pool.js'
import { stallAwareTimeout } from '../core/threads/stall-aware-timeout.ts'
import type {
  BorrowedBody,
  EgressOptions,
  OutboundRequest,
  ResponseSink,
  Sending,
  Transport,
  TransportFault,
} from './contract.ts'
import { connectOptions, DestinationRejected } from './http-connect.ts'
import { type Dispatching, ProxiedOrigin } from './http-proxy.ts'
import { chooseProxy, type Proxies } from './proxy-choice.ts'
import { describeTransportError } from './transport-error.ts'

export interface HttpTransportOptions {
  /** Connections per origin; absent is no limit (a stream holds its connection for minutes). */
  connections?: number
  /** Largest head of an answer, in bytes. */
  maxHeaderSize?: number
  /** Calls to the gateway's own listener, wherever that is. */
  oneself?: true
  /** PEM: believed in place of the system's authorities, under whatever name it is reached. For calls to oneself. */
  trusted?: string
  /** null or absent: none. */
  proxies?: Proxies | null
  /** Some descriptors are kept for something else than new connections. */
  descriptors?: DescriptorReserve
}

interface DescriptorReserve {
  /** Whether a connection may be opened; if so, `opened` follows. */
  open(): boolean
  opened(): void
  /** Whether it took one of those that are kept: it is closed again. */
  isScarce(socket: Socket): boolean
}

/**
 * uvicorn (vLLM, SGLang) closes an idle connection after 5 s without saying so, and connecting to a plain HTTP server costs little;
 * behind TLS a new connection costs round trips, and the vendors' edges keep one for a minute and more.
 * A `keep-alive: timeout` from the provider is obeyed in both cases.
 */
const idleMs = { plain: 4_000, tls: 30_000 }
const maxIdleMs = 10 * 60_000
/** The call's own timer reports the limit; undici's, a little later, closes the socket that nobody waits for any more. */
const connectGraceMs = 500
const abandoned = new Error('The call was abandoned.')

/** By connect limit, so that a limit also closes the socket that it gave up on, and by origin. */
type Pools = Map<number, Map<string, Dispatching>>

/** As many egress options of providers' own as are kept open at once. */
const egressLimit = 64

/** The only caller of the network. Redirects are answers like any other: nobody follows them. */
export function createHttpTransport(options: HttpTransportOptions = {}): Transport & { close(): Promise<void> } {
  const standard: Pools = new Map()
  const byEgress = new Map<string, Pools>()

  function poolsOf(egress: EgressOptions): Pools {
    const known = byEgress.get(egress.key)
    if (known !== undefined) return known
    const [oldest] = byEgress.size >= egressLimit ? byEgress.keys() : []
    if (oldest !== undefined) {
      for (const pool of poolsIn(byEgress.get(oldest))) void pool.close()
      byEgress.delete(oldest)
    }
    const pools: Pools = new Map()
    byEgress.set(egress.key, pools)
    return pools
  }

  /** Throws `DestinationRejected`. */
  function openPool(pools: Pools, { origin, connectMs, egress = null }: OutboundRequest): Dispatching {
    const limits = {
      connections: options.connections ?? null,
      pipelining: 1,
      allowH2: false,
      bodyTimeout: 0,
      headersTimeout: 0,
      connectTimeout: connectMs + connectGraceMs,
      keepAliveTimeout: origin.startsWith('https:') ? idleMs.tls : idleMs.plain,
      keepAliveMaxTimeout: maxIdleMs,
      maxHeaderSize: options.maxHeaderSize ?? 64 * 1024,
    }
    const proxy = chooseProxy(origin, egress, options.proxies ?? null)
    const pool = proxy
      ? new ProxiedOrigin(origin, proxy, egress, limits)
      : new PoolClass(origin, { ...limits, connect: connectTo(origin, egress, limits.connectTimeout, options) })
    const sameLimit = pools.get(connectMs)
    if (sameLimit) sameLimit.set(origin, pool)
    else pools.set(connectMs, new Map([[origin, pool]]))
    return pool
  }

  return {
    send(request, sink) {
      const pools = request.egress ? poolsOf(request.egress) : standard
      const call = new HttpExchange(sink)
      const known = pools.get(request.connectMs)?.get(request.origin)
      if (known !== undefined) return call.start(known, request)
      try {
        return call.start(openPool(pools, request), request)
      } catch (error) {
        if (error instanceof DestinationRejected) return call.reject(error)
        throw error
      }
    },
    async close() {
      const open = [standard, ...byEgress.values()].flatMap(poolsIn)
      await Promise.all(open.map((pool) => pool.destroy()))
    },
  }
}

function poolsIn(pools: Pools | undefined): Dispatching[] {
  return [...(pools?.values() ?? [])].flatMap((sameLimit) => [...sameLimit.values()])
}

function connectTo(
  origin: string,
  egress: EgressOptions | null,
  timeout: number,
  { trusted, oneself, descriptors }: HttpTransportOptions,
): buildConnector.connector {
  const options = { ...connectOptions(origin, egress, oneself ?? false), allowH2: false, timeout }
  const connect = buildConnectorOf(trusted === undefined ? options : { ...options, ...trustOnly(trusted) })
  return reportAlerts(descriptors === undefined ? connect : leaveReserve(connect, descriptors))
}

function leaveReserve(connect: buildConnector.connector, descriptors: DescriptorReserve): buildConnector.connector {
  return (options, callback) => {
    if (!descriptors.open()) return callback(noDescriptor(), null)
    connect(options, (...found) => {
      descriptors.opened()
      const [error, socket] = found
      if (error !== null || socket === null || !descriptors.isScarce(socket)) return callback(...found)
      socket.destroy()
      callback(noDescriptor(), null)
    })
  }
}

function noDescriptor(): Error {
  return Object.assign(new Error('no descriptor left'), { code: 'EMFILE' })
}

/**
 * TLS 1.3 refuses a client's certificate once the connection stands for the client, by an alert and the end; undici would tell of the end
 * alone.
 */
function reportAlerts(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...found) => {
      found[1]?.prependListener('error', endByAlert)
      callback(...found)
    })
}

function endByAlert(this: Socket, error: Error): void {
  if ('code' in error && String(error.code).startsWith('ERR_SSL')) this.destroy(error)
}

/** A certificate is believed as it is, though its authority is unknown; its dates still count. */
function trustOnly(certificate: string) {
  return { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
}

/** As many interim answers (`103 Early Hints`) may come before the answer: an endless row of them keeps the thread busy. */
const mostInterim = 1000

/** One object per call: handler towards undici and `Sending` towards the caller, so that a call costs no closures. */
class HttpExchange implements Dispatcher.DispatchHandler, Sending {
  readonly #sink: ResponseSink
  #controller: Dispatcher.DispatchController | null = null
  #connectTimer: { cancel(): void } | null = null
  #starting = true
  /** Ended, failed or abandoned: the sink hears nothing more. */
  #done = false
  #paused = false
  #proxied = false
  #interim = 0

  constructor(sink: ResponseSink) {
    this.#sink = sink
  }

  /** Where no connection may lead; the caller must first get its `Sending`. */
  reject(error: DestinationRejected): this {
    queueMicrotask(() => this.fail(describeTransportError(error, false)))
    return this
  }

  start(pool: Dispatching, request: OutboundRequest): this {
    const { body, borrowed = null } = request
    this.#proxied = pool instanceof ProxiedOrigin
    const counted = borrowed !== null && Buffer.isBuffer(body)
    pool.dispatch(
      {
        method: request.method as Dispatcher.HttpMethod,
        path: request.path,
        headers: counted ? [...request.headers, 'content-length', String(body.length)] : request.headers,
        body: counted ? inOnePiece(body, borrowed) : body,
      },
      this,
    )
    this.#starting = false
    // A pooled connection takes the request now, or within this turn if it has rested: only a new one pays for a timer.
    if (!this.#controller && !this.#done) setImmediate(limitConnecting, this, request.connectMs)
    return this
  }

  limitConnecting(connectMs: number): void {
    if (!this.#controller && !this.#done)
      this.#connectTimer = stallAwareTimeout(connectMs, () => this.#giveUpConnecting(connectMs))
  }

  #giveUpConnecting(connectMs: number): void {
    this.fail({ kind: 'connect-timeout', message: `No connection to the provider within ${connectMs} ms.` })
  }

  abort(): void {
    if (this.#done) return
    this.#finish()
    this.#controller?.abort(abandoned)
  }

  pause(): void {
    this.#paused = true
    this.#controller?.pause()
  }

  resume(): void {
    this.#paused = false
    if (!this.#done) this.#controller?.resume()
  }

  fail(fault: TransportFault): void {
    if (this.#done) return
    this.#finish()
    this.#sink.onError(fault)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#done) {
      controller.abort(abandoned)
      return
    }
    this.#controller = controller
    this.#stopWaiting()
    if (this.#paused) controller.pause()
    this.#sink.onConnected()
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#done) return
    if (status < 200) return this.#countInterim()
    const list: string[] = []
    for (const name in headers) {
      const value = headers[name]
      if (typeof value === 'string') list.push(name, value)
      else if (value) for (const each of value) list.push(name, each)
    }
    this.#sink.onHead(status, list)
  }

  #countInterim(): void {
    this.#interim++
    if (this.#interim <= mostInterim) return
    this.fail({ kind: 'protocol', message: `The provider sent more than ${mostInterim} interim answers and no other.` })
    this.#controller?.abort(abandoned)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#done) this.#sink.onData(chunk)
  }

  onResponseEnd(): void {
    if (this.#done) return
    this.#finish()
    this.#sink.onEnd()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#done) return
    const fault = describeTransportError(error, this.#controller !== null, this.#proxied)
    // undici reports a bad argument from within `dispatch`: the caller must first get its `Sending`.
    if (this.#starting) queueMicrotask(() => this.fail(fault))
    else this.fail(fault)
  }

  #finish(): void {
    this.#done = true
    this.#stopWaiting()
  }

  #stopWaiting(): void {
    this.#connectTimer?.cancel()
    this.#connectTimer = null
  }
}

/**
 * undici asks an iterable for more when the socket has drained or is closed; given the bytes themselves, it reports neither. Only bodies
 * larger than a socket's own buffer make it wait.
 */
function inOnePiece(body: Buffer, borrowed: BorrowedBody): Iterable<Buffer> {
  const release = borrowed.borrow()
  const pieces = function* () {
    yield body
    release()
  }
  return pieces()
}

function limitConnecting(call: HttpExchange, connectMs: number): void {
  call.limitConnecting(connectMs)
}
