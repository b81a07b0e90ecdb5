import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../../support/data-plane.ts'
import { type RawProvider, startRawProvider } from '../../support/raw-provider.ts'

const heldLimit = 8_000_000

let provider: RawProvider
let plane: DataPlane

beforeAll(async () => {
  provider = await startRawProvider()
  plane = await startDataPlane({
    heldLimit,
    // Bytes end these streams, however slow the machine is.
    timeouts: { total: 170_000 },
    providers: provider.providers,
  })
})

afterAll(async () => {
  provider.close()
  await plane.stop()
})

const clients = {
  chat: { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'x' }], stream: true } },
  responses: { path: '/v1/responses', body: { input: 'x', stream: true } },
  generate: {
    path: '/v1/gemini/v1beta/models/gemini-model:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
  },
}

async function call(client: keyof typeof clients, model: string) {
  const { path, body } = clients[client]
  const answer = await fetch(`${plane.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, model }),
  })
  const text = await answer.text()
  return { text, record: await plane.record(answer.headers.get('x-sp-request-id')) }
}

const drained = (socket: Socket) => new Promise((resolve) => socket.once('drain', resolve))
const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n'
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`

describe('an error of Gemini’s, and no proper end after it', () => {
  const said = event({ candidates: [{ content: { parts: [{ text: 'hello' }] } }] })
  const error = event({ error: { code: 503, message: 'try later', status: 'UNAVAILABLE' } })

  it.each(['generate', 'chat'] as const)(
    'is the one error that a client of %s gets, and the record’s',
    async (client) => {
      // Less than what was promised: the connection is cut behind the error.
      provider.act = (socket) => socket.end(`${head}content-length: 9999\r\n\r\n${said}${error}`)
      const { text, record } = await call(client, 'gemini-model')
      expect(text).toContain('hello')
      expect(text.match(/"error":/g)).toHaveLength(1)
      expect(text).toContain('try later')
      expect(record).toMatchObject({ error: { code: 'provider_error', message: 'try later' } })
    },
  )
})

describe('a stream without end', () => {
  const opening =
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":1}}}\n\n'
  const begin = `event: content_block_start\n${event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })}`
  const delta = (text: string) =>
    `event: content_block_delta\n${event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}`

  /** Writes `piece` until nobody reads it. */
  async function flood(socket: Socket, piece: string): Promise<void> {
    socket.write(`${head}\r\n${opening}${begin}`)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    while (!socket.destroyed) if (!socket.write(piece)) await Promise.race([drained(socket), closed])
  }

  it.each([
    ['text', delta('x'.repeat(20_000))],
    ['events that say nothing', delta('').repeat(200)],
    ['blocks', Array.from({ length: 200 }, (_, index) => begin.replace('"index":0', `"index":${index}`)).join('')],
  ])('of %s ends when the memory that answers may take is used up', async (_, piece) => {
    provider.act = (socket) => flood(socket, piece)
    const { text, record } = await call('responses', 'anthropic-model')
    expect(text.trimEnd().split('\n').at(-2)).toBe('event: response.failed')
    expect(record).toMatchObject({ error: { code: 'overloaded' } })
    await expect.poll(() => plane.held()).toBe(0)
  })
})
