import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import { BlockList, isIP, Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Fault, fault } from '../core/errors.ts'
import type { Lane } from '../lanes/contract.ts'
import { findLane } from '../lanes/index.ts'
import { Exchange } from './exchange.ts'
import { explainMalformed, headTimeoutMs, maxHeadBytes } from './explain-malformed.ts'
import type { Gateway } from './gateway.ts'
import type { ServerCertificate } from './messages.ts'
import { serve } from './pipeline.ts'
import { answerProbe } from './probes.ts'
import { allowsOrigin, ownHeaders, refuse } from './respond.ts'
import type { Upgrade } from './server-socket.ts'
import { endOfFault, settle } from './settle.ts'

/** Longer than the keep-alive of common clients and proxies, so that it is they who close idle connections. */
const keepAliveMs = 75_000
/** How long bytes that nobody wants are still taken in, so that the refusal arrives. */
const lingerMs = 1000

/** The listener of one data-plane thread: accepts, mints the id, wires the client's hanging up, and tells the story. */
export function createGatewayServer(gateway: Gateway, certificate: ServerCertificate | null = null): http.Server {
  const options: http.ServerOptions = {
    requestTimeout: 0,
    headersTimeout: headTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: maxHeadBytes,
    noDelay: true,
    // A second credential must be seen, so that it can be refused; Node would drop it.
    joinDuplicateHeaders: true,
    // Whoever offers another protocol (h2c) is answered in this one.
    shouldUpgradeCallback: isHandshake,
    // Refused below, in words and with an id.
    requireHostHeader: false,
  }
  const server = certificate === null ? http.createServer(options) : createSecureServer(options, certificate)
  server.timeout = 0
  server.on(certificate === null ? 'connection' : 'secureConnection', (socket: Socket) => note(gateway, socket))
  server.on('request', (request, response) => accept(gateway, request, response))
  // Without this Node would invite the body before the key has been looked at.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    request.once('newListener', (event) => event === 'data' && response.writeContinue())
    accept(gateway, request, response)
  })
  // Any other expectation may be ignored (RFC 9110, 10.1.1); Node would refuse it without an id.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    accept(gateway, request, response),
  )
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
    acceptSocket(gateway, { request, socket, head }),
  )
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseMalformed(gateway, error, socket))
  return server
}

