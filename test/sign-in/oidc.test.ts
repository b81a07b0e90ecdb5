import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secrets/secret.ts'
import { mapRoles, type OidcSettings } from '../../src/sign-in/oidc-settings.ts'
import { ask } from '../console/open-listener.ts'
import { cookieOf, cookiesOf, openSite } from '../console/open-site.ts'
import { oidcClient, passProvider, startIdentityProvider } from '../support/identity-provider.ts'

const roles: OidcSettings['roles'] = {
  platform: [{ role: 'owner', project: null }],
  team: [{ role: 'admin', project: 'default' }],
}

async function openWithProvider() {
  const provider = await startIdentityProvider()
  const oidc: OidcSettings = {
    issuer: provider.issuer,
    clientId: oidcClient.id,
    clientSecret: new Secret(oidcClient.secret),
    name: 'Example',
    scopes: ['openid', 'profile', 'email'],
    roleClaim: 'groups',
    roles,
  }
  const site = await openSite({ oidc })
  const callback = `${site.origin}/auth/oidc/callback`
  provider.open(callback)
  const begin = async (session = '') => {
    const answer = await site.get('/auth/oidc', session)
    return { to: answer.headers.location ?? '', cookie: cookieOf(answer), answer }
  }
  /** As the provider's page sends the browser back: by a link of another site. */
  const comeBack = (to: string, cookie: string) => {
    const { pathname, search } = new URL(to)
    const headers = { host: `localhost:${site.listener.port}`, 'sec-fetch-site': 'cross-site', cookie }
    return ask(site.url + pathname + search, { headers })
  }
  /** `session`: the cookie of one who is signed in already, which a browser sends to the console's own pages alone. */
  const signIn = async (name: string, session = '') => {
    const { to, cookie } = await begin(session)
    return await comeBack(await passProvider(to, name, callback), cookie)
  }
  const forgedAnswer = (to: string) => `${callback}?code=1&state=${new URL(to).searchParams.get('state')}`
  const sessionOf = (answer: Awaited<ReturnType<typeof comeBack>>) =>
    cookiesOf(answer).find((cookie) => /^__Host-spgw-\d+=[\w-]{43};/.test(cookie))
  return { ...site, provider, callback, begin, comeBack, forgedAnswer, signIn, sessionOf }
}

