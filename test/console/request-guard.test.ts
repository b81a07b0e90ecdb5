import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { checkMetricsAccess } from '../../src/console/access.ts'
import { cookieName, readCookie, writeCookie } from '../../src/console/cookies.ts'
import { type GuardSettings, readSource, rejectCrossSite, sendsJson } from '../../src/console/request-guard.ts'
import { Secret } from '../../src/core/secrets/secret.ts'

type Headers = Record<string, string>

function request(headers: Headers, { remote = '192.0.2.7', local = '192.0.2.1' } = {}): IncomingMessage {
  const socket = { remoteAddress: remote, localAddress: local }
  return { headers, socket } as unknown as IncomingMessage
}

const open: GuardSettings = { url: null, isTls: false, trustedProxies: [] }
const behind: GuardSettings = { url: 'https://console.example.com', isTls: false, trustedProxies: ['192.0.2.7'] }

describe('the name that a request asks for', () => {
  it.each([
    ['localhost:8788', 'http://localhost:8788'],
    ['LocalHost:8788', 'http://localhost:8788'],
    ['127.0.0.1:8788', 'http://127.0.0.1:8788'],
    ['127.99.1.1', 'http://127.99.1.1'],
    ['127.255.255.254', 'http://127.255.255.254'],
    ['[::1]:8788', 'http://[::1]:8788'],
    ['192.0.2.1:8788', 'http://192.0.2.1:8788'],
  ])('%s is the console’s own', (host, origin) => {
    expect(readSource(request({ host }), open)?.origin).toBe(origin)
  })

  it.each([
    'evil.example',
    'localhost.evil.example',
    'evil.example:8788',
    'localhost@evil.example',
    'console.example.com',
    '192.0.2.2:8788',
    '127.0.0.1.evil.example',
    '[::1',
    '[::2]:8788',
    'localhost:8788:8788',
    'evil.example:localhost',
    'evil.example:127.0.0.1:8788',
    'localhost:',
    'localhost:80 ',
    '0x7f.1',
    '',
  ])('%j is none of the console’s', (host) => {
    expect(readSource(request({ host }), open)).toBeNull()
  })

  it('that is configured is the console’s with its own port alone', () => {
    expect(readSource(request({ host: 'console.example.com' }), behind)?.origin).toBe('https://console.example.com')
    for (const host of ['console.example.com:8788', 'console.example.com.', 'xconsole.example.com'])
      expect(readSource(request({ host }), behind)).toBeNull()
  })

  it('is the address that an IPv4 client reached through a listener of IPv6', () => {
    expect(readSource(request({ host: '192.0.2.1' }, { local: '::ffff:192.0.2.1' }), open)).not.toBeNull()
  })

  it.each([
    ['localhost:8788', open, true],
    ['192.0.2.1:8788', open, false],
    ['192.0.2.1:8788', { ...open, isTls: true }, true],
    ['console.example.com', behind, true],
    ['console.example.com', { ...behind, url: 'http://console.example.com' }, false],
  ])('%s makes the connection one on which one can sign in, or not', (host, settings, isPrivate) => {
    expect(readSource(request({ host }), settings)?.insecureReason === null).toBe(isPrivate)
  })
})

describe('where a request came from', () => {
  const host = 'console.example.com'
  it('is what a trusted proxy says, and what nobody else does', () => {
    const forwarded = { host, 'x-forwarded-for': '198.51.100.1, 203.0.113.7' }
    expect(readSource(request(forwarded), behind)?.address).toBe('203.0.113.7')
    expect(readSource(request(forwarded, { remote: '192.0.2.8' }), behind)?.address).toBe('192.0.2.8')
    expect(readSource(request(forwarded, { remote: '::ffff:192.0.2.7' }), behind)?.address).toBe('203.0.113.7')
  })

  it('has a user agent of bounded length', () => {
    expect(readSource(request({ host, 'user-agent': 'x'.repeat(10_000) }), behind)?.userAgent).toHaveLength(200)
    expect(readSource(request({ host }), behind)?.userAgent).toBe('')
  })
})