/** With a body it is none (RFC 6455, 4.1): Node would give out another socket than its answers before are on. */
function isHandshake({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

function note(gateway: Gateway, socket: Socket): void {
  const connection = { socket, place: -1 }
  gateway.connections.add(connection)
  socket.once('close', () => gateway.connections.remove(connection))
}

function createSecureServer(options: http.ServerOptions, certificate: ServerCertificate): https.Server {
  const server = https.createServer({
    ...options,
    ...secrets(certificate),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: headTimeoutMs,
  })
  // Node passes these on as `clientError`; but where no TLS stands, nobody asked anything that could be answered.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  return server
}

function secrets({ cert, key, ticketKeys }: ServerCertificate) {
  return { cert, key, ticketKeys: Buffer.from(ticketKeys) }
}

/** Connections from now on see this certificate; those that stand are not touched. */
export function changeCertificate(server: http.Server, certificate: ServerCertificate): void {
  if (server instanceof https.Server) server.setSecureContext(secrets(certificate))
}

/** Bounded, since others may come as fast as these are taken. On a busy machine a few dozen take more than a fifth of a second. */
const takeMs = 1000
/**
 * What comes within a turn after the loop has looked at its sockets is missed; a turn this short leaves hardly any time for that. Of 50 runs
 * of four deaths under load none lost a connection; with half a millisecond about one in twenty did.
 */
const shortTurnMs = 0.1

/**
 * New connections are refused; unlike the server's own `close`, this leaves those that stand for a request to come, and `closed`
 * resolves when none is left. First the connections are taken in that the system has accepted and that wait, since to close the
 * listener under them resets them: the loop takes one a turn, so that a turn without any says that none waits.
 */
export async function stopListening(server: http.Server): Promise<{ closed: Promise<void> }> {
  let taken = false
  const note = () => (taken = true)
  server.on('connection', note)
  const limit = performance.now() + takeMs
  // From here on each turn is a whole one, whatever this one began with.
  await nextTurn()
  for (let begun = performance.now(); begun < limit; begun = performance.now()) {
    taken = false
    await nextTurn()
    if (!taken && performance.now() - begun < shortTurnMs) break
  }
  // In the same step as the last look: each await between them is time in which one more may come.
  const closed = closeListener(server)
  server.off('connection', note)
  return { closed }
}

function closeListener(server: http.Server): Promise<void> {
  return new Promise((resolve) => Server.prototype.close.call(server, () => resolve()))
}

function accept(gateway: Gateway, request: IncomingMessage, response: ServerResponse): void {
  if (gateway.draining) response.shouldKeepAlive = false
  const exchange = new Exchange(request, response, clientAddress(gateway, request))
  if (answerProbe(gateway, exchange)) return
  exchange.lane = findLane(exchange.path)
  if (request.method === 'OPTIONS' && answerPreflight(gateway, exchange)) return
  if (exchange.lane !== null)
    exchange.match = exchange.lane.match(methodOf(request), exchange.path.slice(exchange.lane.prefix.length))
  watchClient(exchange)
  gateway.exchanges.add(exchange)
  if (gateway.dying) exchange.stop(threadFault())
  void serveToItsEnd(gateway, exchange)
}

/** Node has no response for an upgrade: this one refuses it, or gives the connection on. */
function acceptSocket(gateway: Gateway, upgrade: Upgrade): void {
  const { request, socket } = upgrade
  const response = new http.ServerResponse(request)
  response.shouldKeepAlive = false
  socket.on('error', () => socket.destroy())
  if (!takeSocket(response, socket)) return giveUpAll(gateway, socket)
  response.once('finish', () => endSoon(socket))
  const exchange = new Exchange(request, response, clientAddress(gateway, request))
  exchange.lane = findLane(exchange.path)
  if (exchange.lane !== null) exchange.match = exchange.lane.match('SOCKET', socketPath(exchange, exchange.lane))
  watchClient(exchange)
  gateway.exchanges.add(exchange)
  if (gateway.dying) exchange.stop(threadFault())
  void serveToItsEnd(gateway, exchange, async () => {
    // Loaded with the first of them: the library is of use to nobody else.
    const { serveSocket } = await import('./sockets/serve-socket.ts')
    await serveSocket(gateway, exchange, upgrade)
  })
}

/** False where answers to requests before it on the connection have not gone out: Node throws then, which nobody else would catch. */
function takeSocket(response: ServerResponse, socket: Socket): boolean {
  try {
    response.assignSocket(socket)
    return true
  } catch {
    return false
  }
}

/** Nothing can be said between answers. Node has let go of the connection, and tells those that wait for their turn no more of it. */
function giveUpAll(gateway: Gateway, socket: Socket): void {
  socket.destroy()
  for (const exchange of openOn(gateway, socket)) giveUp(exchange)
}

function openOn(gateway: Gateway, socket: Socket): Exchange[] {
  return gateway.exchanges.all().filter(({ request }) => request.socket === socket)
}

function giveUp(exchange: Exchange): void {
  exchange.gone = true
  exchange.tellGone()
}

/** A base URL with a slash at its end gives two at this place (wire/lanes.md, section 0). */
function socketPath({ path }: Exchange, { prefix }: Lane): string {
  return path.slice(prefix.length).replace(/^\/{2,}/, '/')
}

/** A head is asked for like its answer, whose body Node then leaves out. */
function methodOf({ method = '' }: IncomingMessage): string {
  return method === 'HEAD' ? 'GET' : method
}

async function serveToItsEnd(
  gateway: Gateway,
  exchange: Exchange,
  story: (gateway: Gateway, exchange: Exchange) => Promise<void> = serve,
): Promise<void> {
  try {
    if (gateway.held !== null) await gateway.held
    await story(gateway, exchange)
  } catch (error) {
    await fail(gateway, exchange, error)
  } finally {
    exchange.stopHeartbeat()
    exchange.upload?.close()
    gateway.room.release(exchange)
    exchange.memory?.end()
    gateway.exchanges.remove(exchange)
  }
}

/**
 * Also where the client has only ended its side: an aborted call looks the same, and with Node's `httpAllowHalfOpen` it would show
 * with the first byte that goes down, when the provider has done its work. nginx decides so too.
 */
function watchClient(exchange: Exchange): void {
  exchange.response.once('close', () => {
    if (!exchange.response.writableFinished) giveUp(exchange)
  })
  exchange.response.on('error', () => {})
}

/** For whatever a thread that has met a fault of its own does not bring to its end. */
export function threadFault(): Fault {
  return fault('internal', 'A fault of the gateway ended this request. Send it again.')
}

/** A fault of the gateway's own ends this exchange and no other. */
async function fail(gateway: Gateway, exchange: Exchange, error: unknown): Promise<void> {
  gateway.report({
    type: 'fault',
    requestId: exchange.id,
    reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  exchange.stop(fault('internal'))
  if (exchange.response.headersSent && !exchange.opened) exchange.response.destroy()
  await refuse(gateway, exchange, fault('internal')).catch(() => exchange.response.destroy())
}

function answerPreflight(gateway: Gateway, exchange: Exchange): boolean {
  const origin = exchange.request.headers.origin
  if (origin === undefined || !allowsOrigin(gateway, origin)) return false
  const asked = exchange.header('access-control-request-headers') ?? '*'
  exchange.response.writeHead(204, [
    ...ownHeaders(gateway, exchange),
    'access-control-allow-methods',
    'GET, HEAD, POST, DELETE, PATCH, PUT',
    'access-control-allow-headers',
    asked,
    'access-control-max-age',
    '600',
  ])
  exchange.response.end()
  return true
}

function clientAddress(gateway: Gateway, request: IncomingMessage): string | null {
  const remote = request.socket.remoteAddress ?? null
  const forwarded = request.headers['x-forwarded-for']
  if (remote === null || typeof forwarded !== 'string' || !trusts(gateway.trustedProxies, remote)) return remote
  // From the right: the first address that no trusted proxy stands behind is the client.
  const chain = forwarded.split(',').map((each) => each.trim())
  return chain.findLast((address) => isIP(address) !== 0 && !trusts(gateway.trustedProxies, address)) ?? remote
}

function trusts(proxies: BlockList, address: string): boolean {
  return proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Addresses and CIDR blocks; settings have checked their form. */
export function readProxies(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

/** Bytes that are no HTTP request: there is no path to tell a lane by, so the OpenAI shape serves all. */
function refuseMalformed(gateway: Gateway, error: NodeJS.ErrnoException, socket: Socket): void {
  // Refused already: what still arrives fails to parse again.
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  // Nobody asked anything: an answer now would be taken for that of the first request.
  if (socket.bytesRead === 0) return void socket.destroy()
  const open = openOn(gateway, socket)
  // Its client closed in the middle of its body: nobody waits for a refusal.
  if (error.code === 'HPE_INVALID_EOF_STATE' && open.length > 0) return void socket.destroy()
  // What came whole has its answer, whatever follows it.
  if (open.length > 0 && open.every(({ request }) => request.complete)) return answerLast(open, socket)
  // Only a request that is still being read can be refused: any other would get these bytes into its answer.
  if (open.some(({ request, response }) => request.complete || response.headersSent)) return void socket.destroy()
  writeRefusal(gateway, open[0] ?? unreadExchange(socket), explainMalformed(error.code), socket).catch(() =>
    socket.destroy(),
  )
}

/** The connection ends behind the answers to what came whole: a body longer than its head says, or more behind a `connection: close`. */
function answerLast(open: readonly Exchange[], socket: Socket): void {
  const { response } = open.reduce((last, each) => (each.started > last.started ? each : last))
  // Its own word, or said already: each further piece fails to parse anew.
  if (!response.shouldKeepAlive) return
  if (response.headersSent) response.once('close', () => endSoon(socket))
  response.shouldKeepAlive = false
}

/** Node has no response for a head that it could not read: this one only carries the record. */
function unreadExchange(socket: Socket): Exchange {
  const request = Object.assign(new http.IncomingMessage(socket), { url: '/', method: 'GET' })
  return new Exchange(request, new http.ServerResponse(request), socket.remoteAddress ?? null)
}

/** By hand, since the parser has given the connection up. */
async function writeRefusal(gateway: Gateway, exchange: Exchange, reason: Fault, socket: Socket): Promise<void> {
  const { status, headers, body } = findLane('/v1')!.renderError(reason, exchange.id)
  const settled = settle(gateway, exchange, endOfFault(reason))
  // What runs for it ends at once: the answer is written here.
  giveUp(exchange)
  await settled
  const own = [
    ['x-sp-request-id', exchange.id],
    ['x-sp-error', reason.code],
    ['x-sp-error-origin', 'client'],
  ] as const
  const lines = [...headers, ...own].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines}content-length: ${body.length}\r\nconnection: close\r\n\r\n`
  socket.write(Buffer.concat([Buffer.from(head), body]))
  endSoon(socket)
}

/** Closed with bytes unread, the connection would be reset and the client would never see the answer. */
function endSoon(socket: Socket): void {
  socket.end()
  socket.removeAllListeners('data').resume()
  setTimeout(() => socket.destroy(), lingerMs).unref()
}
