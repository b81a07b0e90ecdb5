import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { StreamEvent, StreamFramer } from '../core/bytes/stream-event.ts'
import { errorCode } from '../core/caught.ts'
import { AnswerLost, GatewayNotRunning, OperationFailed, SocketForbidden } from './client-fault.ts'
import { socketHost } from './contract/socket-host.ts'

/** Where a gateway is called: its admin socket, or its console's address with an API token. */
export type Destination = { kind: 'socket'; path: string } | { kind: 'remote'; url: URL; token: string }

export interface CallerOptions {
  destination: Destination
  /** Sent as `x-spgw-version`; the gateway answers with its own. */
  version: string
  /** Who calls, for the audit. */
  surface: 'cli' | 'tui'
  /** How long a refused dial is tried again, for a gateway that is still starting. */
  waitMs: number
  /** Asked once a part of that is over: whether nobody is there who could still be starting. */
  hasEnded?: (() => boolean) | undefined
  /** What to do where no gateway runs at the socket; absent: the usual advice. */
  startHint?: string
  /** What to do when the answer of an operation was lost. */
  lostHint?(path: readonly string[]): string
  /** Told of the gateway's version with each answer. */
  onVersion?(version: string): void
  /** Told with an answer which parts of the gateway are degraded (`core/degraded.ts`). */
  onDegraded?: ((parts: readonly { part: string; since: string }[]) => void) | undefined
}

/** Calls operations by their path. A stream's operation gives an async iterable. */
export interface ClientCaller {
  /** Rejects with `GatewayNotRunning`, `OperationFailed` and `AnswerLost`. */
  call(path: readonly string[], input: object, options?: { signal?: AbortSignal | undefined }): Promise<unknown>
}

const retryMs = 50
/** Of what may be waited: by then a gateway that starts has said that it is there. */
const partForSign = 1 / 6

/**
 * The protocol of decision 0002 in plain calls: JSON to `/api/<noun>/<verb>`, JSON or server-sent events back. The typed
 * client (`client.ts`) speaks the same, but loading it and its schemas takes longer than a whole command may.
 */
export function openCaller(options: CallerOptions): ClientCaller {
  return {
    async call(path, input, { signal } = {}) {
      const lose: Lose = (error) => asLost(error, options.lostHint?.(path))
      try {
        const answer = await send(options, path, JSON.stringify(input), signal)
        const version = answer.headers['x-spgw-version']
        if (typeof version === 'string') options.onVersion?.(version)
        const degraded = answer.headers['x-spgw-degraded']
        if (typeof degraded === 'string') options.onDegraded?.(degraded.split(',').map(readDegraded))
        return await read(answer, lose, version === options.version)
      } catch (error) {
        throw lose(error)
      }
    },
  }
}

async function send(
  options: CallerOptions,
  path: readonly string[],
  body: string,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  // Counted in pauses: a time in which nobody was run, neither this process nor the gateway that starts, is no waiting.
  for (let left = options.waitMs; ; left -= retryMs) {
    try {
      return await sendOnce(options, path, body, signal)
    } catch (error) {
      if (!isDialFailure(error))
        throw asForbidden(error, options.destination) ?? asTrustFault(error, options.destination) ?? error
      const isOverdue = left <= options.waitMs * (1 - partForSign)
      if (left <= 0 || (isOverdue && options.hasEnded?.() === true)) throw notRunning(options, error)
      const { setTimeout: pause } = await import('node:timers/promises')
      await pause(retryMs, undefined, signal === undefined ? {} : { signal })
    }
  }
}

async function sendOnce(
  { destination, version, surface }: CallerOptions,
  path: readonly string[],
  body: string,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  const open = await opener(destination)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-spgw-version': version,
    'x-spgw-surface': surface,
    ...(destination.kind === 'remote' ? { authorization: `Bearer ${destination.token}` } : {}),
  }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  // One command, one call: a connection that is kept would keep the command from ending.
  const common = { method: 'POST', headers, agent: false, ...(signal === undefined ? {} : { signal }) }
  const request = open({ ...common, ...addressOf(destination, `/api/${path.join('/')}`) })
  request.once('response', resolve)
  request.on('error', reject)
  request.end(body)
  return promise
}

type Open = (options: RequestOptions) => ClientRequest

async function opener(destination: Destination): Promise<Open> {
  if (destination.kind === 'remote' && destination.url.protocol === 'https:')
    return (await import('node:https')).request
  return (await import('node:http')).request
}

function addressOf(destination: Destination, path: string): RequestOptions & { servername?: string } {
  // Without a name Node looks whether the host is an address, and its pattern of those takes 5 ms to make.
  if (destination.kind === 'socket') return { socketPath: destination.path, host: socketHost, servername: '', path }
  const { url } = destination
  return {
    // As a URL writes an IPv6 address, no resolver knows it.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
    path: url.pathname.replace(/\/+$/, '') + path,
  }
}

