import { once } from 'node:events'
import http from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { mintApiToken } from '../../src/core/secrets/api-token.ts'
import { hashToken } from '../../src/sign-in/token.ts'
import type { ApiToken } from '../../src/store/operators/token-tables.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { ask } from './open-listener.ts'
import { cookieOf, cookiesOf, openSite, password } from './open-site.ts'

describe('signing in', () => {
  it('gives a cookie that no script, no other site and no other host gets', async () => {
    const { post, get, addOperator, listener } = await openSite()
    const { id } = await addOperator('anna')
    const answer = await post('/auth/password', { name: 'anna', password })
    expect(cookiesOf(answer)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^__Host-spgw-${listener.port}=[\\w-]{43}; Path=/; Max-Age=2592000; HttpOnly; Secure; SameSite=Strict$`,
        ),
      ),
    ])
    expect(JSON.parse(answer.body)).toEqual({
      operator: { id, name: 'anna', display_name: 'anna', grants: [{ project: null, role: 'owner' }] },
    })
    const state = JSON.parse((await get('/auth/state', cookieOf(answer))).body)
    expect(state).toMatchObject({ operator: { id }, sign_in_refused: null, methods: { password: true, oidc: null } })
    expect(JSON.parse((await get('/auth/state')).body)).toMatchObject({ operator: null })
  })

  it('never takes over a session that was there before', async () => {
    const { post, get, addOperator, enter } = await openSite()
    const [eve, anna] = [await addOperator('eve'), await addOperator('anna')]
    const planted = await enter(eve)
    const fresh = cookieOf(await post('/auth/password', { name: 'anna', password }, planted))
    expect(fresh).not.toBe(planted)
    expect(JSON.parse((await get('/auth/state', planted)).body)).toMatchObject({ operator: null })
    expect(JSON.parse((await get('/auth/state', fresh)).body)).toMatchObject({ operator: { id: anna.id } })
    // Of two cookies of one name neither is believed.
    const both = `${fresh}; ${await enter(anna)}`
    expect(JSON.parse((await get('/auth/state', both)).body)).toMatchObject({ operator: null })
  })

  it('goes on past the cookie of a gateway on another port', async () => {
    const { get, addOperator, enter } = await openSite()
    const cookie = await enter(await addOperator('anna'))
    const other = '__Host-spgw-8788=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    expect(JSON.parse((await get('/auth/state', `${other}; ${cookie}`)).body)).toMatchObject({
      operator: { name: 'anna' },
    })
  })

  it('that is cut off in its body is no fault', async () => {
    const { listener, get, headersOf } = await openSite()
    const head = Object.entries({ ...headersOf(''), 'content-length': '100' }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    const socket = connect(listener.port, '127.0.0.1')
    const closed = once(socket, 'close')
    socket.resume().end(['POST /auth/password HTTP/1.1', ...head, '', '{"name":'].join('\r\n'))
    await closed
    expect((await get('/auth/state')).status).toBe(200)
    expect(listener.faults).toEqual([])
  })

  it('is refused where others read along', async () => {
    const { url, addOperator } = await openSite({ url: 'http://console.example.com' })
    await addOperator('anna')
    const headers = {
      host: 'console.example.com',
      origin: 'http://console.example.com',
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ name: 'anna', password })
    const answer = await ask(`${url}/auth/password`, { method: 'POST', headers, body })
    expect([answer.status, JSON.parse(answer.body).code, cookiesOf(answer)]).toEqual([403, 'refused', []])
    const state = JSON.parse((await ask(`${url}/auth/state`, { headers })).body)
    expect(state.sign_in_refused).toContain('neither HTTPS nor local')
  })

  it('works behind a proxy that speaks HTTPS', async () => {
    const { url, addOperator } = await openSite({ url: 'https://console.example.com' })
    await addOperator('anna')
    const headers = {
      host: 'console.example.com',
      origin: 'https://console.example.com',
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ name: 'anna', password })
    const answer = await ask(`${url}/auth/password`, { method: 'POST', headers, body })
    expect([answer.status, cookieOf(answer).split('=')[0]]).toEqual([200, '__Host-spgw'])
  })

  it('says when to come again', async () => {
    const { post } = await openSite()
    // At once: the wait is short, and over where a guess takes long.
    const guesses = Array.from({ length: 6 }, () => post('/auth/password', { name: 'anna', password: 'wrong guess' }))
    const throttled = (await Promise.all(guesses)).filter(({ status }) => status !== 401)
    expect(
      throttled.map(({ status, headers, body }) => [status, headers['retry-after'], JSON.parse(body).code]),
    ).toEqual([[429, '1', 'throttled']])
  })

  it.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['a name that is none', '{"name":{"$ne":null},"password":"x"}'],
    ['too much', JSON.stringify({ name: 'a'.repeat(70_000) })],
    ['nothing', ''],
  ])('refuses %s', async (_what, body) => {
    const { url, headersOf, listener } = await openSite()
    const answer = await ask(`${url}/auth/password`, { method: 'POST', headers: headersOf(''), body })
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([400, 'invalid'])
    expect(listener.faults).toEqual([])
  })
})

describe('what another page makes a browser send', () => {
  it.each([
    ['from another origin', { origin: 'http://evil.example' }],
    ['from another port of this host', { origin: 'http://localhost:1' }],
    ['from nowhere', { origin: 'null' }],
    ['from another site, says the browser', { 'sec-fetch-site': 'cross-site' }],
    ['from the same site, says the browser', { 'sec-fetch-site': 'same-site' }],
    ['as a form', { 'content-type': 'text/plain' }],
    ['as another form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ])('%s changes nothing', async (_how, headers: Record<string, string>) => {
    const { post, store, addOperator, enter } = await openSite()
    const cookie = await enter(await addOperator('anna'))
    const call = await post('/api/projects/add', { name: 'planted' }, cookie, headers)
    const out = await post('/auth/sign-out', {}, cookie, headers)
    const link = await post('/auth/link', { token: 'x' }, '', headers)
    for (const { status, body } of [call, out, link]) {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(body).toMatch(/Another site|no Origin header|must be JSON/)
    }
    expect(await store.projects.find('planted')).toBeNull()
    expect(await store.sessions.list(null, new Date().toISOString())).toHaveLength(1)
  })

  it('without saying from where changes nothing', async () => {
    const { url, headersOf, store, addOperator, enter } = await openSite()
    const { origin: _left, ...headers } = headersOf(await enter(await addOperator('anna')))
    const body = JSON.stringify({ name: 'planted' })
    expect((await ask(`${url}/api/projects/add`, { method: 'POST', headers, body })).status).toBe(403)
    expect(await store.projects.find('planted')).toBeNull()
  })

  it.each(['/api/keys/list', '/auth/password', '/auth/state'])('to ask for leave at %s gets none', async (path) => {
    const { url, headersOf } = await openSite()
    const headers = { ...headersOf(''), origin: 'http://evil.example', 'access-control-request-method': 'POST' }
    const answer = await ask(url + path, { method: 'OPTIONS', headers })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  it.each(['evil.example', 'evil.example:8788', 'localhost.evil.example', '127.0.0.1.evil.example', '198.51.100.1'])(
    'under the name %j reaches nothing',
    async (host) => {
      const { url, headersOf, addOperator, enter } = await openSite()
      const cookie = await enter(await addOperator('anna'))
      const headers = { ...headersOf(cookie), host, origin: `http://${host}` }
      for (const path of ['/', '/auth/state', '/link/x', '/assets/x.js'])
        expect((await ask(url + path, { headers })).status).toBe(421)
      expect((await ask(`${url}/api/keys/list`, { method: 'POST', headers, body: '{}' })).status).toBe(421)
    },
  )
})

describe('an operation', () => {
  it('is called as the operator who is signed in', async () => {
    const { post, store, addOperator, enter } = await openSite()
    const cookie = await enter(await addOperator('anna'))
    const answer = await post('/api/projects/add', { name: 'alpha' }, cookie)
    expect([answer.status, answer.headers['x-spgw-version'], JSON.parse(answer.body)]).toEqual([
      200,
      '1.2.3',
      expect.objectContaining({ name: 'alpha' }),
    ])
    const [line] = await store.audit.list({ operation: 'projects.add', limit: 1 })
    expect(line).toMatchObject({ actor: 'anna', surface: 'console' })
  })

  it('that changes something is refused to a viewer, whatever the page shows', async () => {
    const { post, store, addOperator, enter } = await openSite()
    const cookie = await enter(await addOperator('victor', [{ project: null, role: 'viewer' }]))
    expect((await post('/api/projects/list', {}, cookie)).status).toBe(200)
    for (const [path, body] of [
      ['/api/projects/add', { name: 'alpha' }],
      ['/api/keys/create', { name: 'ci' }],
      ['/api/console/link', {}],
      ['/api/seal/rotate', {}],
    ] as const)
      expect((await post(path, body, cookie)).status).toBe(403)
    expect(await store.projects.find('alpha')).toBeNull()
  })

  it.each(['GET', 'HEAD', 'PUT', 'DELETE'])('is not called with %s', async (method) => {
    const { url, headersOf, addOperator, enter } = await openSite()
    const headers = headersOf(await enter(await addOperator('anna')))
    expect((await ask(`${url}/api/projects/list`, { method, headers })).status).toBe(405)
  })

  it('of a session that is over is refused, and of one that was disabled', async () => {
    const { post, store, addOperator, enter } = await openSite()
    const anna = await addOperator('anna')
    const [first, second] = [await enter(anna), await enter(anna)]
    expect((await post('/auth/sign-out', {}, first)).status).toBe(200)
    expect((await post('/api/projects/list', {}, first)).status).toBe(401)
    expect((await post('/api/projects/list', {}, second)).status).toBe(200)
    await store.operators.update(anna.id, { state: 'disabled' })
    expect((await post('/api/projects/list', {}, second)).status).toBe(401)
  })

  it('that lives ends when its session is revoked', async () => {
    const site = await openSite()
    const { post, addOperator, enter } = site
    const anna = await addOperator('anna')
    const [watching, other] = [await enter(anna), await enter(anna)]
    const tail = await openTail(site, watching)
    await expect.poll(site.tailing).toBe(1)
    site.settle(sampleRecord())
    expect(await tail.next()).toContain('req_')
    const sessions = JSON.parse((await site.get('/auth/account', other)).body).sessions
    const id = sessions.find((each: { current: boolean }) => !each.current).id
    expect((await post('/auth/account/sessions/revoke', { id }, other)).status).toBe(200)
    await tail.ended
    await expect.poll(site.tailing).toBe(0)
  })

  it('that lives ends at the moment when its session is over', async () => {
    const site = await openSite()
    const anna = await site.addOperator('anna')
    const cookie = await site.enter(anna)
    const [session] = await site.store.sessions.list(anna.id, new Date().toISOString())
    await site.store.sessions.touch(session?.tokenSha256 ?? '', new Date().toISOString(), soon())
    const tail = await openTail(site, cookie)
    // With its last words, and long before sessions are looked at again.
    expect(await tail.ended).toBe(true)
  })

  it('that lives ends when the console closes', async () => {
    const site = await openSite()
    const tail = await openTail(site, await site.enter(await site.addOperator('anna')))
    await expect.poll(site.tailing).toBe(1)
    await site.listener.close()
    // With its last words, and not because the connection was cut.
    expect(await tail.ended).toBe(true)
  })
})

/** Enough for a call to begin. */
const soon = () => new Date(Date.now() + 1000).toISOString()

/** An answer that goes on. */
async function openTail(
  { url, headersOf }: Awaited<ReturnType<typeof openSite>>,
  cookie: string,
  more: Record<string, string> = {},
) {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = http.request(`${url}/api/requests/tail`, {
      method: 'POST',
      headers: { ...headersOf(cookie), ...more },
      agent: false,
    })
    request.on('response', resolve).on('error', reject).end('{}')
  })
  response.setEncoding('utf8')
  const ended = new Promise<boolean>((resolve) => response.on('close', () => resolve(response.complete)))
  const next = () =>
    new Promise<string>((resolve) => {
      const look = (text: string) => {
        if (!text.includes('data:')) return
        response.off('data', look)
        resolve(text)
      }
      response.on('data', look)
    })
  // A stream that nobody reads never says that it has ended.
  response.on('data', () => {})
  return { next, ended }
}

