import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { AddressSet } from '../addresses/address-set.ts'
import type { Dispatcher } from '../admin/dispatch.ts'
import type { Secret } from '../core/secrets/secret.ts'
import type { TrafficTally } from '../core/traffic-tally.ts'
import type { OidcSettings } from '../sign-in/oidc-settings.ts'
import type { SignInParts } from '../sign-in/sign-in.ts'
import { checkMetricsAccess, isLoopbackName } from './access.ts'
import { Connections } from './connections.ts'
import { expositionType, writeExposition } from './exposition.ts'
import { type GatewayState, stateFamilies } from './metrics.ts'
import { openMetricsType, wantsOpenMetrics, writeOpenMetrics } from './open-metrics.ts'
import { ProcessMetrics } from './process-metrics.ts'
import { jsonReply, type Reply, rejectHost, sendReply, textReply } from './reply.ts'
import { type GuardSettings, readSource } from './request-guard.ts'
import type { Site, SiteParts } from './site.ts'
import { TrafficMetrics } from './traffic-metrics.ts'

export interface ConsoleOptions extends ConsoleSettings {
  host: string
  /** 0: any free port. */
  port: number
  version: string
  onFault(error: unknown): void
}

/** What can change while the console is running. */
export interface ConsoleSettings {
  /** The public URL; null: derived from the bound address. */
  url: string | null
  metricsToken: Secret | null
  /** Addresses or CIDR blocks whose `x-forwarded-for` is trusted. */
  trustedProxies: readonly string[]
  /** null: no identity provider. */
  oidc: OidcSettings | null
  /** PEM, with a key that is not encrypted; null: plain HTTP until the process ends. */
  certificate: { cert: string; key: string } | null
}

/** What the console needs from the running gateway. */
export interface ConsoleParts {
  state(): Promise<GatewayState>
  /** For `/api/openapi.json`. */
  openApi(): Promise<object>
  signIn: Omit<SignInParts, 'onFault'>
  /** The operations. */
  dispatcher(): Promise<Dispatcher>
  confirmReach: SiteParts['confirmReach']
}

export interface ConsoleListener {
  readonly url: string
  /** The bound port. */
  readonly port: number
  /** Starts answering; before that, requests get 503 with `retry-after`. */
  open(parts: ConsoleParts): void
  /** Adds settled traffic to the metrics. */
  count(tally: TrafficTally): void
  /** After a change of permissions: ends open calls that are no longer allowed. */
  recheck(): void
  /** Applies to new requests. Open connections keep their certificate. */
  change(settings: ConsoleSettings): void
  close(): Promise<void>
}

/** Requests are small. `api.ts` lifts these limits for responses that stay open. */
const requestTimeoutMs = 10_000
const headersTimeoutMs = 4_000
/** How often Node checks these limits; its default is every 30 s. */
const checkIntervalMs = 1_000
const keepAliveMs = 5_000
const maxHeaderBytes = 16 * 1024
/** How long open responses may take once the console closes. */
const closeGraceMs = 2000

/** The console cannot listen on its address. */
export class ConsoleAddressTaken extends Error {
  readonly hint =
    'Stop the program that listens there, or choose another address: spgw serve --console-listen HOST:PORT'

  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    const reason = cause.code === 'EADDRINUSE' ? 'it is in use' : cause.message
    super(`the console cannot listen on ${host}:${port}: ${reason}`, { cause })
    this.name = 'ConsoleAddressTaken'
  }
}

/** Listens on the console's address. Throws `ConsoleAddressTaken`. */
export async function startConsole(options: ConsoleOptions): Promise<ConsoleListener> {
  const handler = new ConsoleHandler(options)
  const server = openServer(options.certificate)
  server.on('request', (request, response) => void handler.handle(request, response))
  // Answered without `100 Continue`, so that no body is sent.
  server.on('checkContinue', (request, response) => void handler.handle(request, response))
  server.on('connection', (socket) => handler.connections.accept(socket))
  // Closes connections whose client reads nothing for this long.
  server.timeout = requestTimeoutMs
  const port = await listen(server, options)
  handler.process.start()
  return {
    get url() {
      const scheme = options.certificate === null ? 'http' : 'https'
      return handler.settings.url ?? `${scheme}://${reachableHost(options.host)}:${port}`
    },
    port,
    open: (parts) => {
      handler.parts = parts
    },
    recheck: () => void handler.recheck(),
    count: (tally) => handler.traffic.add(tally),
    change(settings) {
      handler.settings = settings
      if (server instanceof https.Server && settings.certificate !== null) server.setSecureContext(settings.certificate)
    },
    async close() {
      handler.process.stop()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await handler.close()
      const timer = setTimeout(() => server.closeAllConnections(), closeGraceMs)
      server.closeIdleConnections()
      await closed
      clearTimeout(timer)
    },
  }
}

