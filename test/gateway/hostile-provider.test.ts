import net, { type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'

let provider: net.Server
let plane: DataPlane
let baseUrl: string
/** What the provider does with the next call, whose bytes have come. */
let act: (socket: Socket, request: string) => void = (socket) => socket.destroy()
const sockets = new Set<Socket>()

const credential = 'canary-of-the-provider'
const ownHeader = 'canary-of-its-own-header'

beforeAll(async () => {
  provider = net.createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    socket.once('data', (chunk) => act(socket, chunk.toString('latin1')))
  })
  baseUrl = `${await listen(provider)}/v1`
  plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl, credentials: [credential, credential], headers: { 'x-door': ownHeader } }],
  })
})

afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await plane.stop()
  provider.close()
})

async function call(body: object, operation = 'chat/completions', at = plane) {
  const answer = await fetch(`${at.baseUrl}/v1/${operation}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai-model', ...body }),
  })
  const text = await answer.text().catch(() => 'cut')
  return { status: answer.status, headers: answer.headers, text }
}

function answerWith(head: string, body: string | Buffer): void {
  act = (socket) => {
    const bytes = Buffer.from(body)
    socket.write(`HTTP/1.1 ${head}\r\ncontent-length: ${bytes.length}\r\nconnection: close\r\n\r\n`)
    socket.end(bytes)
  }
}

const json = 'content-type: application/json'

describe('a provider', () => {
  it.each(['000', '099', '999'])('with the status %s gets an end', async (status) => {
    answerWith(`${status} Odd\r\n${json}`, '{}')
    const answer = await call({})
    expect(plane.newest()?.status).toBe(answer.status)
    // And not that of the time in which it says nothing more.
    expect(plane.newest()?.error?.code).not.toBe('provider_timeout')
  })

  it('whose header is no Latin-1 is answered from all the same', async () => {
    answerWith(`200 OK\r\nx-note: \u2603 caf\u00e9\r\n${json}`, '{"choices":[]}')
    expect((await call({})).status).toBe(200)
    act = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-note: \u2603\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n')
      socket.end('data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n')
    }
    const streamed = await call({ stream: true })
    expect(streamed).toMatchObject({ status: 200, text: expect.stringContaining('[DONE]') })
    expect(plane.newest()).toMatchObject({ status: 200, error: null })
  })

  it('cannot send the client elsewhere', async () => {
    answerWith('302 Found\r\nlocation: http://169.254.169.254/latest\r\nrefresh: 0;url=http://evil', '')
    const { headers } = await call({})
    expect(headers.get('location')).toBeNull()
    expect(headers.get('refresh')).toBeNull()
  })

  it('that repeats its credential in an error is not passed on with it', async () => {
    act = (socket, request) => {
      const body = JSON.stringify({ error: { message: request } })
      socket.end(
        `HTTP/1.1 400 Bad\r\n${json}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
      )
    }
    const { status, text } = await call({})
    expect(status).toBe(400)
    expect(text).toContain('***')
    expect(text).not.toContain(credential)
    expect(text).not.toContain(ownHeader)
  })

  it.each([
    ['200 OK', '{"choices":[]}', {}],
    ['400 Bad', '{"error":{"message":"no"}}', {}],
    ['200 OK', 'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n', { stream: true }],
  ])('that repeats its credential in headers (%s, %s) does not get them through', async (status, body, more) => {
    const encoded = Buffer.from(`x:${credential}`).toString('base64')
    const type = 'stream' in more ? 'content-type: text/event-stream' : json
    answerWith(
      `${status}\r\n${type}\r\nx-echo: Bearer ${credential}\r\nx-basic: ${encoded}\r\nx-own: ${ownHeader}\r\nx-kept: 1`,
      body,
    )
    const { headers, text } = await call(more)
    expect(['x-echo', 'x-basic', 'x-own', 'x-kept'].map((name) => headers.get(name))).toEqual([null, null, null, '1'])
    expect(text).toContain(body.slice(0, 6))
    expect(plane.newest()?.routing_signals).toContainEqual(
      expect.objectContaining({ rule: 'credential', text: expect.stringContaining('x-echo, x-basic') }),
    )
  })

  it.each([true, false])('whose stream ends in an error does not tell its account (first: %s)', async (first) => {
    const content = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    const error = `data: ${JSON.stringify({ error: { message: `bad key ${credential} of org-abcdef123456`, code: 400 } })}\n\n`
    act = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n')
      socket.end(first ? error : content + error)
    }
    const { text } = await call({ stream: true })
    expect(text).toContain('bad key')
    expect(text).not.toContain(credential)
    expect(text).not.toContain('org-abcdef123456')
    expect(JSON.stringify(plane.newest())).not.toContain(credential)
  })

  it('that asks to wait for ever is not left alone for ever', async () => {
    answerWith(`429 Wait\r\nretry-after: ${'9'.repeat(400)}\r\n${json}`, '{}')
    const other = await startDataPlane({ providers: [{ kind: 'openai', baseUrl, credentials: ['one', 'two'] }] })
    const { status } = await call({}, 'chat/completions', other)
    const credentials = 2
    const view = other.health(0, credentials, 'openai-model')
    await other.stop()
    expect(status).toBe(429)
    expect(view).toMatchObject({ state: 'limited' })
    expect('until' in view ? view.until - Date.now() : 0).toBeLessThan(2 * 60 * 60_000)
  })
})

