import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import { Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { clientBehind } from '../addresses/address-set.ts'
import { type Fault, fault } from '../core/errors.ts'
import { findLane } from '../lanes/index.ts'
import { reject } from './answer/respond.ts'
import type { Gateway } from './gateway.ts'
import { handleRequest } from './pipeline.ts'
import { Arrival, allowsOrigin, crossOrigin } from './request/arrival.ts'
import { headTimeoutMs, maxHeadBytes, maxHeaders } from './request/explain-malformed.ts'
import { closeSoon, rejectMalformed } from './server-malformed.ts'
import type { SocketUpgrade } from './sockets/handshake.ts'
import type { ServerCertificate } from './thread/messages.ts'
import { answerProbe, isProbe } from './thread/probes.ts'
import type { Traffic } from './thread/traffic.ts'

/** Longer than the keep-alive of common clients and proxies, so that they close idle connections, not the gateway. */
const keepAliveMs = 75_000

/** How long a client may take to send its request while file descriptors are scarce. */
const scarceHeadMs = 2000

/** The listener of one data-plane thread: accepts requests, listens for clients that disconnect, and starts the pipeline. */
export function createGatewayServer(traffic: Traffic, certificate: ServerCertificate | null): http.Server {
  const options: http.ServerOptions = {
    requestTimeout: 0,
    headersTimeout: headTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: maxHeadBytes,
    noDelay: true,
    // A second credential must be visible to be rejected; Node would drop it.
    joinDuplicateHeaders: true,
    // A client that offers another protocol (h2c) is answered in HTTP/1.1.
    shouldUpgradeCallback: isHandshake,
    // The pipeline rejects a request without a Host header, with a message and an id.
    requireHostHeader: false,
  }
  const server = certificate === null ? http.createServer(options) : createSecureServer(options, certificate)
  server.timeout = 0
  server.maxHeadersCount = maxHeaders
  server.on(certificate === null ? 'connection' : 'secureConnection', (socket: Socket) => track(traffic, socket))
  server.on('connection', (socket: Socket) => {
    const { descriptors } = traffic.gateway
    if (descriptors.refuseLast(socket, certificate === null)) return
    traffic.halfOpen.add(socket, descriptors.mostHalfOpen)
  })
  server.on('request', (request, response) => accept(traffic, request, response))
  // Without this Node would ask for the body before the key has been checked.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    request.once('newListener', (event) => event === 'data' && response.writeContinue())
    accept(traffic, request, response)
  })
  // Other expectations may be ignored (RFC 9110, 10.1.1); Node would reject them without an id.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    accept(traffic, request, response),
  )
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
    acceptSocket(traffic, { request, socket, head }),
  )
  server.on('connect', (_request: IncomingMessage, socket: Socket) =>
    rejectMalformed(traffic, { code: 'CONNECT' }, socket),
  )
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => rejectMalformed(traffic, error, socket))
  return server
}

