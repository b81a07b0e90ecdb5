import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { LaneName } from '../../src/core/lane.ts'
import type { TokenUsage } from '../../src/core/record.ts'
import { mockAnthropic } from '../../test/support/mock-anthropic.ts'
import type { MockAnswer, MockCall, MockFormat } from '../../test/support/mock-format.ts'
import { mockGemini } from '../../test/support/mock-gemini.ts'
import { MockObjects } from '../../test/support/mock-objects.ts'
import { mockOpenai } from '../../test/support/mock-openai.ts'
import type { Random } from './random.ts'

const formats: Record<LaneName, MockFormat> = { openai: mockOpenai, anthropic: mockAnthropic, gemini: mockGemini }

/** What the provider did for one call, by the mark that the client put into its prompt. */
export interface Served {
  status: number
  usage: TokenUsage | null
  /** The whole answer was given to the socket. */
  whole: boolean
}

/** All calls that any provider was sent, by mark: beside the records, the other account of what was served. */
export type Ledger = Map<string, Served[]>

export interface ProviderOptions {
  lane: LaneName
  ledger: Ledger
  random: Random
  /** Refuses and breaks off most calls, so that others must take over. */
  shaky: boolean
}

export const markForm = /mark-\d+-\d+/

/** A provider on loopback that outlives every gateway. Each answer reports figures that no other has. */
export class CrashProvider {
  readonly credentials = new Set<string>()
  readonly #options: ProviderOptions
  readonly #server: Server
  #number = 0

  constructor(options: ProviderOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      // A gateway that is killed leaves half a request, or nobody to answer.
      this.#serve(request, response).catch(() => response.destroy())
    })
    this.#server.keepAliveTimeout = 0
    this.#server.requestTimeout = 0
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get baseUrl(): string {
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}${formats[this.#options.lane].basePath}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { lane, ledger, random, shaky } = this.#options
    const format = formats[lane]
    const call = await readCall(request, ++this.#number)
    const mark = markForm.exec(call.body.toString('latin1', 0, 400))?.[0]
    const refused = await format.refuse(call, this.credentials)
    const usual = refused ?? format.answer(call, figures(call.number))
    const fails = shaky && mark !== undefined && random.chance(0.7)
    const answer = fails ? format.error(503, 'Come back later.', call.number) : usual
    const entry = { status: answer.status, usage: answer.usage, whole: false }
    if (mark !== undefined) ledger.set(mark, [...(ledger.get(mark) ?? []), entry])
    if (fails && random.chance(0.3)) return void response.destroy()
    await deliver(response, answer, random)
    entry.whole = true
  }
}

/** Each answer's are its own, so that a sum can be right only when each was counted once. */
function figures(number: number) {
  return { input: 1000 + number, output: 100 + (number % 977), cacheRead: number % 50, cacheWrite: 0, reasoning: 7 }
}

async function readCall(request: IncomingMessage, number: number): Promise<MockCall> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const target = request.url ?? ''
  const [path = '', query = ''] = target.split(/\?(.*)/s)
  return {
    number,
    method: request.method ?? '',
    target,
    path,
    query: new URLSearchParams(query),
    rawHeaders: request.rawHeaders,
    headers: new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    body: Buffer.concat(chunks),
    sha256: '',
    objects: new MockObjects(),
  }
}

/** Some answers are slow, some streams pause between their events, some bodies are large: a kill must find each under way. */
async function deliver(response: ServerResponse, answer: MockAnswer, random: Random): Promise<void> {
  if (random.chance(0.3)) await wait(random.between(0, 60))
  const parts = answer.streamed ? answer.parts : [padding(random), ...answer.parts]
  const headers = answer.headers.flat()
  if (!answer.streamed) headers.push('content-length', String(parts.reduce((sum, part) => sum + part.length, 0)))
  response.writeHead(answer.status, headers)
  const pausing = random.chance(0.5)
  for (const part of parts) {
    if (pausing) await wait(random.between(0, 25))
    if (response.destroyed) throw new Error('the gateway hung up')
    response.write(part)
  }
  await new Promise<void>((resolve) => response.end(resolve))
}

/** White space before a JSON value is part of no value, and on either side of the largest that is held whole (1 MiB). */
function padding(random: Random): Buffer {
  return Buffer.alloc(random.chance(0.08) ? random.between(50_000, 1_500_000) : 0, ' ')
}