function openServer(certificate: ConsoleSettings['certificate']): http.Server {
  const limits = { requestTimeout: requestTimeoutMs, headersTimeout: headersTimeoutMs, keepAliveTimeout: keepAliveMs }
  const options = { ...limits, connectionsCheckingInterval: checkIntervalMs, maxHeaderSize: maxHeaderBytes }
  if (certificate === null) return http.createServer(options)
  return https.createServer({ ...options, ...certificate, handshakeTimeout: headersTimeoutMs })
}

/** Local addresses by name: passkeys work only with host names. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::' || isLoopbackName(host)) return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

function listen(server: http.Server, { host, port }: ConsoleOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(new ConsoleAddressTaken(host, port, error))
    server.once('error', fail)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', fail)
      // A listening TCP server always has an `AddressInfo`.
      resolve((server.address() as AddressInfo).port)
    })
  })
}

class ConsoleHandler {
  readonly traffic = new TrafficMetrics()
  readonly process = new ProcessMetrics()
  /** Behind a trusted proxy there may be many clients. */
  readonly connections = new Connections((address) => new AddressSet(this.settings.trustedProxies).has(address))
  parts: ConsoleParts | null = null
  settings: ConsoleSettings
  readonly #options: ConsoleOptions
  #site: Promise<Site> | null = null

  constructor(options: ConsoleOptions) {
    this.#options = options
    this.settings = options
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {})
    try {
      await this.#handle(request, response)
    } catch (error) {
      if (isDisconnect(error)) return void response.destroy()
      this.#options.onFault(error)
      if (response.headersSent) response.destroy()
      else sendReply(request, response, textReply(500, 'Internal error. See the gateway log.'))
    }
  }

  async recheck(): Promise<void> {
    await (await this.#site)?.recheck()
  }

  async close(): Promise<void> {
    const site = await this.#site
    site?.close()
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request)
    if (path === '/metrics' || path === '/api/openapi.json')
      return sendReply(request, response, await this.#replyMachine(request, path))
    if (this.parts === null) return sendReply(request, response, starting())
    this.#site ??= this.#openSite(this.parts)
    const site = await this.#site
    await site.handle(request, response, path)
  }

  /** Loaded with the first request: a gateway may run for months without anybody opening its console. */
  async #openSite({ signIn, dispatcher, confirmReach }: ConsoleParts): Promise<Site> {
    const { Site } = await import('./site.ts')
    const { version, onFault } = this.#options
    const guardSettings = () => this.#guardSettings()
    const markAuthenticated = (response: ServerResponse) => this.connections.markAuthenticated(response)
    return new Site({
      ...signIn,
      dispatcher,
      confirmReach,
      markAuthenticated,
      onFault,
      version,
      guardSettings,
      oidc: () => this.settings.oidc,
    })
  }

  #guardSettings(): GuardSettings {
    const { url, trustedProxies } = this.settings
    return { url, isTls: this.#options.certificate !== null, trustedProxies }
  }

  async #replyMachine(request: IncomingMessage, path: string): Promise<Reply> {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return { ...textReply(405, 'Only GET and HEAD are allowed.'), headers: { allow: 'GET, HEAD' } }
    if (this.parts === null) return starting()
    if (path === '/metrics') return this.#metrics(request, this.parts)
    return readSource(request, this.#guardSettings()) === null
      ? rejectHost(path)
      : jsonReply(200, await this.parts.openApi())
  }

  async #metrics(request: IncomingMessage, parts: ConsoleParts): Promise<Reply> {
    const access = checkMetricsAccess(request, this.settings.metricsToken)
    if (access === 'token-missing') {
      const reply = textReply(401, 'Send the token of console.metrics_token as Authorization: Bearer.')
      return { ...reply, headers: { 'www-authenticate': 'Bearer realm="spgw metrics"' } }
    }
    if (access === 'not-local')
      return textReply(
        403,
        'Without console.metrics_token, metrics are available on this machine only. Use 127.0.0.1 or set the token.',
      )
    const families = [
      ...stateFamilies(this.#options.version, await parts.state()),
      ...this.traffic.families(),
      ...this.process.families(),
    ]
    return wantsOpenMetrics(request.headers.accept)
      ? { status: 200, type: openMetricsType, body: writeOpenMetrics(families) }
      : { status: 200, type: expositionType, body: writeExposition(families) }
  }
}

/** Checked by name: the module of the error is loaded lazily, with the site. */
function isDisconnect(error: unknown): boolean {
  return error instanceof Error && error.name === 'ClientDisconnected'
}

function starting(): Reply {
  return { ...textReply(503, 'The gateway is starting. Try again.'), headers: { 'retry-after': '1' } }
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? ''
}
