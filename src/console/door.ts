import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Dispatcher } from '../admin/dispatch.ts'
import type { Secret } from '../core/secret.ts'
import type { TrafficTally } from '../core/traffic-tally.ts'
import type { OidcSettings } from '../sign-in/oidc-settings.ts'
import type { SignInParts } from '../sign-in/sign-in.ts'
import { judgeMetrics, namesLoopback } from './access.ts'
import { json, type Reply, refuseHost, send, text } from './answer.ts'
import { Connections } from './connections.ts'
import { expositionType, writeExposition } from './exposition.ts'
import type { GatewayState } from './gateway-state.ts'
import { stateFamilies } from './metrics.ts'
import { ProcessMetrics } from './process-metrics.ts'
import type { Site } from './site.ts'
import { TrafficMetrics } from './traffic-metrics.ts'
import { isProxy, type Premises, readVisit } from './visit.ts'

export interface ConsoleOptions extends ConsoleSettings {
  host: string
  /** 0 asks the system for a free one. */
  port: number
  version: string
  onFault(error: unknown): void
}

/** What may change while the console serves. */
export interface ConsoleSettings {
  /** As operators see it; null: made from the address that was bound. */
  url: string | null
  metricsToken: Secret | null
  /** Addresses or CIDR blocks whose `x-forwarded-for` is believed. */
  trustedProxies: readonly string[]
  /** null: nobody signs in through an identity provider. */
  oidc: OidcSettings | null
  /** PEM, the key in clear text; null: plain HTTP, for as long as the door lives. */
  certificate: { cert: string; key: string } | null
}

/** What the console needs of the running gateway. */
export interface ConsoleParts {
  state(): Promise<GatewayState>
  /** For `/api/openapi.json`. */
  openApi(): Promise<object>
  /** Who may sign in. */
  signIn: Omit<SignInParts, 'onFault'>
  /** The operations. */
  dispatcher(): Promise<Dispatcher>
}

export interface ConsoleDoor {
  readonly url: string
  /** The one that was bound. */
  readonly port: number
  /** Lets requests in; until then they are told to come again. */
  open(parts: ConsoleParts): void
  /** For the metrics: what has settled. */
  count(tally: TrafficTally): void
  /** Somebody may no longer do what he could: what he has open ends. */
  recheck(): void
  /** For what comes from now on; connections that stand keep the certificate they began with. */
  change(settings: ConsoleSettings): void
  close(): Promise<void>
}

/** Nothing takes long to ask for; answers that live on are let go of these limits in `api.ts`. */
const requestMs = 10_000
const headMs = 4_000
/** How often these are looked at: Node does it twice a minute unless it is told. */
const lookEveryMs = 1_000
const idleMs = 5_000
const maxHeadBytes = 16 * 1024
/** How long answers under way may take once the console closes. */
const finishMs = 2000

/** The console's address cannot be listened on. */
export class ConsoleAddressTaken extends Error {
  readonly hint = 'Stop what listens there, or choose another address: spgw serve --console-listen HOST:PORT'

  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    const reason = cause.code === 'EADDRINUSE' ? 'it is in use' : cause.message
    super(`the console cannot listen on ${host}:${port}: ${reason}`, { cause })
    this.name = 'ConsoleAddressTaken'
  }
}

/** Takes the console's address. Throws `ConsoleAddressTaken`. */
export async function startConsole(options: ConsoleOptions): Promise<ConsoleDoor> {
  const door = new Door(options)
  const server = openServer(options.certificate)
  server.on('request', (request, response) => void door.answer(request, response))
  // Answered like any other, so that a body is never invited.
  server.on('checkContinue', (request, response) => void door.answer(request, response))
  server.on('connection', (socket) => door.connections.take(socket))
  // A reader that takes nothing for this long is let go.
  server.timeout = requestMs
  const port = await listen(server, options)
  door.process.start()
  return {
    get url() {
      const scheme = options.certificate === null ? 'http' : 'https'
      return door.settings.url ?? `${scheme}://${reachableHost(options.host)}:${port}`
    },
    port,
    open: (parts) => {
      door.parts = parts
    },
    recheck: () => void door.recheck(),
    count: (tally) => door.traffic.add(tally),
    change(settings) {
      door.settings = settings
      if (server instanceof https.Server && settings.certificate !== null) server.setSecureContext(settings.certificate)
    },
    async close() {
      door.process.stop()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await door.close()
      const timer = setTimeout(() => server.closeAllConnections(), finishMs)
      server.closeIdleConnections()
      await closed
      clearTimeout(timer)
    },
  }
}

