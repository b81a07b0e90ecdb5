import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { askForToken, TokenRejected, type TokenSource, withToken } from '../../src/providers/access-token.ts'
import { entraToken } from '../../src/providers/azure-openai.ts'
import type { OutboundRequest, ResponseSink, Transport } from '../../src/providers/contract.ts'
import { RecordingSink } from './recording-sink.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

let sources = 0

/** Sells tokens that live a hundred minutes, and shows which one each call came with. */
function open(sell: (issue: number) => { status: number; body: string }) {
  let sales = 0
  let accepts = (_token: string) => true
  const transport: Transport = {
    send(request: OutboundRequest, sink: ResponseSink) {
      const isSale = request.path === '/token'
      const at = request.headers.indexOf('authorization')
      const token = request.headers[at + 1] ?? ''
      const { status, body } = isSale ? sell(++sales) : { status: accepts(token) ? 200 : 401, body: token }
      let over = false
      queueMicrotask(() => {
        if (over) return
        sink.onConnected()
        sink.onHead(status, [])
        if (!over) sink.onData(Buffer.from(body))
        if (!over) sink.onEnd()
      })
      return { abort: () => (over = true), pause() {}, resume() {} }
    },
  }
  const call = { method: 'POST', origin: 'http://h', headers: [], body: null, connectMs: 1000 }
  const source: TokenSource = {
    key: `source ${++sources}`,
    issue: (ask) => askForToken(ask, { ...call, path: '/token' }),
    rejection: (reason) => ({ headers: [], body: Buffer.from(reason) }),
  }
  const ask = async () => {
    const sink = new RecordingSink()
    withToken(transport, source).send({ ...call, path: '/call' }, sink)
    await sink.seen('over')
    return sink.fault === null ? `${sink.status} ${sink.text}` : sink.fault.message
  }
  return { ask, sales: () => sales, accept: (test: typeof accepts) => (accepts = test), source, transport, call }
}

const sold = (issue: number) => ({ status: 200, body: JSON.stringify({ access_token: `t${issue}`, expires_in: 6000 }) })

describe('an access token', () => {
  it('is bought once, and once only by calls that come together', async () => {
    const { ask, sales } = open(sold)
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(['200 Bearer t1', '200 Bearer t1', '200 Bearer t1'])
    expect(await ask()).toBe('200 Bearer t1')
    expect(sales()).toBe(1)
  })

  it('is renewed before it ends, while it still serves', async () => {
    const { ask, sales } = open(sold)
    await ask()
    vi.setSystemTime(Date.now() + 6000_000 - 299_000)
    expect(await ask()).toBe('200 Bearer t1')
    expect(sales()).toBe(2)
    await vi.waitFor(async () => expect(await ask()).toBe('200 Bearer t2'), 60_000)
    expect(sales()).toBe(2)
  })

  it('that has ended is never used', async () => {
    const { ask } = open(sold)
    await ask()
    vi.setSystemTime(Date.now() + 6000_000)
    expect(await ask()).toBe('200 Bearer t2')
  })

  it('that is refused before its time is replaced within the call; a new one that is refused is told', async () => {
    const { ask, accept } = open(sold)
    await ask()
    accept((token) => token !== 'Bearer t1')
    expect(await ask()).toBe('200 Bearer t2')
    accept(() => false)
    expect(await ask()).toBe('401 Bearer t3')
  })

  it.each([
    [400, '{"error":"invalid_grant"}', '401 400 invalid_grant'],
    [401, '{"error":"<script>"}', '401 401'],
    [200, '{}', 'No access token could be fetched: the token endpoint answered 200.'],
    [500, 'secret words', 'No access token could be fetched: the token endpoint answered 500.'],
  ])('%i %s is told as %s', async (status, body, told) => {
    const { ask } = open(() => ({ status, body }))
    expect(await ask()).toBe(told)
  })

  it('that cannot even be asked for is told in words', async () => {
    const { source, transport, call, sales } = open(sold)
    const sink = new RecordingSink()
    const issue = async () => {
      throw new TokenRejected('its token file cannot be read: ENOENT')
    }
    withToken(transport, { ...source, issue }).send({ ...call, path: '/call' }, sink)
    await sink.seen('over')
    expect([sink.status, sink.text, sales()]).toEqual([401, 'its token file cannot be read: ENOENT', 0])
  })

  it('that is sold at no URL is refused', async () => {
    const never = () => Promise.reject(new Error('It was asked for.'))
    await expect(entraToken({ authority: 'login.microsoftonline.us' }).issue(never)).rejects.toThrow(TokenRejected)
  })

  it('that is said again in a header is not passed', async () => {
    const { source, call } = open(sold)
    const transport: Transport = {
      send(request, sink) {
        const isSale = request.path === '/token'
        queueMicrotask(() => {
          sink.onConnected()
          sink.onHead(200, isSale ? [] : ['x-echo', request.headers.join(), 'x-a', '1'])
          sink.onData(Buffer.from(isSale ? '{"access_token":"token-0123"}' : '{}'))
          sink.onEnd()
        })
        return { abort() {}, pause() {}, resume() {} }
      },
    }
    const sink = new RecordingSink()
    withToken(transport, source).send({ ...call, path: '/call' }, sink)
    await sink.seen('over')
    expect(sink.headers).toEqual(['x-a', '1'])
  })

  it('nobody waits for is bought, and sends nothing', async () => {
    const { source, transport, call, sales } = open(sold)
    const sink = new RecordingSink()
    withToken(transport, source)
      .send({ ...call, path: '/call' }, sink)
      .abort()
    await vi.waitFor(() => expect(sales()).toBe(1), 60_000)
    await Promise.resolve()
    expect(sink.events).toEqual([])
  })
})
