import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secrets/secret.ts'
import { ask, openListener, sampleState, startListener, unasked } from './open-listener.ts'

const portOf = (url: string) => Number(new URL(url).port)

describe('every answer', () => {
  it.each(['/', '/metrics', '/api/openapi.json', '/api/keys/list', '/assets/nowhere.js', '/auth/nowhere'])(
    'of %s is guarded',
    async (path) => {
      const listener = await openListener()
      const { headers } = await ask(listener.url + path)
      expect(headers).toMatchObject({
        // The page, where it was built, is asked about anew each time.
        'cache-control': path === '/' ? expect.stringMatching(/^no-(store|cache)$/) : 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    },
  )

  it.each([
    ['/metrics', 200],
    ['/api/openapi.json', 200],
    ['/api/keys/list', 401],
    ['/auth/nowhere', 404],
    ['/assets/nowhere.js', 404],
    ['/favicon.ico', 404],
  ])('of %s has status %i, to HEAD as to GET', async (path, status) => {
    const listener = await openListener()
    const got = await ask(listener.url + path)
    const head = await ask(listener.url + path, { method: 'HEAD' })
    expect([got.status, head.status]).toEqual([status, status])
    expect(Number(got.headers['content-length'])).toBe(Buffer.byteLength(got.body))
    expect(head.body).toBe('')
    expect(head.headers['content-type']).toBe(got.headers['content-type'])
  })

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('refuses %s', async (method) => {
    const listener = await openListener()
    const answer = await ask(`${listener.url}/metrics`, { method })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('reads no body, however large it is said to be', async () => {
    const listener = await openListener()
    const socket = connect(portOf(listener.url), '127.0.0.1')
    socket.write(
      'POST /metrics HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\nabc',
    )
    const said: string[] = []
    socket.setEncoding('utf8').on('data', (text: string) => said.push(text))
    await once(socket, 'close')
    expect(said.join('')).toMatch(/^HTTP\/1\.1 405 /)
    expect(said.join('')).toContain('connection: close')
  })

  it('refuses a head that is too large', async () => {
    const listener = await openListener()
    const { status } = await ask(listener.url, { headers: { 'x-filler': 'a'.repeat(20_000) } })
    expect(status).toBe(431)
  })

  it('waits for the gateway', async () => {
    const listener = await startListener()
    const early = await ask(`${listener.url}/metrics`)
    expect([early.status, early.headers['retry-after']]).toEqual([503, '1'])
  })

  it('tells of a fault without saying what it was', async () => {
    const listener = await startListener()
    listener.open({ state: () => Promise.reject(new Error('the inside')), openApi: async () => ({}), ...unasked })
    const { status, body } = await ask(`${listener.url}/metrics`)
    expect([status, body]).toEqual([500, expect.not.stringContaining('inside')])
    expect(listener.faults).toEqual([new Error('the inside')])
  })
})

describe('the address', () => {
  it('that is taken is refused by name, with the flag that mends it', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const address = holder.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await expect(startListener({ port })).rejects.toMatchObject({
      message: `the console cannot listen on 127.0.0.1:${port}: it is in use`,
      hint: expect.stringContaining('--console-listen'),
    })
    holder.close()
  })

  it('is shown as one that answers, where it listens on all', async () => {
    const { url } = await openListener(sampleState(), { host: '0.0.0.0' })
    expect(url).toBe(`http://localhost:${portOf(url)}`)
    expect((await ask(`${url}/metrics`)).status).toBe(200)
  })

  it('is shown as operators see it', async () => {
    expect((await openListener(sampleState(), { url: 'https://console.example.com' })).url).toBe(
      'https://console.example.com',
    )
  })
})

describe('the API', () => {
  it.each(['GET', 'POST', 'DELETE'])(
    'refuses %s of a stranger as a client of the contract reads it',
    async (method) => {
      const listener = await openListener()
      const { status, headers, body } = await ask(`${listener.url}/api/keys/create`, { method })
      expect([status, headers['content-type']]).toEqual([401, 'application/json'])
      expect(JSON.parse(body)).toEqual({
        defined: false,
        code: 'not_signed_in',
        status: 401,
        message: 'You are not signed in.',
        data: { hint: 'Sign in to the console.' },
      })
    },
  )

  it('describes itself to anybody who means it, and to no page of another name', async () => {
    const listener = await openListener(sampleState(), { url: 'https://console.example.com' })
    const bound = `http://localhost:${listener.port}/api/openapi.json`
    const asked = async (host: string) => ask(bound, { headers: { host } })
    for (const host of ['console.example.com', `localhost:${listener.port}`, `127.0.0.1:${listener.port}`]) {
      const { status, body } = await asked(host)
      expect([host, status, JSON.parse(body)]).toEqual([host, 200, { openapi: '3.1.1' }])
    }
    const foreign = await asked(`rebound.example.com:${listener.port}`)
    expect([foreign.status, JSON.parse(foreign.body)]).toEqual([421, expect.objectContaining({ code: 'refused' })])
    expect(foreign.body).not.toContain('openapi')
  })
})

describe('metrics', () => {
  it('are for this machine when there is no token', async () => {
    const listener = await openListener()
    const answer = await ask(`${listener.url}/metrics`)
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
    const lines = answer.body.split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        'spgw_info{version="1.2.3"} 1',
        'spgw_requests_in_flight 3',
        'spgw_requests_total 7',
        'spgw_workers 2',
        'spgw_degraded{part="journal"} 0',
        'spgw_degraded_total{part="store"} 2',
        'spgw_record_lag_seconds 0.25',
        'spgw_journal_set_aside 0',
        'spgw_journal_entries_lost_total 0',
        'spgw_provider_ready{provider="openai",kind="openai",state="ready"} 1',
        'spgw_database_bytes 1000',
      ]),
    )
    expect(answer.body).not.toContain('spgw_journal_bytes')
    for (const line of lines.filter((each) => each !== '' && !each.startsWith('#')))
      expect(line).toMatch(/^[a-z_0-9]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+$/)
  })

  it.each([
    ['a page whose name leads here', { host: 'evil.example:8788' }],
    ['a name that only begins like ours', { host: 'localhost.evil.example' }],
    ['an address that only begins like ours', { host: '127.0.0.1.evil.example' }],
    ['a proxy', { host: 'localhost', 'x-forwarded-for': '203.0.113.9' }],
    ['a proxy of the standard', { host: 'localhost', forwarded: 'for=203.0.113.9' }],
  ])('are refused to %s', async (_who, headers) => {
    const listener = await openListener()
    const metrics = await ask(`${listener.url}/metrics`, { headers })
    expect([metrics.status, metrics.body]).toEqual([403, expect.stringContaining('console.metrics_token')])
  })

  it.each(['localhost', 'LOCALHOST:8788', '127.0.0.1', '127.9.9.9:1', '[::1]:8788'])('answer to %s', async (host) => {
    const listener = await openListener()
    expect((await ask(`${listener.url}/metrics`, { headers: { host } })).status).toBe(200)
  })

  it('are for whoever has the token, when there is one', async () => {
    const listener = await openListener(sampleState(), { metricsToken: new Secret('the token') })
    const asWith = (authorization?: string) =>
      ask(`${listener.url}/metrics`, { headers: { host: 'gateway.example', ...(authorization && { authorization }) } })
    const refused = await Promise.all([
      asWith(),
      asWith('Bearer the'),
      asWith('Bearer the tokens'),
      asWith('Basic the token'),
    ])
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401])
    expect(refused[0]?.headers['www-authenticate']).toMatch(/^Bearer /)
    expect((await asWith('Bearer the token')).status).toBe(200)
  })
})