function openServer(certificate: ConsoleSettings['certificate']): http.Server {
  const limits = { requestTimeout: requestMs, headersTimeout: headMs, keepAliveTimeout: idleMs }
  const options = { ...limits, connectionsCheckingInterval: lookEveryMs, maxHeaderSize: maxHeadBytes }
  if (certificate === null) return http.createServer(options)
  return https.createServer({ ...options, ...certificate, handshakeTimeout: headMs })
}

/** This machine by its name, not its number: passkeys are made for names only. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::' || namesLoopback(host)) return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

function listen(server: http.Server, { host, port }: ConsoleOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => reject(new ConsoleAddressTaken(host, port, error))
    server.once('error', refused)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', refused)
      // A TCP listener's address is never the path of a socket, and never null while it listens.
      resolve((server.address() as AddressInfo).port)
    })
  })
}

class Door {
  readonly traffic = new TrafficMetrics()
  readonly process = new ProcessMetrics()
  readonly connections = new Connections((address) => isProxy(address, this.settings.trustedProxies))
  parts: ConsoleParts | null = null
  settings: ConsoleSettings
  readonly #options: ConsoleOptions
  #site: Promise<Site> | null = null

  constructor(options: ConsoleOptions) {
    this.#options = options
    this.settings = options
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {})
    try {
      await this.#answer(request, response)
    } catch (error) {
      if (isCut(error)) return void response.destroy()
      this.#options.onFault(error)
      if (response.headersSent) response.destroy()
      else send(request, response, text(500, 'A fault of the gateway; its log says more.'))
    }
  }

  async recheck(): Promise<void> {
    await (await this.#site)?.recheck()
  }

  async close(): Promise<void> {
    const site = await this.#site
    site?.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request)
    if (path === '/metrics' || path === '/api/openapi.json')
      return send(request, response, await this.#replyMachine(request, path))
    if (this.parts === null) return send(request, response, starting())
    this.#site ??= this.#openSite(this.parts)
    const site = await this.#site
    await site.answer(request, response, path)
  }

  /** Loaded by the first who asks: a gateway may run for months without anybody at its console. */
  async #openSite({ signIn, dispatcher }: ConsoleParts): Promise<Site> {
    const { Site } = await import('./site.ts')
    const { version, onFault } = this.#options
    const premises = () => this.#premises()
    const know = (response: ServerResponse) => this.connections.know(response)
    return new Site({ ...signIn, dispatcher, know, onFault, version, premises, oidc: () => this.settings.oidc })
  }

  #premises(): Premises {
    const { url, trustedProxies } = this.settings
    return { url, isTls: this.#options.certificate !== null, trustedProxies }
  }

  async #replyMachine(request: IncomingMessage, path: string): Promise<Reply> {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return { ...text(405, 'This can only be read.'), headers: { allow: 'GET, HEAD' } }
    if (this.parts === null) return starting()
    if (path === '/metrics') return this.#metrics(request, this.parts)
    return readVisit(request, this.#premises()) === null ? refuseHost(path) : json(200, await this.parts.openApi())
  }

  async #metrics(request: IncomingMessage, parts: ConsoleParts): Promise<Reply> {
    const access = judgeMetrics(request, this.settings.metricsToken)
    if (access === 'token-missing') {
      const reply = text(401, 'Send the token of console.metrics_token as Authorization: Bearer.')
      return { ...reply, headers: { 'www-authenticate': 'Bearer realm="spgw metrics"' } }
    }
    if (access === 'not-local')
      return text(
        403,
        'Without console.metrics_token metrics are for this machine only: ask 127.0.0.1, or set the token.',
      )
    const families = [
      ...stateFamilies(this.#options.version, await parts.state()),
      ...this.traffic.families(),
      ...this.process.families(),
    ]
    return { status: 200, type: expositionType, body: writeExposition(families) }
  }
}

/** By its name: the module of what throws it is loaded with the site, and not before. */
function isCut(error: unknown): boolean {
  return error instanceof Error && error.name === 'BodyCut'
}

function starting(): Reply {
  return { ...text(503, 'The gateway is starting; ask again.'), headers: { 'retry-after': '1' } }
}

/** What cannot be read as a path is none that stands here. */
function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? ''
}
