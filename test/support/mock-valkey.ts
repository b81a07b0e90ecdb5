import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { ValkeyAddress } from '../../src/cluster/protocol.ts'

type Reply = string | number | null | Error | Reply[]

/** Speaks Valkey's protocol. Scripts it does not run: what a call answers the test says. */
export class MockValkey {
  info = 'redis_version:7.2.4\r\nvalkey_version:8.1.0\r\nrun_id:abc\r\nrole:master'
  /** Every command but greetings. */
  readonly asked: string[][] = []
  answer: (command: string[]) => Reply = () => 1
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #listeners = new Map<string, Set<Socket>>()

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => {
      let buffered = ''
      this.#sockets.add(socket.setNoDelay())
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#sockets.delete(socket)
        for (const sockets of this.#listeners.values()) sockets.delete(socket)
      })
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        buffered += chunk
        for (let read = readCommand(buffered); read !== null; read = readCommand(buffered)) {
          buffered = buffered.slice(read.length)
          socket.write(writeReply(this.#reply(read.command, socket)))
        }
      })
    })
  }

  static async start(port = 0): Promise<MockValkey> {
    const server = createServer()
    const mock = new MockValkey(server)
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return mock
  }

  get address(): ValkeyAddress {
    const place = this.#server.address()
    const port = typeof place === 'object' && place !== null ? place.port : 0
    return { host: '127.0.0.1', port, user: null, password: null, database: 0, authority: null, plain: true }
  }

  publish(channel: string, text: string): void {
    for (const socket of this.#listeners.get(channel) ?? []) socket.write(writeReply(['message', channel, text]))
  }

  /** Breaks every connection off, as a crash does. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #reply(command: string[], socket: Socket): Reply {
    const [name = '', channel = ''] = command.map((word, at) => (at === 0 ? word.toLowerCase() : word))
    if (name === 'info') return this.info
    if (name === 'client' || name === 'select') return new Simple('OK')
    if (name === 'ping') return this.#listens(socket) ? ['pong', ''] : new Simple('PONG')
    if (name === 'subscribe') {
      const listeners = this.#listeners.get(channel) ?? new Set()
      this.#listeners.set(channel, listeners.add(socket))
      return ['subscribe', channel, 1]
    }
    this.asked.push([name, ...command.slice(1)])
    return this.answer([name, ...command.slice(1)])
  }

  #listens(socket: Socket): boolean {
    return [...this.#listeners.values()].some((sockets) => sockets.has(socket))
  }
}

/** Not an error, but written as one line like it. */
class Simple extends Error {}

/** null: it is not whole yet. */
function readCommand(text: string): { command: string[]; length: number } | null {
  const head = /^\*(\d+)\r\n/.exec(text)
  if (head === null) return null
  const command: string[] = []
  let at = head[0].length
  for (let left = Number(head[1]); left > 0; left--) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at, at + 20))
    if (size === null) return null
    const begin = at + size[0].length
    at = begin + Number(size[1]) + 2
    if (text.length < at) return null
    command.push(Buffer.from(text.slice(begin, at - 2), 'latin1').toString('utf8'))
  }
  return { command, length: at }
}

function writeReply(reply: Reply): string {
  if (reply === null) return '$-1\r\n'
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (reply instanceof Simple) return `+${reply.message}\r\n`
  if (reply instanceof Error) return `-${reply.message}\r\n`
  if (typeof reply === 'string') return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`
  return `*${reply.length}\r\n${reply.map(writeReply).join('')}`
}