describe('an identity provider', () => {
  it('is asked with PKCE, state and nonce, and signs in whom it gives a role', async () => {
    const { provider, begin, comeBack, callback, sessionOf, get, store } = await openWithProvider()
    provider.groups.anna = ['platform', 'other']
    const { to, cookie, answer } = await begin()
    expect(answer.status).toBe(303)
    const asked = Object.fromEntries(new URL(to).searchParams)
    expect(asked).toMatchObject({ code_challenge_method: 'S256', redirect_uri: callback, client_id: 'spgw' })
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked[name]).toMatch(/^[\w-]{43}$/)
    expect(cookiesOf(answer)[0]).toMatch(/HttpOnly; Secure; SameSite=Lax$/)
    const back = await comeBack(await passProvider(to, 'anna', callback), cookie)
    expect([back.status, back.headers.location]).toEqual([303, '/'])
    const session = sessionOf(back) ?? ''
    expect(session).toMatch(/SameSite=Strict$/)
    expect(JSON.parse((await get('/auth/state', session.split(';')[0])).body)).toMatchObject({
      operator: { name: 'anna', grants: [{ project: null, role: 'owner' }] },
      methods: { oidc: { name: 'Example' } },
    })
    expect(await store.operators.find('anna')).toMatchObject({ oidcIssuer: provider.issuer, oidcSubject: 'anna' })
  })

  it('takes the place of the session that the browser left with, and of no other', async () => {
    const { provider, signIn, sessionOf, get, enter, addOperator } = await openWithProvider()
    provider.groups.anna = ['platform']
    const ben = await addOperator('ben')
    const [planted, elsewhere] = [await enter(ben), await enter(ben)]
    const who = async (cookie: string) => JSON.parse((await get('/auth/state', cookie)).body).operator?.name
    const session = sessionOf(await signIn('anna', planted))?.split(';')[0] ?? ''
    expect([await who(session), await who(planted), await who(elsewhere)]).toEqual(['anna', undefined, 'ben'])
  })

  it('may send a question mark in its answer', async () => {
    const { provider, begin, comeBack, callback, sessionOf } = await openWithProvider()
    provider.groups.anna = ['platform']
    const { to, cookie } = await begin()
    const back = await passProvider(to, 'anna', callback)
    expect(sessionOf(await comeBack(back.replace('?', '?session_state=a?b&'), cookie))).toBeDefined()
  })

  it('decides at each sign-in what its people may do', async () => {
    const { provider, signIn, sessionOf, store } = await openWithProvider()
    provider.groups.anna = ['team']
    await signIn('anna')
    const project = await store.projects.find('default')
    expect((await store.operators.find('anna'))?.grants).toEqual([{ project: project?.id, role: 'admin' }])
    provider.groups.anna = ['platform']
    await signIn('anna')
    expect((await store.operators.find('anna'))?.grants).toEqual([{ project: null, role: 'owner' }])
    provider.groups.anna = []
    const refused = await signIn('anna')
    expect(refused.headers.location).toBe('/sign-in?error=no-role')
    expect(sessionOf(refused)).toBeUndefined()
    expect((await store.operators.find('anna'))?.grants).toEqual([])
    expect(await store.operators.list()).toHaveLength(1)
  })

  it('never leads to an operator who only has the same name', async () => {
    const { provider, signIn, addOperator, store } = await openWithProvider()
    await addOperator('anna')
    provider.groups.anna = ['team']
    await signIn('anna')
    expect((await store.operators.list()).map(({ name }) => name)).toEqual(['anna', 'anna-2'])
  })

  it('signs nobody in who is disabled here', async () => {
    const { provider, signIn, sessionOf, store } = await openWithProvider()
    provider.groups.anna = ['platform']
    await signIn('anna')
    const { id = '' } = (await store.operators.find('anna')) ?? {}
    await store.operators.update(id, { state: 'disabled' })
    const refused = await signIn('anna')
    expect([refused.headers.location, sessionOf(refused)]).toEqual([expect.stringContaining('disabled'), undefined])
  })

  it('is believed once, by the browser that began, and with its own state', async () => {
    const { provider, begin, comeBack, callback, sessionOf } = await openWithProvider()
    provider.groups.anna = ['platform']
    const [first, second] = [await begin(), await begin()]
    const back = await passProvider(first.to, 'anna', callback)
    for (const cookie of ['', second.cookie, `${first.cookie}x`]) {
      const answer = await comeBack(back, cookie)
      expect([answer.status, sessionOf(answer)]).toEqual([303, undefined])
      expect(answer.headers.location).toContain('/sign-in?error=')
    }
    expect(sessionOf(await comeBack(back, first.cookie))).toBeDefined()
    expect(sessionOf(await comeBack(back, first.cookie))).toBeUndefined()
    const third = await begin()
    const forged = `${await passProvider(third.to, 'anna', callback)}x`
    expect(sessionOf(await comeBack(forged.replace(/code=[^&]+/, 'code=forged'), third.cookie))).toBeUndefined()
  })

  it('may be left in two tabs at once, and either may come back first', async () => {
    const { provider, begin, comeBack, callback, sessionOf } = await openWithProvider()
    provider.groups.anna = ['platform']
    const older = await begin()
    const newer = await begin(older.cookie)
    // A browser has one cookie of a name: the last.
    for (const { to } of [older, newer]) {
      const back = await comeBack(await passProvider(to, 'anna', callback), newer.cookie)
      expect([back.headers.location, sessionOf(back)]).toEqual(['/', expect.any(String)])
      expect(cookiesOf(back).filter((cookie) => cookie.includes('oidc'))).toEqual([])
    }
  })

  it('is not believed about a subject that no provider may have', async () => {
    const { provider, signIn, sessionOf, store } = await openWithProvider()
    const name = 'a'.repeat(256)
    provider.groups[name] = ['platform']
    const refused = await signIn(name)
    expect([refused.headers.location, sessionOf(refused)]).toEqual(['/sign-in?error=unverified', undefined])
    expect(await store.operators.list()).toEqual([])
  })

  it('is asked more and more slowly by who comes back with what is not its', async () => {
    const { begin, comeBack, forgedAnswer, listener } = await openWithProvider()
    const failures: (string | undefined)[] = []
    for (let number = 0; number < 17; number++) {
      const { to, cookie } = await begin()
      failures.push((await comeBack(forgedAnswer(to), cookie)).headers.location)
    }
    expect(new Set(failures)).toEqual(new Set(['/sign-in?error=unverified', '/sign-in?error=throttled']))
    expect(listener.faults.length).toBe(failures.filter((where) => where?.endsWith('unverified')).length)
    expect(String(listener.faults[0])).toMatch(/^IdentityProviderFault: invalid response/)
  })

  it('lets people in behind whose address somebody guesses passwords, and the other way round', async () => {
    const guessed = await openWithProvider()
    guessed.provider.groups.anna = ['platform']
    const guess = () => guessed.post('/auth/password', { name: 'nobody', password: 'wrong' })
    for (let number = 0; number < 16; number++) await guess()
    expect((await guess()).status).toBe(429)
    expect(guessed.sessionOf(await guessed.signIn('anna'))).toBeDefined()

    const { begin, comeBack, forgedAnswer, addOperator, enter } = await openWithProvider()
    const forge = async () => {
      const { to, cookie } = await begin()
      return await comeBack(forgedAnswer(to), cookie)
    }
    for (let number = 0; number < 16; number++) await forge()
    expect((await forge()).headers.location).toBe('/sign-in?error=throttled')
    expect(await enter(await addOperator('ben'))).not.toBe('')
  })

  it('that does not answer is said not to', async () => {
    const { get, listener } = await openSite({
      oidc: {
        issuer: 'http://127.0.0.1:1',
        clientId: 'spgw',
        clientSecret: null,
        name: 'Example',
        scopes: ['openid'],
        roleClaim: 'groups',
        roles,
      },
    })
    const answer = await get('/auth/oidc')
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([503, 'unavailable'])
    expect(listener.faults).toHaveLength(1)
  })
})

describe('roles by claim', () => {
  const projects = [{ id: 'prj_1', name: 'alpha' }]
  const map = (claim: unknown, mapped: OidcSettings['roles']) => mapRoles({ roles: mapped }, claim, projects)

  it('are all that the values give, the highest of each scope', () => {
    const mapped: OidcSettings['roles'] = {
      a: [{ role: 'viewer', project: null }],
      b: [
        { role: 'admin', project: null },
        { role: 'owner', project: 'alpha' },
      ],
      c: [{ role: 'viewer', project: 'gone' }],
    }
    expect(map(['a', 'b', 'c'], mapped)).toEqual([
      { project: null, role: 'admin' },
      { project: 'prj_1', role: 'owner' },
    ])
    expect(map('a', mapped)).toEqual([{ project: null, role: 'viewer' }])
  })

  it('are none for what is no value', () => {
    for (const claim of [undefined, null, 7, {}, ['constructor', '__proto__'], [['platform']]])
      expect(map(claim, roles)).toEqual([])
    expect(map(undefined, { '*': [{ role: 'viewer', project: null }] })).toEqual([{ project: null, role: 'viewer' }])
  })
})
