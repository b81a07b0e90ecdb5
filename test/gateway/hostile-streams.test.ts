import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net, { type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { type RawProvider, startRawProvider } from '../support/raw-provider.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'
import { until } from '../support/until.ts'

type LaneName = 'openai' | 'anthropic' | 'gemini'

let provider: RawProvider
let plane: DataPlane

beforeAll(async () => {
  provider = await startRawProvider()
  plane = await startDataPlane({
    providers: provider.providers,
    routes: [
      makeRoute('unopened', [makeTarget('openai')], { retries: 0, timeouts: { firstByte: 900 } }),
      makeRoute('silent', [makeTarget('openai')], { retries: 0, timeouts: { betweenChunks: 600 } }),
      makeRoute('endless', [makeTarget('openai')], { retries: 0, timeouts: { total: 1300 } }),
    ],
  })
})

afterAll(async () => {
  provider.close()
  await plane.stop()
})

const calls: Record<LaneName, { path: string; body: object }> = {
  openai: { path: '/v1/chat/completions', body: { messages: [], stream: true } },
  anthropic: {
    path: '/v1/anthropic/v1/messages',
    body: { messages: [], max_tokens: 9, stream: true },
  },
  gemini: { path: '/v1/gemini/v1beta/models/gemini-model:streamGenerateContent?alt=sse', body: { contents: [] } },
}

async function call(lane: LaneName, { model = `${lane}-model`, keep = true } = {}) {
  const { path, body } = calls[lane]
  const headers = { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' }
  const request = http.request(`${plane.baseUrl}${path}`, { method: 'POST', headers, agent: false })
  request.on('error', () => {}).end(JSON.stringify({ ...body, model }))
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (keep) chunks.push(chunk)
  }
  const record = await plane.record(String(response.headers['x-sp-request-id']))
  return { status: response.statusCode, text: Buffer.concat(chunks).toString(), length, record }
}

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n'
const said = 'snow ☃ and 👍🏽'

/** A whole stream, an event each. */
const streams: Record<LaneName, string[]> = {
  openai: [
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: said } }] })}`,
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}`,
    'data: [DONE]',
  ],
  anthropic: [
    `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 3 } } })}`,
    `event: content_block_start\ndata: ${JSON.stringify({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: said } })}`,
    `event: message_delta\ndata: ${JSON.stringify({ type: 'message_delta', delta: {}, usage: { output_tokens: 4 } })}`,
    `event: message_stop\ndata: ${JSON.stringify({ type: 'message_stop' })}`,
  ],
  gemini: [
    `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: said }] } }] })}`,
    `data: ${JSON.stringify({ candidates: [{ finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 3 } })}`,
  ],
}

const lanes = Object.keys(streams) as LaneName[]
const whole = (lane: LaneName, end = '\n\n') => streams[lane].map((event) => event + end).join('')

async function drip(socket: Socket, bytes: Buffer, pauseMs = 0): Promise<void> {
  socket.setNoDelay(true)
  for (const byte of bytes) {
    if (socket.destroyed) return
    socket.write(Buffer.from([byte]))
    await (pauseMs === 0 ? new Promise(setImmediate) : new Promise((resolve) => setTimeout(resolve, pauseMs)))
  }
  socket.end()
}

describe.each(lanes)('a stream of %s', (lane) => {
  it('cut into single bytes, in the middle of letters, passes as it is', async () => {
    provider.act = (socket) => drip(socket, Buffer.from(head + whole(lane)))
    const { status, text, record } = await call(lane)
    expect([status, text]).toEqual([200, whole(lane)])
    expect(record).toMatchObject({ status: 200, error: null })
  })

  it.each(['\r\n\r\n', '\r\r', '\n\r\n', '\r\n\n', '\n\n\n\r\n'])(
    'with the line ends %j passes as it is',
    async (end) => {
      const sent = whole(lane, end)
      provider.act = (socket) => socket.end(head + sent)
      const { status, text, record } = await call(lane)
      expect([status, text]).toEqual([200, sent])
      expect(record).toMatchObject({ status: 200, error: null })
    },
  )

  it('with bytes that are no letters passes as it is', async () => {
    const odd = Buffer.concat([
      Buffer.from(head),
      Buffer.from(streams[lane][0]!),
      Buffer.from([0xff, 0xc0, 0, 0x0a, 0x0a]),
    ])
    provider.act = (socket) => {
      socket.write(odd)
      socket.end(whole(lane))
    }
    const { status, record } = await call(lane)
    expect([status, record.status]).toEqual([200, 200])
  })

  it('without its end is told to be broken', async () => {
    // What a client could take for whole is taken for whole, also without the last word.
    const events = streams[lane].slice(0, lane === 'openai' ? 1 : -1)
    provider.act = (socket) => socket.end(`${head}${events.join('\n\n')}\n\n`)
    const { text, record } = await call(lane)
    expect(text).toContain('error')
    expect(record).toMatchObject({ status: 200, error: { code: 'provider_bad_response' } })
  })

  it('cut within an event ends in an event that can be read', async () => {
    const [first = '', second = ''] = streams[lane]
    const begun = lane === 'anthropic' ? `${first}\n\n${second}\n\n` : `${first}\n\n`
    provider.act = (socket) => socket.end(`${head}${begun}data: {"half":"\u2603`)
    const { text, record } = await call(lane)
    expect(text).not.toContain('half')
    expect(text.startsWith(begun)).toBe(true)
    expect(text).toMatch(/\n\r?\n$/)
    expect(record).toMatchObject({ error: { code: 'provider_bad_response' } })
  })
})