describe('a pool', () => {
  it('is gone through once, also when the provider says to come back at once', async () => {
    let calls = 0
    act = (socket) => {
      calls++
      socket.end(`HTTP/1.1 429 Wait\r\nretry-after: 0\r\n${json}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`)
    }
    const other = await startDataPlane({
      providers: [{ kind: 'openai', baseUrl, credentials: ['one', 'two', 'three'] }],
    })
    const { status } = await call({}, 'chat/completions', other)
    await other.stop()
    expect(status).toBe(429)
    expect(calls).toBe(3)
  })
})

describe('usage', () => {
  it('is read from the end of an answer that is too large to be held', async () => {
    const data = [{ embedding: Array.from({ length: 200_000 }, () => 0.123456789) }]
    answerWith(
      `200 OK\r\n${json}`,
      JSON.stringify({ object: 'list', data, model: 'm', usage: { prompt_tokens: 7, total_tokens: 7 } }),
    )
    const { status, text } = await call({}, 'embeddings')
    expect(status).toBe(200)
    expect(text.length).toBeGreaterThan(1_000_000)
    expect(plane.newest()?.tokens).toMatchObject({ input: 7, source: 'reported' })
  })
})

describe('a redirected or broken answer', () => {
  it('cut at any byte of its head or body ends in an error that is recorded', async () => {
    const whole = `HTTP/1.1 200 OK\r\n${json}\r\ncontent-length: 14\r\n\r\n{"choices":[]}`
    for (let cut = 0; cut < whole.length; cut += 7) {
      act = (socket) => socket.end(whole.slice(0, cut))
      const { status } = await call({})
      expect([502, 503]).toContain(status)
    }
    expect(plane.inFlight()).toBe(0)
  })
})

it('that sends an upload on to what is no URL is not followed, and its client has an answer', async () => {
  const gemini = await startDataPlane({
    providers: [{ kind: 'gemini', baseUrl: baseUrl.replace(/\/v1$/, ''), credentials: [credential] }],
  })
  answerWith('200 OK\r\nx-goog-upload-status: active\r\nx-goog-upload-url: http://[\r\ncontent-type: text/plain', '')
  const answer = await fetch(`${gemini.baseUrl}/v1/gemini/upload/v1beta/files`, {
    method: 'POST',
    headers: { 'x-goog-api-key': gemini.key, 'x-goog-upload-protocol': 'resumable', 'x-goog-upload-command': 'start' },
    body: '{}',
  })
  const told = ['x-goog-upload-status', 'x-goog-upload-url'].map((name) => answer.headers.get(name))
  const record = await gemini.record(answer.headers.get('x-sp-request-id'))
  await gemini.stop()
  expect([answer.status, ...told, record.status]).toEqual([200, 'active', null, 200])
})
