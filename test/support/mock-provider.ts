import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LaneName } from '../../src/core/lane.ts'
import type { TokenUsage } from '../../src/core/record.ts'
import { mockAnthropic } from './mock-anthropic.ts'
import type { MockAnswer, MockCall, MockFormat, MockUsage } from './mock-format.ts'
import { mockGemini } from './mock-gemini.ts'
import { MockObjects } from './mock-objects.ts'
import { mockOpenai } from './mock-openai.ts'
import { applyScript, deliver, type Progress, type Script } from './mock-script.ts'

const formats: Record<LaneName, MockFormat> = { openai: mockOpenai, anthropic: mockAnthropic, gemini: mockGemini }

/** A call with what became of it. `body` and `sha256` of the answer are as sent, before any compression. */
export interface Seen extends MockCall {
  answer: MockAnswer
  answerBody: Buffer
  answerSha256: string
  usage: TokenUsage | null
  /** Resolves when the answer is out, or the connection gone. */
  finished: Promise<'answered' | 'aborted' | 'cut'>
}

export interface Abort extends Progress {
  call: Seen
}

/** One scripted call: when it came, and when the other side hung up on it. */
export interface Turn {
  call: Promise<Seen>
  abort: Promise<Abort>
}

interface PlannedTurn {
  script: Script
  called: (call: Seen) => void
  aborted: (abort: Abort) => void
}

/**
 * A strict provider on loopback: refuses what the real one refuses, records every byte it got, answers in the
 * exact wire shapes, and misbehaves when told to. A gateway key or a foreign credential that reaches it is a
 * leak, which `assertClean` turns into a failed test.
 */
export class MockProvider {
  readonly format: MockFormat
  /** Everything that came, model lists (the gateway's free checks) included. */
  readonly requests: Seen[] = []
  readonly leaks: string[] = []
  readonly credentials: Set<string>
  readonly objects = new MockObjects()
  usage: MockUsage = { input: 190, output: 70, cacheRead: 50, cacheWrite: 20, reasoning: 30 }
  readonly #server: Server
  readonly #turns: PlannedTurn[] = []
  readonly #watchers: ((call: Seen) => void)[] = []
  #number = 0

  constructor(format: MockFormat, credential: string) {
    this.format = format
    this.credentials = new Set([credential])
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        this.leaks.push(`mock ${format.name} failed: ${String(error)}`)
        response.destroy()
      })
    })
    // The gateway keeps connections; the mock must not close one just as a call goes out on it.
    this.#server.keepAliveTimeout = 0
    this.#server.requestTimeout = 0
    this.#server.headersTimeout = 0
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** What the vendor's own SDK would be given. */
  get baseUrl(): string {
    return this.origin + this.format.basePath
  }

  /** Calls of clients: everything but the gateway's own checks. */
  get calls(): Seen[] {
    return this.requests.filter((request) => request.method === 'POST')
  }

  /** The last client call; throws when there is none, so that a test that sent nothing cannot pass. */
  get last(): Seen {
    const call = this.calls.at(-1)
    if (call === undefined) throw new Error(`mock ${this.format.name} has seen no call`)
    return call
  }

  /** Scripts the next call (or the next one that the script's `path` matches); scripts are taken in order. */
  next(script: Script): Turn {
    const call = Promise.withResolvers<Seen>()
    const abort = Promise.withResolvers<Abort>()
    this.#turns.push({ script, called: call.resolve, aborted: abort.resolve })
    return { call: call.promise, abort: abort.promise }
  }

  /** The next client call from now on, when its body has been read. */
  nextCall(): Promise<Seen> {
    return new Promise((resolve) => this.#watchers.push(resolve))
  }

  /** Throws when a gateway key or a foreign credential came up, or a scripted turn was never taken. */
  assertClean(): void {
    if (this.leaks.length > 0) throw new Error(this.leaks.join('\n'))
    if (this.#turns.length > 0)
      throw new Error(`mock ${this.format.name}: ${this.#turns.length} scripted turns not taken`)
  }

  /** Forgets scripts that no call took, for the case after one that failed. */
  reset(): void {
    this.#turns.length = 0
    this.leaks.length = 0
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await readCall(request, ++this.#number, this.objects)
    if (call === null) return
    this.#look(call)
    const turn = this.#takeTurn(call)
    const script = turn?.script ?? {}
    const refused = await this.format.refuse(call, this.credentials)
    if (script.answerWith !== undefined) call.answerWith = script.answerWith
    const usual = refused ?? this.format.answer(call, this.usage)
    const answer = refused ?? applyScript(this.format, usual, script, call.number)
    const progress: Progress = { phase: 'before-headers', bytes: 0, events: 0, cut: false }
    const finished = Promise.withResolvers<'answered' | 'aborted' | 'cut'>()
    const seen = describeAnswer(call, answer, finished.promise)
    response.once('close', () => {
      finished.resolve(progress.cut ? 'cut' : response.writableFinished ? 'answered' : 'aborted')
      if (!response.writableFinished && !progress.cut) turn?.aborted({ ...progress, call: seen })
    })
    this.requests.push(seen)
    turn?.called(seen)
    if (call.method === 'POST') for (const watcher of this.#watchers.splice(0)) watcher(seen)
    const acceptsGzip = call.headers.get('accept-encoding')?.includes('gzip') ?? false
    await deliver(response, answer, refused ? {} : script, acceptsGzip, progress)
  }

  #takeTurn(call: MockCall): PlannedTurn | undefined {
    const index = this.#turns.findIndex(({ script }) =>
      script.path === undefined ? call.method === 'POST' : call.target.includes(script.path),
    )
    return index < 0 ? undefined : this.#turns.splice(index, 1)[0]
  }

  #look(call: MockCall): void {
    const carried = `${call.target}\n${call.rawHeaders.join('\n')}`
    const where = `${call.method} ${call.path} at mock ${this.format.name}`
    if (carried.includes('sp_live_')) this.leaks.push(`a gateway key went up: ${where}`)
    if (call.query.has('key')) this.leaks.push(`a key stands in the query: ${where}`)
    for (const name of this.format.foreignHeaders) {
      if (call.headers.has(name)) this.leaks.push(`foreign header ${name}: ${where}`)
    }
    const host = call.headers.get('host')
    if (`http://${host}` !== this.origin) this.leaks.push(`host is ${host}: ${where}`)
  }
}

export async function startMockProvider(name: LaneName, credential: string): Promise<MockProvider> {
  return new MockProvider(formats[name], credential).listen()
}

/** Null when the other side went away while it was still sending. */
async function readCall(request: IncomingMessage, number: number, objects: MockObjects): Promise<MockCall | null> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk)
  } catch {
    return null
  }
  const body = Buffer.concat(chunks)
  const target = request.url ?? ''
  const [path = '', query = ''] = target.split(/\?(.*)/s)
  const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  return {
    number,
    method: request.method ?? '',
    target,
    path,
    query: new URLSearchParams(query),
    rawHeaders: request.rawHeaders,
    headers,
    body,
    sha256: sha256(body),
    objects,
  }
}

function describeAnswer(call: MockCall, answer: MockAnswer, finished: Seen['finished']): Seen {
  const answerBody = Buffer.concat(answer.parts)
  return { ...call, answer, answerBody, answerSha256: sha256(answerBody), usage: answer.usage, finished }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