const dialFailures = [
  ...['ENOENT', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
  // Of a path at which no socket can be: below a file, or longer than one may be.
  ...['ENOTDIR', 'EINVAL'],
]

/** The call was never sent, so it may be sent again. */
function isDialFailure(error: unknown): boolean {
  return error instanceof Error && dialFailures.includes(errorCode(error) ?? '') && !isUnderWay(error)
}

/** The connection stood, and the call may have arrived. */
function isUnderWay(error: Error): boolean {
  return 'syscall' in error && ['read', 'write'].includes(String(error.syscall))
}

function notRunning({ destination, startHint }: CallerOptions, cause: unknown): GatewayNotRunning {
  if (destination.kind === 'socket') return new GatewayNotRunning(destination.path, cause, startHint)
  const { url } = destination
  return new GatewayNotRunning(url.origin, cause, 'Check the address, and that its console listens there.')
}

function asForbidden(error: unknown, destination: Destination): SocketForbidden | null {
  const code = errorCode(error) ?? ''
  return destination.kind === 'socket' && ['EACCES', 'EPERM'].includes(code)
    ? new SocketForbidden(destination.path, error)
    : null
}

const untrusted = /^(CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

/** Somebody answers, but not with a certificate that says who it is. */
function asTrustFault(error: unknown, destination: Destination): GatewayNotRunning | null {
  const code = errorCode(error) ?? ''
  if (destination.kind !== 'remote' || !untrusted.test(code)) return null
  const hint = 'Add the certificate of its issuer to the file that $NODE_EXTRA_CA_CERTS names.'
  return new GatewayNotRunning(`${destination.url.origin} that can be trusted (${code})`, error, hint)
}

type Lose = (error: unknown) => unknown

/** Connections that end in the middle: `socket hang up` before the head of the answer, `aborted` behind it. */
const cutOff = ['ECONNRESET', 'EPIPE']

function asLost(error: unknown, hint = 'Check that it is running: spgw status'): unknown {
  const code = errorCode(error) ?? ''
  const isLost = cutOff.includes(code) || (error instanceof Error && isUnderWay(error))
  return isLost ? new AnswerLost(error, hint) : error
}

/** `saysDone`: the gateway is of this version, and so ends each stream with an event. */
async function read(answer: IncomingMessage, lose: Lose, saysDone: boolean): Promise<unknown> {
  const isStream = answer.headers['content-type']?.startsWith('text/event-stream') === true
  const status = answer.statusCode ?? 0
  if (isStream && status < 300) {
    const { SseFramer } = await import('../core/bytes/sse.ts')
    return readEvents(answer, { framer: new SseFramer(), lose, saysDone })
  }
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const value = text === '' ? undefined : parse(text)
  if (status >= 200 && status < 300 && value !== notJson) return value
  throw failureOf(value, status)
}

const notJson = Symbol('not JSON')

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return notJson
  }
}

/** The body of an error, or of its event in a stream. What is none of ours came from something else on the way. */
function failureOf(body: unknown, status: number): OperationFailed {
  const { code, message, data, hint } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >
  if (typeof code === 'string' && typeof message === 'string') {
    return new OperationFailed(code, status, message, data ?? { hint })
  }
  return new OperationFailed('bad_answer', status, `What answered there (${status}) is not the API of a gateway.`, {
    hint: 'Check the address: it is that of the console.',
  })
}

async function* readEvents(
  answer: IncomingMessage,
  { framer, lose, saysDone }: { framer: StreamFramer; lose: Lose; saysDone: boolean },
): AsyncGenerator<unknown> {
  try {
    for await (const chunk of answer) {
      for (const event of framer.push(chunk as Buffer)) {
        const read = readEvent(event)
        if (read === 'done') return
        if (read !== null) yield read.value
      }
    }
    // A proxy that ends a connection may do so as if all had been said.
    if (saysDone) throw Object.assign(new Error('the stream ended early'), { code: 'ECONNRESET' })
  } catch (error) {
    throw lose(error)
  }
}

function readEvent({ name, data }: StreamEvent): { value: unknown } | 'done' | null {
  if (name === 'done') return 'done'
  if (data.length === 0) return null
  const value: unknown = JSON.parse(data.toString('utf8'))
  if (name === 'error') throw failureOf(value, 200)
  return { value }
}

/** `journal=2026-01-02T03:04:05.000Z` */
function readDegraded(text: string): { part: string; since: string } {
  const [part = '', since = ''] = text.split('=')
  return { part, since }
}