describe('an API token', () => {
  async function withToken(change: Partial<ApiToken> = {}) {
    const site = await openSite()
    const text = mintApiToken()
    const token = await site.store.tokens.insert({
      id: newId('tok'),
      name: 'ci',
      tokenSha256: hashToken(text),
      lastFour: text.slice(-4),
      role: 'admin',
      projectId: null,
      createdBy: 'anna',
      createdAt: new Date().toISOString(),
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
      ...change,
    })
    const call = (path: string, body: object = {}, headers: Record<string, string> = {}) =>
      ask(site.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${text}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    return { ...site, text, token, call }
  }

  it('calls what its role may, and says who it was', async () => {
    const { call, store, token } = await withToken()
    expect((await call('/api/projects/add', { name: 'alpha' }, { 'x-spgw-surface': 'cli' })).status).toBe(200)
    expect((await call('/api/seal/rotate')).status).toBe(403)
    const [line] = await store.audit.list({ operation: 'projects.add', limit: 1 })
    expect(line).toMatchObject({ actor: 'token ci', surface: 'cli' })
    expect((await store.tokens.find(token.id))?.lastUsedAt).not.toBeNull()
  })

  it('that expires ends what it has open in that moment', async () => {
    const site = await withToken({ expiresAt: soon() })
    const tail = await openTail(site, '', { authorization: `Bearer ${site.text}` })
    expect(await tail.ended).toBe(true)
  })

  it('is no way to the page’s own doors', async () => {
    const { call } = await withToken()
    expect((await call('/auth/account/password', { next: 'a new password' })).status).toBe(403)
    expect((await call('/auth/account', {})).status).toBe(405)
  })

  it('that was revoked, has expired, or never was is refused', async () => {
    const { call } = await withToken({ revokedAt: '2026-01-01T00:00:00.000Z' })
    expect((await call('/api/projects/list')).status).toBe(401)
    const expired = await withToken({ expiresAt: '2026-01-01T00:00:00.000Z' })
    expect((await expired.call('/api/projects/list')).status).toBe(401)
    for (const authorization of [`Bearer ${mintApiToken()}`, 'Bearer spt_x', 'Bearer sp_live_x'])
      expect((await call('/api/projects/list', {}, { authorization })).status).toBe(401)
  })
})

describe('a store that does not answer', () => {
  it('lets nobody in, and says so', async () => {
    const { post, get, addOperator, enter, store, listener } = await openSite()
    const cookie = await enter(await addOperator('anna'))
    await store.close()
    const call = await post('/api/projects/list', {}, cookie)
    expect([call.status, JSON.parse(call.body).code]).toEqual([503, 'degraded'])
    const state = await get('/auth/state', cookie)
    expect([state.status, JSON.parse(state.body).code]).toEqual([503, 'unavailable'])
    expect(listener.faults).toEqual([])
  })
})