describe('a request that changes something', () => {
  const host = 'console.example.com'
  const source = readSource(request({ host }), behind)
  it.each<[Headers, string | null]>([
    [{ origin: 'https://console.example.com' }, null],
    [{ origin: 'https://console.example.com', 'sec-fetch-site': 'same-origin' }, null],
    [{ origin: 'https://console.example.com', 'sec-fetch-site': 'same-site' }, 'Another site'],
    [{ origin: 'https://console.example.com', 'sec-fetch-site': 'cross-site' }, 'Another site'],
    [{ origin: 'https://console.example.com', 'sec-fetch-site': 'none' }, 'Another site'],
    [{ origin: 'http://console.example.com' }, 'Another site'],
    [{ origin: 'https://console.example.com:8443' }, 'Another site'],
    [{ origin: 'https://console.example.com.evil.example' }, 'Another site'],
    [{ origin: 'null' }, 'Another site'],
    [{ origin: '' }, 'Another site'],
    [{}, 'no Origin'],
  ])('with %j comes from the console’s page, or is refused: %s', (headers, reason) => {
    if (source === null) throw new Error('it is the name of the console')
    const rejected = rejectCrossSite(request(headers), source, behind)
    if (reason === null) expect(rejected).toBeNull()
    else expect(rejected).toContain(reason)
  })

  it.each([
    ['application/json', true],
    ['Application/JSON; charset=utf-8', true],
    ['application/json ;x', true],
    ['application/jsonx', false],
    ['text/plain; application/json', false],
    ['application/x-www-form-urlencoded', false],
    ['', false],
  ])('of the type %j is JSON: %s', (type, isJson) => {
    expect(sendsJson(request({ 'content-type': type }))).toBe(isJson)
  })
})

it('a page at the console’s public address may send requests to the address within, and no other', () => {
  const within = readSource(request({ host: 'localhost:8788' }), behind)
  if (within === null) throw new Error('it is an address of the console')
  const rejected = (origin: string) => rejectCrossSite(request({ origin }), within, behind)
  expect(rejected('https://console.example.com')).toBeNull()
  expect(rejected('http://localhost:8788')).toBeNull()
  expect(rejected('http://console.example.com')).toBe('Another site sent the request.')
})

describe('metrics', () => {
  const local = { remote: '127.0.0.1' }
  const localAccess = (asked: IncomingMessage) => checkMetricsAccess(asked, null)
  it('without a token are for whoever is on this machine, by a name of it, and behind no proxy', () => {
    expect(localAccess(request({ host: 'localhost:8788' }, local))).toBe('allowed')
    expect(localAccess(request({ host: '[::1]:8788' }, { remote: '::1' }))).toBe('allowed')
    expect(localAccess(request({ host: 'LOCALHOST' }, local))).toBe('allowed')
    expect(localAccess(request({ host: '127.0.0.1' }, { remote: '::ffff:127.0.0.1' }))).toBe('allowed')
    expect(localAccess(request({ host: 'evil.example' }, local))).toBe('not-local')
    expect(localAccess(request({}, local))).toBe('not-local')
    expect(localAccess(request({ host: 'localhost' }, { remote: '192.0.2.7' }))).toBe('not-local')
    for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'])
      expect(localAccess(request({ host: 'localhost', [name]: '' }, local))).toBe('not-local')
  })

  it('with a token are for whoever has it, wherever that is', () => {
    const token = new Secret('open sesame')
    const access = (authorization: string, place = {}) =>
      checkMetricsAccess(request({ host: 'evil.example', authorization }, place), token)
    expect(access('Bearer open sesame')).toBe('allowed')
    expect(access('bearer  open sesame')).toBe('allowed')
    for (const wrong of [
      '',
      'Bearer',
      'Bearer ',
      'Bearer open',
      'Bearer open sesame ',
      'Basic open sesame',
      'XBearer open sesame',
      'open sesame',
    ])
      expect(access(wrong, local)).toBe('token-missing')
  })
})

describe('a cookie', () => {
  it('has the port in its name, so that gateways on one machine do not share it', () => {
    expect(cookieName('localhost:8788')).toBe('__Host-spgw-8788')
    expect(cookieName('[::1]:8788', 'oidc')).toBe('__Host-spgw-oidc-8788')
    expect(cookieName('console.example.com')).toBe('__Host-spgw')
  })

  it.each([
    ['__Host-spgw=abc', 'abc'],
    ['a=b; __Host-spgw=abc;c=d', 'abc'],
    ['__Host-spgw=a=b', 'a=b'],
    ['__Host-spgw=', ''],
    ['__Host-spgw-8788=abc', null],
    ['x__Host-spgw=abc', null],
    ['__Host-spgw=abc; __Host-spgw=planted', null],
    ['__Host-spgw', null],
    ['', null],
  ])('is read from %j as %j', (cookie, value) => {
    expect(readCookie(request({ cookie }), '__Host-spgw')).toBe(value)
  })

  it('is the host’s own, kept from scripts and from connections that are not private', () => {
    expect(writeCookie('__Host-spgw', 'abc', 60, 'Strict')).toBe(
      '__Host-spgw=abc; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Strict',
    )
  })
})