/** A request with a body is not a handshake (RFC 6455, 4.1): Node would hand over the socket before earlier answers are written. */
function isHandshake({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

function track(traffic: Traffic, socket: Socket): void {
  const { connections } = traffic
  const connection = { socket, place: -1 }
  connections.add(connection)
  socket.once('close', () => connections.remove(connection))
  if (!traffic.gateway.descriptors.isScarce(socket)) return
  traffic.scarce.add(socket)
  const impatient = setTimeout(() => socket.destroy(), scarceHeadMs).unref()
  socket.once('close', () => {
    clearTimeout(impatient)
    traffic.scarce.delete(socket)
  })
}

/** No descriptor is left to call a provider, and the client's own is needed for the next client. */
async function rejectScarce(arrival: Arrival): Promise<void> {
  arrival.response.shouldKeepAlive = false
  const message = 'The gateway has too many connections open (file descriptors). Wait, then try again.'
  await reject(arrival, fault('overloaded', message, { retryAfterMs: 1000 }))
}

function createSecureServer(options: http.ServerOptions, certificate: ServerCertificate): https.Server {
  const server = https.createServer({
    ...options,
    ...secrets(certificate),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: headTimeoutMs,
  })
  // Node reports these as `clientError` too. After a failed TLS handshake there is no request to answer.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  return server
}

function secrets({ cert, key, ticketKeys }: ServerCertificate) {
  return { cert, key, ticketKeys: Buffer.from(ticketKeys) }
}

/** New connections get this certificate; open ones are not touched. */
export function changeCertificate(server: http.Server, certificate: ServerCertificate): void {
  if (server instanceof https.Server) server.setSecureContext(secrets(certificate))
}

/**
 * How long waiting connections are accepted. Bounded, since new ones may arrive as fast as these are accepted. On a busy machine a few
 * dozen take more than a fifth of a second.
 */
const takeMs = 1000
/**
 * A connection that comes after the loop has looked at its sockets, but within the same turn, is missed; a turn this short leaves hardly
 * any time for that. In 50 runs, with four crashes each under load, no connection was lost; with half a millisecond about one in twenty
 * runs lost one.
 */
const shortTurnMs = 0.1

/**
 * Refuses new connections, but keeps open ones for more requests, unlike the server's own `close`; `closed` resolves when none is left.
 * First it accepts the connections in the system's queue, since closing the listener would reset them. The event loop accepts one per turn,
 * so a turn without one means that the queue is empty.
 */
export async function stopListening(server: http.Server): Promise<{ closed: Promise<void> }> {
  let taken = false
  const note = () => (taken = true)
  server.on('connection', note)
  const limit = performance.now() + takeMs
  // The current turn may be half over; from here on, whole turns are measured.
  await nextTurn()
  for (let begun = performance.now(); begun < limit; begun = performance.now()) {
    taken = false
    await nextTurn()
    if (!taken && performance.now() - begun < shortTurnMs) break
  }
  // No await between the last check and this, or one more connection could come in between.
  const closed = closeListener(server)
  server.off('connection', note)
  return { closed }
}

function closeListener(server: http.Server): Promise<void> {
  return new Promise((resolve) => Server.prototype.close.call(server, () => resolve()))
}

function accept(traffic: Traffic, request: IncomingMessage, response: ServerResponse): void {
  const { gateway } = traffic
  // Most requests come on connections that have already had one.
  if (traffic.halfOpen.count > 0) traffic.halfOpen.remove(request.socket)
  if (gateway.draining) response.shouldKeepAlive = false
  const arrival = new Arrival(gateway, request, response, clientAddress(gateway, request))
  const { path } = arrival
  const lane = findLane(path)
  // A HEAD request gets the answer to a GET, whose body Node leaves out.
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
  if (lane !== null) arrival.matched(lane, lane.match(method, path.slice(lane.prefix.length)))
  if (arrival.match === null && isProbe({ method: request.method, url: path })) return answerProbe(arrival)
  if (request.method === 'OPTIONS' && answerPreflight(arrival)) return
  void runToEnd(traffic, arrival, isScarce(traffic, request) ? rejectScarce : handleRequest)
}

/** Node makes no response for an upgrade: this one rejects it, or hands the connection over. */
function acceptSocket(traffic: Traffic, upgrade: SocketUpgrade): void {
  const { request, socket } = upgrade
  const { gateway } = traffic
  traffic.halfOpen.remove(socket)
  const response = new http.ServerResponse(request)
  response.shouldKeepAlive = false
  socket.on('error', () => socket.destroy())
  if (!assignSocket(response, socket)) return abandon(traffic, socket)
  response.once('finish', () => closeSoon(socket))
  const arrival = new Arrival(gateway, request, response, clientAddress(gateway, request))
  const lane = findLane(arrival.path)
  // A base URL with a slash at its end gives two at this place (wire/lanes.md, section 0).
  if (lane !== null)
    arrival.matched(lane, lane.match('SOCKET', arrival.path.slice(lane.prefix.length).replace(/^\/{2,}/, '/')))
  if (isScarce(traffic, request)) return void runToEnd(traffic, arrival, rejectScarce)
  void runToEnd(traffic, arrival, async () => {
    // Loaded with the first WebSocket: nothing else uses the library.
    const { serveSocket } = await import('./sockets/serve-socket.ts')
    await serveSocket(arrival, upgrade)
  })
}

/** False if answers to earlier requests on the connection are still unsent: Node then throws, and nothing else would catch it. */
function assignSocket(response: ServerResponse, socket: Socket): boolean {
  try {
    response.assignSocket(socket)
    return true
  } catch {
    return false
  }
}

/** No answer can be written between others. Node has handed the connection over, and no longer tells waiting requests when it closes. */
function abandon(traffic: Traffic, socket: Socket): void {
  socket.destroy()
  for (const { abort } of traffic.requestsOn(socket)) abort.disconnect()
}

function isScarce({ scarce }: Traffic, { socket }: IncomingMessage): boolean {
  return scarce.size > 0 && scarce.has(socket)
}

async function runToEnd(
  traffic: Traffic,
  arrival: Arrival,
  handle: (arrival: Arrival) => Promise<void>,
): Promise<void> {
  const { gateway } = traffic
  watchClient(arrival)
  traffic.requests.add(arrival)
  if (gateway.crashing) arrival.abort.abort(threadFault())
  try {
    // Node connects a response to its socket when the answers before it on the connection have gone out.
    const due = arrival.response.socket === null ? traffic.pipelined.whenDue(arrival.request.socket) : null
    if (due !== null) await due
    if (traffic.paused !== null) await traffic.paused
    await handle(arrival)
  } catch (error) {
    await fail(arrival, error)
  } finally {
    arrival.reply.keepAlive?.stop()
    arrival.body.release(gateway.memoryBudget)
    traffic.requests.remove(arrival)
  }
}

/**
 * A client that only ends its own side counts as disconnected, too: an aborted call looks the same. With Node's `httpAllowHalfOpen` the
 * difference would show only with the first byte of the answer, after the provider has done its work. nginx does the same.
 */
function watchClient({ response, abort }: Arrival): void {
  response.once('close', () => {
    if (!response.writableFinished) abort.disconnect()
  })
  response.on('error', () => {})
}

/** For requests that a crashing thread cannot complete. */
export function threadFault(): Fault {
  return fault('internal', 'A fault of the gateway ended this request. Send it again.')
}

/** A bug in the gateway ends this request and no other. */
async function fail(arrival: Arrival, error: unknown): Promise<void> {
  const { response, reply, abort } = arrival
  arrival.reportFault(error)
  abort.abort(fault('internal'))
  if (response.headersSent && !reply.opened) response.destroy()
  await reject(arrival, fault('internal')).catch(() => response.destroy())
}

function answerPreflight(arrival: Arrival): boolean {
  const { gateway, request, response } = arrival
  const { origin } = request.headers
  if (origin === undefined || !allowsOrigin(gateway, origin)) return false
  const asked = arrival.header('access-control-request-headers') ?? '*'
  response.writeHead(204, [
    // Without an id: a preflight leaves no record.
    ...crossOrigin(origin),
    ...['access-control-allow-methods', 'GET, HEAD, POST, DELETE, PATCH, PUT'],
    ...['access-control-allow-headers', asked],
    ...['access-control-max-age', '600'],
  ])
  response.end()
  return true
}

function clientAddress(gateway: Gateway, request: IncomingMessage): string | null {
  const remote = request.socket.remoteAddress ?? null
  const forwarded = request.headers['x-forwarded-for']
  return remote === null || typeof forwarded !== 'string'
    ? remote
    : clientBehind(gateway.trustedProxies, remote, forwarded)
}
