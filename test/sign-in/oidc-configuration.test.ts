import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Oidc } from '../../src/sign-in/oidc.ts'
import type { SignIn } from '../../src/sign-in/sign-in.ts'
import { askProvider } from '../support/ask-provider.ts'
import { listen } from '../support/listen.ts'
import { refusedWith } from './start-desk.ts'

const minuteMs = 60_000
const redirectUri = 'http://localhost:8788/auth/oidc/callback'

let server: Server
let reads: number
let status: number
/** What it says of itself otherwise. */
let told: object
let faults: unknown[]
let oidc: Oidc

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  reads = 0
  status = 200
  told = {}
  faults = []
  server = createServer((_request, response) => {
    reads++
    const metadata = {
      ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
      ...told,
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(metadata))
  })
  const issuer = await listen(server)
  const signIn = {
    parts: { askProvider, onFault: (error: unknown) => faults.push(error) },
    fail: (_operator: unknown, _method: string, _place: unknown, refusal: Error) => refusal,
  } as unknown as SignIn
  oidc = new Oidc(signIn, {
    ...{ issuer, clientId: 'spgw', clientSecret: null, name: 'Our provider', scopes: ['openid'], roleClaim: 'groups' },
    roles: {},
  })
})
afterEach(() => {
  vi.useRealTimers()
  server.closeAllConnections()
  server.close()
})

describe('what an identity provider says of itself', () => {
  it('is read once for all who begin, and again after an hour, also where the clock was set back', async () => {
    await Promise.all([oidc.begin(redirectUri, '::1', null), oidc.begin(redirectUri, '::1', null)])
    vi.advanceTimersByTime(59 * minuteMs)
    await oidc.begin(redirectUri, '::1', null)
    expect(reads).toBe(1)
    vi.setSystemTime(Date.now() - 365 * 24 * 60 * minuteMs)
    vi.advanceTimersByTime(minuteMs)
    await oidc.begin(redirectUri, '::1', null)
    expect(reads).toBe(2)
  })

  it('that is no answer is asked for anew by the next who begins', async () => {
    status = 500
    expect(await refusedWith(oidc.begin(redirectUri, '::1', null))).toBe('unavailable')
    expect(faults).toHaveLength(1)
    status = 200
    await oidc.begin(redirectUri, '::1', null)
    expect(reads).toBe(2)
  })

  it('may be nothing for a while, which is counted against nobody who signs in', async () => {
    const place = { origin: 'http://localhost:8788', address: '::1', userAgent: '' }
    for (let number = 0; number < 20; number++) {
      status = 200
      const { token, url } = await oidc.begin(redirectUri, '::1', null)
      status = 503
      const state = new URL(url).searchParams.get('state')
      expect(await refusedWith(oidc.finish(token, `code=1&state=${state}`, place))).toBe('unavailable')
    }
    expect(String(faults[0])).toContain('answered 503')
  })

  it('leads no browser to what is no page', async () => {
    told = { authorization_endpoint: 'javascript:alert(1)' }
    expect(await refusedWith(oidc.begin(redirectUri, '::1', null))).toBe('unavailable')
  })

  it('is read up to a bound, and to no end', async () => {
    told = { filler: 'a'.repeat(2_000_000) }
    expect(await refusedWith(oidc.begin(redirectUri, '::1', null))).toBe('unavailable')
    expect(String(faults[0])).toContain('larger than')
  })

  it('leads the gateway to no address of the machine or its cloud', async () => {
    const place = { origin: 'http://localhost:8788', address: '::1', userAgent: '' }
    told = { token_endpoint: 'http://169.254.169.254/token' }
    const { token, url } = await oidc.begin(redirectUri, '::1', null)
    const state = new URL(url).searchParams.get('state')
    expect(await refusedWith(oidc.finish(token, `code=1&state=${state}`, place))).toBe('unavailable')
    expect(String(faults[0])).toContain('it is never called')
  })

  it('leads the browser there with what only it knows, other words each time', async () => {
    const [one, other] = [await oidc.begin(redirectUri, '::1', null), await oidc.begin(redirectUri, '::1', null)]
    const [query, again] = [one, other].map(({ url }) => new URL(url).searchParams)
    expect(query?.get('redirect_uri')).toBe(redirectUri)
    expect(query?.get('code_challenge_method')).toBe('S256')
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(query?.get(name)).toMatch(/^[\w-]{43,}$/)
      expect(again?.get(name)).not.toBe(query?.get(name))
    }
    expect(one.token).not.toBe(other.token)
    expect(one.url).not.toContain(one.token)
  })

  it('is nothing to who comes back without having begun here', async () => {
    const place = { origin: 'http://localhost:8788', address: '::1', userAgent: '' }
    const { token } = await oidc.begin(redirectUri, '::1', null)
    expect(await refusedWith(oidc.finish('another', 'code=1&state=2', place))).toBe('wrong')
    vi.advanceTimersByTime(11 * minuteMs)
    expect(await refusedWith(oidc.finish(token, 'code=1&state=2', place))).toBe('wrong')
    expect(reads).toBe(1)
  })
})
