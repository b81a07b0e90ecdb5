import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { afterTry, send, writeRequest } from '../../../src/daemon/alerts/delivery.ts'
import { createHttpTransport } from '../../../src/providers/http.ts'
import { listen } from '../../support/listen.ts'

const data = { resource: 'disk', scope: null, percent: 9, text: 'The disk <data> & more has 9% free.' }
const message = { type: 'disk.low', timestamp: '2026-03-10T00:00:00.000Z', data } as const
const now = Date.parse('2026-03-10T00:00:00Z')

it('sends the message signed, or its text alone to a Slack-style hook', () => {
  const secret = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`
  const signed = writeRequest({ id: 'msg_1', message }, 'webhook', { url: 'http://a.example/h?x=1', secret }, now)
  expect(signed).toMatchObject({ method: 'POST', origin: 'http://a.example', path: '/h?x=1' })
  expect(JSON.parse(String(signed.body))).toEqual(message)
  const key = createHmac('sha256', '0123456789abcdef01234567')
  const expected = key.update(`msg_1.${now / 1000}.${String(signed.body)}`).digest('base64')
  expect(signed.headers).toContain(`v1,${expected}`)
  expect(signed.headers).toEqual(expect.arrayContaining(['webhook-timestamp', String(now / 1000)]))
  const slack = writeRequest({ id: 'msg_1', message }, 'slack', { url: 'https://a.example/h', secret: null }, now)
  expect(JSON.parse(String(slack.body))).toEqual({ text: 'The disk &lt;data&gt; &amp; more has 9% free.' })
  expect(slack.headers).not.toContain('webhook-signature')
})

it('links the console in a Slack-style text', () => {
  const linked = { ...message, data: { ...data, text: 'Full.', url: 'https://console.example/?a=1' } }
  const { body } = writeRequest(
    { id: 'msg_1', message: linked },
    'slack',
    { url: 'https://a.example/h', secret: null },
    now,
  )
  expect(JSON.parse(String(body))).toEqual({ text: 'Full. <https://console.example/?a=1|Open the console>' })
})

it('tries 8 times within 24 hours, each pause longer than the one before', () => {
  const pauses: number[] = []
  let at = now
  for (let tries = 0; ; tries++) {
    const after = afterTry(tries, { status: 500, reason: 'it answered 500' }, at)
    expect(after.tries).toBe(tries + 1)
    if (after.nextAt === null) {
      expect(after).toMatchObject({ state: 'failed', tries: 8, endedAt: new Date(at).toISOString() })
      break
    }
    pauses.push(Date.parse(after.nextAt) - at)
    at = Date.parse(after.nextAt)
  }
  expect(pauses).toEqual([...pauses].sort((one, other) => one - other))
  expect(at - now).toBeGreaterThan(20 * 3600_000)
  expect(at - now).toBeLessThan(24 * 3600_000)
})

it('tries as often again what is sent again after its last try', () => {
  const failing = { status: 500, reason: 'it answered 500' }
  const [first, last] = [afterTry(8, failing, now), afterTry(15, failing, now)]
  expect(first).toMatchObject({ state: 'pending', tries: 9, nextAt: afterTry(0, failing, now).nextAt })
  expect(last).toMatchObject({ state: 'failed', tries: 16, nextAt: null })
})

describe('a receiver that answers', () => {
  /** What comes of one try at a server that answers so; null: it hangs up. */
  async function tryOnce(answer: { status: number; bytes?: number } | null) {
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        if (answer === null) return void response.destroy()
        response.writeHead(answer.status, { location: '/elsewhere' }).end('x'.repeat(answer.bytes ?? 2))
      })
    })
    const transport = createHttpTransport()
    onTestFinished(async () => {
      await transport.close()
      server.close()
    })
    const url = `${await listen(server)}/h`
    return await send(transport, writeRequest({ id: 'msg_1', message }, 'webhook', { url, secret: null }, now))
  }

  it.each([200, 204, 299])('%d has it', async (status) => {
    expect(await tryOnce({ status })).toEqual({ status, reason: null })
  })

  it.each([
    [300, 'it answered 300: redirects are not followed, so use the final URL'],
    [307, 'it answered 307: redirects are not followed, so use the final URL'],
    [400, 'it answered 400'],
    [500, 'it answered 500'],
  ])('%d does not', async (status, reason) => {
    expect(await tryOnce({ status })).toEqual({ status, reason })
  })

  it('too much, or nothing, does not', async () => {
    expect(await tryOnce({ status: 200, bytes: 65 * 1024 })).toEqual({
      status: null,
      reason: 'the answer is too large',
    })
    const { status, reason } = await tryOnce(null)
    expect([status, reason]).toEqual([null, expect.stringContaining('receiver')])
  })
})