describe('a stream', () => {
  it('of one event of a hundred megabytes flows, in little memory', async () => {
    const piece = Buffer.alloc(1_000_000, 'x')
    provider.act = async (socket) => {
      socket.write(`${head}data: {"candidates":[{"content":{"parts":[{"text":"`)
      for (let sent = 0; sent < 100; sent++) if (!socket.write(piece)) await once(socket, 'drain')
      socket.end(`"}]}}]}\n\n${whole('openai')}`)
    }
    const before = process.memoryUsage().rss
    let most = before
    const sampling = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5)
    const { status, length } = await call('openai', { keep: false })
    clearInterval(sampling)
    expect(status).toBe(200)
    expect(length).toBeGreaterThan(100_000_000)
    // Client and provider are of this process too, and each has its garbage.
    expect(most - before).toBeLessThan(300_000_000)
  })

  it('that says nothing behind its end, at length, is not held for it', async () => {
    const seen = Promise.withResolvers<void>()
    provider.act = async (socket) => {
      socket.write(head + whole('gemini'))
      for (let sent = 0; sent < 8; sent++) socket.write(`: ${'y'.repeat(20_000)}\n\n`)
      await seen.promise
      socket.end()
    }
    const { path, body } = calls.gemini
    const headers = { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' }
    const response = await fetch(`${plane.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    let text = ''
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece
      if (text.includes('STOP')) seen.resolve()
    }
    expect(text.startsWith(whole('gemini'))).toBe(true)
    const record = await plane.record(response.headers.get('x-sp-request-id'))
    expect(record).toMatchObject({ status: 200, error: null, tokens: { input: 3 } })
  })

  it('that drips for ever ends when a call must', async () => {
    provider.act = (socket) => {
      socket.write(`${head}${streams.openai[0]}\n\n`)
      void drip(socket, Buffer.alloc(1000, ':'), 100)
    }
    const { record } = await call('openai', { model: 'endless' })
    expect(record).toMatchObject({ error: { code: 'provider_timeout', message: expect.stringContaining('total') } })
  })

  it('that says nothing more ends after between_chunks', async () => {
    provider.act = (socket) => socket.write(`${head}${streams.openai[0]}\n\n`)
    const { record } = await call('openai', { model: 'silent' })
    expect(record).toMatchObject({
      error: { code: 'provider_timeout', message: expect.stringContaining('between_chunks') },
    })
  })
})

describe('a head', () => {
  const cases: [string, (socket: Socket) => unknown, number][] = [
    [
      'of a megabyte',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\n${`x-a: ${'b'.repeat(1000)}\r\n`.repeat(1000)}\r\n`),
      502,
    ],
    [
      'of a hundred thousand lines',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(100_000)}\r\n`),
      502,
    ],
    ['without end', (socket) => drip(socket, Buffer.from(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1000)}`), 20), 504],
    [
      'behind a thousand that are none',
      (socket) => socket.end(`${'HTTP/1.1 103 Early\r\n\r\n'.repeat(1000)}${head}${whole('openai')}`),
      200,
    ],
    [
      'with a chunk size beyond all bounds',
      (socket) =>
        socket.write(
          'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\nx',
        ),
      502,
    ],
  ]
  it.each(cases)('from the provider, %s, ends', async (_name, act1, expected) => {
    provider.act = act1
    const { status } = await call('openai', { model: 'unopened' })
    expect(status).toBe(expected)
  })

  it('from a client, of more lines than anybody sends, is refused or read, and its credential counts', async () => {
    const { hostname, port } = new URL(plane.baseUrl)
    const socket = net.connect(Number(port), hostname).on('error', () => {})
    let text = ''
    socket.on('data', (chunk) => (text += chunk))
    socket.write(
      `GET /v1/models HTTP/1.1\r\nhost: x\r\n${'x: y\r\n'.repeat(20_000)}authorization: Bearer ${plane.key}\r\n\r\n`,
    )
    await once(socket, 'close')
    expect(text).toMatch(/^HTTP\/1.1 (4\d\d) /)
    expect(text).toMatch(/x-sp-request-id: req_/)
  })
})

describe('a client', () => {
  it('that drips its body for longer than a call may take is told so', async () => {
    const hasty = await startDataPlane({ providers: [], timeouts: { total: 1300 } })
    const { hostname, port } = new URL(hasty.baseUrl)
    const socket = net.connect(Number(port), hostname).on('error', () => {})
    let text = ''
    socket.on('data', (chunk) => (text += chunk))
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${hasty.key}\r\ncontent-length: 1000\r\n\r\n`,
    )
    const dripping = setInterval(() => socket.write(' '), 100)
    await once(socket, 'data')
    clearInterval(dripping)
    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(text).toContain('did not arrive in time')
    socket.destroy()
    await hasty.stop()
  })
})

describe('after all of this', () => {
  it('nothing is left, and the next call is served', async () => {
    await until(() => plane.inFlight() === 0)
    provider.act = (socket) => socket.end(head + whole('openai'))
    expect((await call('openai')).status).toBe(200)
    expect(plane.health(0)).toEqual({ state: 'ready' })
  })
})
