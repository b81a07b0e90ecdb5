import { readdirSync, readFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cookieOf, visitConsole } from '../support/console-visitor.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
let visitor: ReturnType<typeof visitConsole>
let owner: string
const password = 'correct horse battery'
beforeAll(async () => {
  gateway = await startGateway()
  visitor = visitConsole(gateway)
  owner = await visitor.enter()
  expect((await visitor.post('/auth/account/password', { next: password }, owner)).status).toBe(200)
})
afterAll(() => gateway?.stop())

const projects = async () => (await gateway.admin.projects.list({})).map(({ name }) => name)
const stateOf = async (cookie: string) => JSON.parse((await visitor.get('/auth/state', cookie)).body).operator

describe('a session', () => {
  it('that a thief brings after it was ended opens nothing', async () => {
    const stolen = await visitor.enter('owner')
    expect(await stateOf(stolen)).not.toBeNull()
    await visitor.post('/auth/sign-out', {}, stolen)
    expect(await stateOf(stolen)).toBeNull()
    expect((await visitor.post('/api/projects/list', {}, stolen)).status).toBe(401)
  })

  it('that was planted before is not the one that signing in begins', async () => {
    const name = owner.split('=')[0] ?? ''
    const planted = `${name}=${'A'.repeat(43)}`
    const answer = await visitor.post('/auth/password', { name: 'owner', password }, planted)
    expect(answer.status).toBe(200)
    expect(cookieOf(answer)).not.toBe(planted)
    expect(await stateOf(planted)).toBeNull()
    expect(await stateOf(`${planted}; ${cookieOf(answer)}`)).toBeNull()
  })

  it('ends with its streams when it is revoked', async () => {
    const [watching, other] = [await visitor.enter('owner'), await visitor.enter('owner')]
    const tail = await openTail(watching)
    const { sessions } = JSON.parse((await visitor.get('/auth/account', watching)).body)
    const { id } = sessions.find(({ current }: { current: boolean }) => current)
    expect((await visitor.post('/auth/account/sessions/revoke', { id }, other)).status).toBe(200)
    await tail.ended
    expect((await visitor.post('/api/requests/list', {}, watching)).status).toBe(401)
  })
})

describe('a page elsewhere', () => {
  it.each([
    ['from its own origin', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['from another port', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }],
    ['from a sandbox', { origin: 'null' }],
    ['as a form', { 'content-type': 'text/plain' }],
  ])('that posts %s changes nothing', async (_how, headers: Record<string, string>) => {
    const answer = await visitor.post('/api/projects/add', { name: 'planted' }, owner, headers)
    expect([403, 415]).toContain(answer.status)
    expect((await visitor.post('/auth/sign-out', {}, owner, headers)).status).toBeGreaterThanOrEqual(400)
    expect(await projects()).not.toContain('planted')
    expect(await stateOf(owner)).not.toBeNull()
  })

  it('that does not say where it is changes nothing', async () => {
    const { origin: _left, 'sec-fetch-site': _too, ...headers } = visitor.own(owner)
    const answer = await visitor.send('POST', '/api/projects/add', headers, '{"name":"planted"}')
    expect(answer.status).toBe(403)
    expect(await projects()).not.toContain('planted')
  })

  it('gets no leave to ask', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    for (const path of ['/api/projects/add', '/auth/password', '/']) {
      const answer = await visitor.send('OPTIONS', path, { host: visitor.host, ...headers })
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(Object.keys(answer.headers).join()).not.toContain('access-control')
    }
  })

  it.each(['evil.example', 'localhost.evil.example:80', '127.0.0.1.nip.io'])(
    'whose name %s leads here reaches nothing',
    async (host) => {
      const headers = { ...visitor.own(owner), host, origin: `http://${host}` }
      expect((await visitor.send('POST', '/api/projects/list', headers, '{}')).status).toBe(421)
      expect((await visitor.send('GET', '/', headers)).status).toBe(421)
      expect((await visitor.send('GET', '/metrics', { host })).status).toBe(403)
    },
  )

  it('can neither frame the console nor run anything in it', async () => {
    const { headers, status } = await visitor.get('/requests')
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    })
    const policy = String(headers['content-security-policy'])
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      expect(policy).toContain(rule)
    expect(policy).not.toContain('unsafe')
  })
})

