import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws'

export interface Message {
  text: string
  binary: boolean
}

export interface Closed {
  code: number
  reason: string
}

/** One end of a WebSocket, whose messages wait until somebody asks for them. */
export class End {
  readonly socket: WebSocket
  readonly closed: Promise<Closed>
  readonly #messages: Message[] = []
  readonly #waiting: ((message: Message) => void)[] = []

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('message', (bytes: Buffer, binary: boolean) => {
      const message = { text: bytes.toString(), binary }
      const waiting = this.#waiting.shift()
      if (waiting === undefined) this.#messages.push(message)
      else waiting(message)
    })
    this.closed = new Promise((resolve) =>
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
    )
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message))
  }

  next(): Promise<Message> {
    const message = this.#messages.shift()
    return message === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(message)
  }

  async nextJson(): Promise<Record<string, unknown>> {
    return JSON.parse((await this.next()).text)
  }
}

export interface Refusal {
  status: number
  headers: Record<string, string>
  body: string
}

/** Its place in the connections is that of the handshake. */
export interface SocketProvider {
  baseUrl: string
  /** The next connection that nobody has asked for yet. */
  accepted(): Promise<{ end: End; request: IncomingMessage }>
  /** For a server that has more to answer than handshakes. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Answers handshakes from now on; null lets them stand. */
  refuse(answer: ((request: IncomingMessage) => Refusal | 'cut' | null) | null): void
  stop(): Promise<void>
}

export async function startSocketProvider(): Promise<SocketProvider> {
  const server = http.createServer((_request, response) => response.writeHead(404).end('{}'))
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true, autoPong: false })
  const connections: { end: End; request: IncomingMessage }[] = []
  const waiting: ((connection: { end: End; request: IncomingMessage }) => void)[] = []
  let judge: ((request: IncomingMessage) => Refusal | 'cut' | null) | null = null
  sockets.on('headers', (headers: string[]) =>
    headers.push('x-request-id: req_provider', 'openai-organization: org-secret'),
  )
  const take = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refusal = judge?.(request) ?? null
    if (refusal === 'cut') return void socket.destroy()
    if (refusal !== null) {
      const lines = Object.entries(refusal.headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const length = Buffer.byteLength(refusal.body)
      return void socket.end(
        `HTTP/1.1 ${refusal.status} No\r\n${lines.join('')}content-length: ${length}\r\n\r\n${refusal.body}`,
      )
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      const connection = { end: new End(accepted), request }
      const next = waiting.shift()
      if (next === undefined) connections.push(connection)
      else next(connection)
    })
  }
  server.on('upgrade', take)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted: () => {
      const connection = connections.shift()
      return connection === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(connection)
    },
    take,
    refuse: (answer) => {
      judge = answer
    },
    stop: async () => {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export interface Dialled extends End {
  requestId: string
  headers: http.IncomingHttpHeaders
}

/** Rejects with the answer where the handshake is refused. */
export async function dial(url: string, options: ClientOptions & { protocols?: string[] } = {}): Promise<Dialled> {
  const { protocols = [], ...more } = options
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocols, { autoPong: false, ...more })
  const end = new End(socket)
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    let upgraded: IncomingMessage | null = null
    socket.once('upgrade', (response) => (upgraded = response))
    socket.once('open', () => resolve(upgraded!))
    socket.once('unexpected-response', (_request, response) => readRefused(response).then(reject, reject))
    socket.once('error', reject)
  })
  return Object.assign(end, { requestId: String(answer.headers['x-sp-request-id']), headers: answer.headers })
}

export class Refused extends Error {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: string

  constructor(status: number, headers: http.IncomingHttpHeaders, body: string) {
    super(`${status} ${body}`)
    this.status = status
    this.headers = headers
    this.body = body
  }
}

async function readRefused(response: IncomingMessage): Promise<Refused> {
  let body = ''
  for await (const chunk of response) body += chunk
  return new Refused(response.statusCode ?? 0, response.headers, body)
}
