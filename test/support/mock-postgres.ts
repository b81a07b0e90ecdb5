import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { PostgresAddress } from '../../src/cluster/protocol.ts'

type Row = Record<string, string | number | boolean | null | object>

/** What PostgreSQL refuses a statement with. */
export class Refused extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Rows, or what it throws; it may take as long as it likes. */
export type Answer = (text: string, values: (string | null)[]) => Row[] | Promise<Row[]>

/** Speaks PostgreSQL's protocol, and knows nothing: what a statement answers the test says. */
export class MockPostgres {
  readonly sessions = new Set<MockSession>()
  /** Every statement, in the order in which it came. */
  readonly asked: string[] = []
  answer: Answer
  /** Connections wait for it before they are let in; null: none does. */
  gate: Promise<void> | null = null
  readonly #server: Server
  #waiting: (() => void)[] = []

  private constructor(server: Server, answer: Answer) {
    this.#server = server
    this.answer = answer
    server.on('connection', (socket) => {
      const session = new MockSession(socket, this)
      this.sessions.add(session)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.sessions.delete(session)
        this.wake()
      })
      this.wake()
    })
  }

  static async start(answer: Answer): Promise<MockPostgres> {
    const server = createServer()
    const mock = new MockPostgres(server, answer)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return mock
  }

  get address(): PostgresAddress {
    const place = this.#server.address()
    const port = typeof place === 'object' && place !== null ? place.port : 0
    return { host: '127.0.0.1', port, user: 'spgw', password: null, database: 'spgw', authority: null, plain: true }
  }

  notify(payload: string): void {
    for (const session of this.sessions) session.notify(payload)
  }

  /** Breaks every connection off, as a crash does. */
  cut(): void {
    for (const session of this.sessions) session.cut()
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

class MockSession {
  readonly #socket: Socket
  readonly #mock: MockPostgres
  #buffered = Buffer.alloc(0)
  #isIn = false
  #text = ''
  #values: (string | null)[] = []
  #work: Promise<void> = Promise.resolve()

  constructor(socket: Socket, mock: MockPostgres) {
    this.#socket = socket
    this.#mock = mock
    // An answer is several small messages.
    socket.setNoDelay()
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  notify(payload: string): void {
    this.#send('A', int32(1), text('spgw'), text(payload))
  }

  cut(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#buffered = Buffer.concat([this.#buffered, chunk])
    for (;;) {
      // The first message of a connection has no type.
      const head = this.#isIn ? 1 : 0
      if (this.#buffered.length < head + 4) return
      const end = head + this.#buffered.readInt32BE(head)
      if (this.#buffered.length < end) return
      const body = this.#buffered.subarray(head + 4, end)
      const type = this.#isIn ? String.fromCharCode(this.#buffered[0] ?? 0) : 'startup'
      this.#isIn = true
      this.#buffered = this.#buffered.subarray(end)
      this.#work = this.#work.then(() => this.#receive(type, body))
    }
  }

  async #receive(type: string, body: Buffer): Promise<void> {
    if (type === 'startup') {
      await this.#mock.gate
      this.#send('R', int32(0))
      this.#ready()
    } else if (type === 'Q') {
      await this.#run(body.toString('utf8', 0, body.length - 1), [])
      this.#ready()
    } else if (type === 'P') {
      this.#text =
        body
          .subarray(body.indexOf(0) + 1)
          .toString('utf8')
          .split('\0', 1)[0] ?? ''
      this.#send('1')
    } else if (type === 'B') {
      this.#values = readValues(body)
      this.#send('2')
    } else if (type === 'E') await this.#run(this.#text, this.#values)
    else if (type === 'S') this.#ready()
    else if (type === 'X') this.#socket.end()
  }

  async #run(statement: string, values: (string | null)[]): Promise<void> {
    this.#mock.asked.push(statement)
    this.#mock.wake()
    try {
      const rows = await this.#mock.answer(statement, values)
      const [first] = rows
      if (first !== undefined) this.#describe(first)
      for (const row of rows) {
        const cells = Object.values(row).map((value) => (value === null ? [int32(-1)] : cell(write(value))))
        this.#send('D', int16(cells.length), ...cells.flat())
      }
      this.#send('C', text(`SELECT ${rows.length}`))
    } catch (error) {
      const code = error instanceof Refused ? error.code : 'XX000'
      const message = error instanceof Error ? error.message : String(error)
      this.#send('E', text('SERROR'), text(`C${code}`), text(`M${message}`), Buffer.of(0))
    }
  }

  #describe(row: Row): void {
    const fields = Object.entries(row).map(([name, value]) =>
      Buffer.concat([text(name), int32(0), int16(0), int32(typeOf(value)), int16(-1), int32(-1), int16(0)]),
    )
    this.#send('T', int16(fields.length), ...fields)
  }

  #ready(): void {
    this.#send('Z', Buffer.from('I'))
  }

  #send(type: string, ...parts: Buffer[]): void {
    const body = Buffer.concat(parts)
    if (!this.#socket.destroyed) this.#socket.write(Buffer.concat([Buffer.from(type), int32(body.length + 4), body]))
  }
}

/** PostgreSQL's numbers of types. */
function typeOf(value: Row[string]): number {
  if (typeof value === 'boolean') return 16
  if (typeof value === 'number') return 701
  if (value instanceof Date) return 1184
  return typeof value === 'object' && value !== null ? 114 : 25
}

function write(value: string | number | boolean | object): string {
  if (typeof value === 'boolean') return value ? 't' : 'f'
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Of a Bind message, all as text. */
function readValues(body: Buffer): (string | null)[] {
  let at = body.indexOf(0) + 1
  at = body.indexOf(0, at) + 1
  at += 2 + 2 * body.readInt16BE(at)
  const count = body.readInt16BE(at)
  at += 2
  return Array.from({ length: count }, () => {
    const length = body.readInt32BE(at)
    at += 4
    if (length < 0) return null
    at += length
    return body.toString('utf8', at - length, at)
  })
}

function cell(value: string): Buffer[] {
  const bytes = Buffer.from(value)
  return [int32(bytes.length), bytes]
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`)
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