describe('a path', () => {
  it.each([
    '/assets/../../main.js',
    '/assets/..%2f..%2fmain.js',
    '/assets/..%252f..%252fmain.js',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/..\\..\\package.json',
    '/assets/app.js%00.html',
    '/assets//etc/passwd',
    '//etc/passwd',
    '/../../../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    'http://evil.example/etc/passwd',
    '/.%00./etc/passwd',
  ])('%s leads out of nothing', async (path) => {
    const said = await visitor.raw(`GET ${path} HTTP/1.1\r\nHost: ${visitor.host}\r\nConnection: close\r\n\r\n`)
    expect(said).toMatch(/^HTTP\/1\.1 (200|400|404|421) /)
    expect(said).not.toMatch(/root:|"pkg"|require\(/)
    if (said.startsWith('HTTP/1.1 200 ')) expect(said).toContain('<div id="app">')
  })
})

describe('too much', () => {
  it('of a head, a body or a name is refused', async () => {
    const head = await visitor.get('/', '', { 'x-filler': 'a'.repeat(20_000) })
    expect(head.status).toBe(431)
    const body = await visitor.post('/auth/password', { name: 'a'.repeat(100_000), password: 'x' })
    expect(body.status).toBe(400)
    const call = await visitor.post('/api/projects/add', { name: 'a'.repeat(2_000_000) }, owner)
    expect(call.status).toBe(413)
    expect(await stateOf(owner)).not.toBeNull()
  })

  it('of guesses has to wait, and is told for how long', async () => {
    const guess = () => visitor.post('/auth/password', { name: 'somebody', password: 'a wrong guess' })
    // At once: the wait is short, and over where a guess takes long.
    const answers = await Promise.all(Array.from({ length: 6 }, guess))
    expect(answers.map(({ status }) => status).sort()).toEqual([401, 401, 401, 401, 401, 429])
    const throttled = answers.find(({ status }) => status === 429)
    expect(JSON.parse(throttled?.body ?? '').code).toBe('throttled')
    expect(Number(throttled?.headers['retry-after'])).toBeGreaterThan(0)
  })
})

describe('what lets somebody in', () => {
  it('once, does so once', async () => {
    const { url } = await gateway.admin.console.link({ operator: 'owner' })
    const token = url.split('/link/')[1] ?? ''
    const outcomes = await Promise.all([1, 2, 3].map(() => visitor.post('/auth/link', { token })))
    expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    const other = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
    expect((await visitor.post('/auth/link', { token: other })).status).toBe(401)
  })

  it('is no code that was used before', async () => {
    const { secret } = JSON.parse((await visitor.post('/auth/account/totp', {}, owner)).body)
    const codeAt = (shift: number) =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + shift })
    const first = codeAt(0)
    expect((await visitor.post('/auth/account/totp/confirm', { code: first }, owner)).status).toBe(200)
    const enter = async (code?: string) =>
      JSON.parse((await visitor.post('/auth/password', { name: 'owner', password, ...(code && { code }) })).body)
    expect((await enter()).code).toBe('code_required')
    expect((await enter(first)).code).toBe('wrong')
    const next = codeAt(30_000)
    expect((await enter(next)).operator.name).toBe('owner')
    expect((await enter(next)).code).toBe('wrong')
  })

  it('stands nowhere but where it was shown', async () => {
    const { url } = await gateway.admin.console.link({ operator: 'owner' })
    const token = url.split('/link/')[1] ?? ''
    const cookie = cookieOf(await visitor.post('/auth/link', { token }))
    const session = cookie.split('=')[1] ?? ''
    expect(session).toHaveLength(43)
    const kept = [gateway.stdout(), gateway.stderr(), await (await fetch(`${gateway.consoleUrl}/metrics`)).text()]
    for (const name of readdirSync(gateway.dataDirectory, { recursive: true, withFileTypes: true }))
      if (name.isFile()) kept.push(readFileSync(join(name.parentPath, name.name), 'latin1'))
    const audit = JSON.stringify(await gateway.admin.audit.list({ limit: 1000 }))
    for (const text of [...kept, audit])
      for (const secret of [token, session, password]) expect(text.includes(secret)).toBe(false)
  })
})

it('a viewer changes nothing by calling what his page does not show', async () => {
  await gateway.admin.operators.add({ name: 'victor', role: 'viewer' })
  const viewer = await visitor.enter('victor')
  expect((await visitor.post('/api/projects/list', {}, viewer)).status).toBe(200)
  for (const [path, body] of [
    ['/api/projects/add', { name: 'planted' }],
    ['/api/keys/create', { name: 'planted' }],
    ['/api/operators/add', { name: 'planted', role: 'owner' }],
    ['/api/console/link', { operator: 'owner' }],
    ['/api/tokens/create', { name: 'planted', role: 'owner' }],
  ] as const) {
    const answer = await visitor.post(path, body, viewer)
    expect([path, answer.status, JSON.parse(answer.body).code]).toEqual([path, 403, 'refused'])
  }
  expect(await projects()).not.toContain('planted')
})

async function openTail(cookie: string): Promise<{ ended: Promise<void> }> {
  const { hostname, port } = new URL(gateway.consoleUrl)
  const headers = visitor.own(cookie)
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const options = { hostname, port, path: '/api/requests/tail', method: 'POST', headers, agent: false }
    http.request(options, resolve).on('error', reject).end('{}')
  })
  response.on('data', () => {}).on('error', () => {})
  return { ended: new Promise((resolve) => response.on('close', resolve)) }
}
