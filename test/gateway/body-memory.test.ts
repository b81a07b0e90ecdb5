import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BodyMemory } from '../../src/gateway/request/body-memory.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'

const megabyte = 1024 * 1024

describe('memory for bodies', () => {
  function fill(memory: BodyMemory, text: string) {
    const lease = memory.lease(megabyte)!
    lease.add(Buffer.from(text))
    return lease
  }

  it('serves again when its request has ended and all attempts have sent it', () => {
    const memory = new BodyMemory()
    const first = fill(memory, 'first')
    const body = first.join()
    const attempts = [first.borrow(), first.borrow()]
    for (const release of attempts) release()
    first.end()
    const second = fill(memory, '2nd')
    expect(second.holds(body)).toBe(true)
    expect(second.join().toString()).toBe('2nd')
  })

  it('is left to whoever may still read it', () => {
    const memory = new BodyMemory()
    const first = fill(memory, 'first')
    const body = first.join()
    const early = first.borrow()
    const late = first.borrow()
    early()
    // Said twice, it must not stand for the other reader.
    early()
    first.end()
    expect(fill(memory, 'other').holds(body)).toBe(false)
    late()
    first.end()
    expect(fill(memory, 'other').holds(body)).toBe(false)
    expect(body.toString()).toBe('first')
  })

  it('is overwritten before it serves again, so that a reader that comes too late is seen', () => {
    const memory = new BodyMemory()
    const first = fill(memory, 'first')
    const body = first.join()
    first.end()
    expect(body.toString()).toBe('~~~~~')
  })

  it('is for few bodies at once, neither small nor huge', () => {
    const memory = new BodyMemory()
    expect([memory.lease(1024), memory.lease(64 * megabyte)]).toEqual([null, null])
    const leases = Array.from({ length: 8 }, () => memory.lease(megabyte))
    expect(leases).not.toContain(null)
    expect(memory.lease(megabyte)).toBeNull()
    leases[0]!.borrow()
    leases[0]!.end()
    expect(memory.lease(megabyte)).not.toBeNull()
  })
})

/** What a provider was sent: the letter of its body, and how often another one stood among its letters. */
interface Seen {
  letter: string
  strange: number
  bytes: number
}

describe('bodies that share memory one after the other', () => {
  let provider: http.Server
  let plane: DataPlane
  let seen: Seen[] = []
  /** Providers that have not read on yet. */
  let waiting: (() => void)[] = []

  /** What goes before the letters, and after them, has none of theirs, and no byte of memory that was given back. */
  function countStrange(letter: string, chunk: Buffer): number {
    return ['A', 'B', 'C', 'D', 'E', '~'].filter((other) => other !== letter && chunk.includes(other)).length
  }

  async function readOn(request: IncomingMessage, sum: Seen): Promise<void> {
    seen.push(sum)
    try {
      for await (const chunk of request) {
        sum.strange += countStrange(sum.letter, chunk as Buffer)
        sum.bytes += (chunk as Buffer).length
      }
    } catch {
      // Cut: what came before counts.
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const way = String(request.headers['x-way'])
    const sum = { letter: String(request.headers['x-letter']), strange: 0, bytes: 0 }
    const good = () => response.end('{"choices":[]}')
    response.on('error', () => {})
    response.setHeader('content-type', 'application/json')
    if (way === 'plain') return readOn(request, sum).then(() => void good())
    // Nothing is read, so that most of the body stays where it is.
    if (way === 'early') response.writeHead(400).end('{"error":{"message":"no"}}')
    await new Promise<void>((resolve) => waiting.push(resolve))
    await readOn(request, sum)
    if (way === 'slow') good()
  }

  beforeAll(async () => {
    provider = http.createServer((request, response) => void answer(request, response))
    const baseUrl = `${await listen(provider)}/v1`
    plane = await startDataPlane({ providers: [{ kind: 'openai', baseUrl }] })
  })

  beforeEach(() => {
    seen = []
    waiting = []
  })

  afterAll(async () => {
    provider.closeAllConnections()
    await plane.stop()
    provider.close()
  })

  function post(letter: string, way: string): http.ClientRequest {
    const head = '{"model":"openai-model","messages":[],"user":"'
    const body = `${head}${letter.repeat(6 * megabyte)}"}`
    const headers = { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' }
    const options = { method: 'POST', headers: { ...headers, 'x-way': way, 'x-letter': letter }, agent: false }
    const request = http.request(`${plane.baseUrl}/v1/chat/completions`, options)
    request.on('error', () => {})
    request.end(body)
    return request
  }

  async function statusOf(request: http.ClientRequest): Promise<number> {
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()
    await once(response, 'end')
    return response.statusCode ?? 0
  }

  async function untilWaiting(count: number): Promise<void> {
    while (waiting.length < count) await new Promise((resolve) => setTimeout(resolve, 2))
  }

  it.each(['early', 'slow', 'gone'])('arrive as they were sent, when others come in between (%s)', async (way) => {
    const first = post('A', way)
    const ended = way === 'gone' ? null : statusOf(first)
    await untilWaiting(1)
    if (way === 'early') expect(await ended).toBe(400)
    if (way === 'gone') first.destroy()
    for (const letter of ['B', 'C', 'D']) expect(await statusOf(post(letter, 'plain'))).toBe(200)
    for (const goOn of waiting) goOn()
    if (way === 'slow') expect(await ended).toBe(200)
    expect(await statusOf(post('E', 'plain'))).toBe(200)
    expect(seen.map(({ letter }) => letter).sort()).toEqual(['A', 'B', 'C', 'D', 'E'])
    expect(seen.filter(({ strange }) => strange > 0)).toEqual([])
    const whole = seen.filter(({ letter }) => letter !== 'A' || way === 'slow')
    for (const { bytes } of whole) expect(bytes).toBeGreaterThan(6 * megabyte)
  })
})
