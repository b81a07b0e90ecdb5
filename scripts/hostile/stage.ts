import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { WebSocket } from 'ws'
import { type AdminClient, createAdminClient } from '../../src/admin/client.ts'
import { openSocketTransport, type SocketTransport } from '../../src/admin/socket-transport.ts'
import { CrashGateway, type Program } from '../crash/gateway.ts'
import { HostileProvider } from './provider.ts'
import { findWorst, turnsVariable, type Worst } from './turns.ts'

export interface Call {
  path: string
  method?: string
  headers?: Record<string, string>
  /** Sent chunk by chunk, as its reader takes it. */
  body?: Iterable<Buffer | string> | string | Buffer
  /** Of the key whose bodies are kept. */
  captured?: boolean
}

export interface Stage {
  readonly provider: HostileProvider
  readonly admin: AdminClient
  readonly url: string
  readonly consoleUrl: string
  readonly key: string
  /** What the answer came to: its status, and the code of an error. */
  send(call: Call): Promise<string>
  /** Sends it all on one connection, and resolves to the number of answers. */
  pipeline(heads: string): Promise<string>
  /** A WebSocket of the gateway's, open. */
  connect(path: string): Promise<WebSocket>
}

/** With the path of each one's base URL. */
const lanes = { openai: '/v1', anthropic: '', gemini: '' }
const longestMs = 60_000
const retries = { retries: 0 } as const

/** One gateway and one provider for all cases: the long turns of each are told apart by when they were. */
export class HostileStage implements Stage {
  readonly provider = new HostileProvider()
  readonly #gateway: CrashGateway
  readonly #turns: string
  readonly #transport: SocketTransport
  readonly admin: AdminClient
  url = ''
  consoleUrl = ''
  key = ''
  #captured = ''

  constructor(options: { program: Program; dataDirectory: string; turns: string }) {
    const { program, dataDirectory, turns } = options
    const probe = pathToFileURL(join(import.meta.dirname, 'turn-probe.ts')).href
    const environment = {
      NODE_OPTIONS: `--import=${probe} --disable-warning=ExperimentalWarning`,
      [turnsVariable]: turns,
      SPGW_GATEWAY_WORKERS: '1',
    }
    this.#turns = turns
    this.#gateway = new CrashGateway({ program, dataDirectory, environment })
    this.#transport = openSocketTransport(join(dataDirectory, 'admin.sock'), { waitMs: 20_000 })
    this.admin = createAdminClient({ transport: this.#transport, version: 'hostile', surface: 'cli' })
  }

  async open(): Promise<this> {
    await this.provider.listen()
    const url = await this.#gateway.ready
    if (url === null) throw new Error(`The gateway did not start:\n${this.#gateway.output}`)
    this.url = url
    this.consoleUrl = /console (http:\/\/\S+)/.exec(this.#gateway.output)?.[1] ?? ''
    const { origin } = this.provider
    for (const [name, path] of Object.entries(lanes)) {
      const baseUrl = origin + path
      await this.admin.providers.add({ name, kind: name, baseUrl, credential: `sk-${name}-hostile`, skipCheck: true })
      await this.admin.routes.add({ model: `${name}-*`, targets: [name], ...retries })
    }
    await this.admin.policies.add({ name: 'kept', capture: 'redacted' })
    this.key = (await this.admin.keys.create({ name: 'plain' })).key
    this.#captured = (await this.admin.keys.create({ name: 'captured', policy: 'kept' })).key
    return this
  }

  async send({ path, method = 'POST', headers = {}, body = '', captured = false }: Call): Promise<string> {
    const whole = typeof body === 'string' || Buffer.isBuffer(body)
    const request = http.request(`${this.url}${path}`, {
      method,
      agent: false,
      headers: {
        authorization: `Bearer ${captured ? this.#captured : this.key}`,
        'content-type': 'application/json',
        ...(whole && body.length > 0 ? { 'content-length': Buffer.byteLength(body) } : {}),
        ...headers,
      },
      signal: AbortSignal.timeout(longestMs),
    })
    const sent = whole ? Readable.from([body].filter(({ length }) => length > 0)) : Readable.from(body)
    // An answer before the body's end closes the connection under it.
    const over = new Promise<string>((resolve) => {
      request.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name))
      request.once('response', (response) => {
        const code = response.headers['x-sp-error']
        const outcome = `${response.statusCode}${code === undefined ? '' : ` ${code}`}`
        response.resume()
        response.once('end', () => resolve(outcome))
        response.once('error', () => resolve(`${outcome}, broken off`))
      })
    })
    sent.pipe(request)
    return await over
  }

  async pipeline(heads: string): Promise<string> {
    const { hostname, port } = new URL(this.url)
    const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen: true, timeout: longestMs })
    let answers = 0
    socket.on('data', (chunk) => (answers += chunk.toString('latin1').split('HTTP/1.1 ').length - 1))
    socket.on('error', () => {}).on('timeout', () => socket.destroy())
    const closed = once(socket, 'close')
    socket.end(heads)
    await closed
    return `${answers} answers`
  }

  async connect(path: string): Promise<WebSocket> {
    const socket = new WebSocket(`${this.url.replace('http', 'ws')}${path}`, {
      headers: { authorization: `Bearer ${this.key}` },
      maxPayload: 2 ** 30,
    })
    socket.on('error', () => {})
    await once(socket, 'open', { signal: AbortSignal.timeout(longestMs) })
    return socket
  }

  /** The worst turns since then, when nothing is left to do: requests are stored, and long turns have been written down. */
  async worstSince(moment: number): Promise<Worst> {
    await fetch(`${this.url}/readyz`)
    await this.admin.requests.list({ limit: 1 })
    await wait(60)
    return findWorst(this.#turns, moment)
  }

  /** Failing answers pause a provider, and what is not sent to it costs nothing: a good check lets the next case reach it. */
  async heal(): Promise<void> {
    this.provider.reset()
    for (const name of Object.keys(lanes)) await this.admin.providers.check({ name })
  }

  get output(): string {
    return this.#gateway.output
  }

  get over(): boolean {
    return this.#gateway.over
  }

  async close(): Promise<void> {
    await this.#transport.close()
    await this.#gateway.kill()
    this.provider.close()
  }
}
