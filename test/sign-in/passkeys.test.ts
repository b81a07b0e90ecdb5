import { describe, expect, it } from 'vitest'
import { passkeySite } from '../../src/sign-in/passkey-site.ts'
import { cookieOf, openSite } from '../console/open-site.ts'
import { type AuthenticatorTwist, makeAuthenticator } from '../support/authenticator.ts'
import { sampleOperator } from './sample-operator.ts'

async function openWithPasskey() {
  const site = await openSite()
  const anna = await site.addOperator('anna')
  const cookie = await site.enter(anna)
  const authenticator = makeAuthenticator(site.origin)
  const read = async (path: string, body: object, own = '') => JSON.parse((await site.post(path, body, own)).body)
  const register = async (twist: AuthenticatorTwist = {}) => {
    const options = await read('/auth/account/passkeys/options', {}, cookie)
    const body = { ...authenticator.register(options, twist), name: 'laptop' }
    return await site.post('/auth/account/passkeys', body, cookie)
  }
  const signIn = async (twist: AuthenticatorTwist = {}) =>
    await site.post('/auth/passkey', authenticator.assert(await read('/auth/passkey/options', {}), twist))
  return { ...site, anna, cookie, authenticator, register, signIn, read }
}

describe('a passkey', () => {
  it('is added by the signed-in, and signs in from then on without name or password', async () => {
    const { register, signIn, get, anna, cookie, audited } = await withAudit()
    const added = await register()
    expect([added.status, JSON.parse(added.body)]).toEqual([
      200,
      { id: expect.stringMatching(/^pas_/), name: 'laptop' },
    ])
    const entered = await signIn()
    expect([entered.status, JSON.parse(entered.body).operator.id]).toEqual([200, anna.id])
    expect(JSON.parse((await get('/auth/state', cookieOf(entered))).body)).toMatchObject({ operator: { name: 'anna' } })
    const { passkeys } = JSON.parse((await get('/auth/account', cookie)).body)
    expect(passkeys).toEqual([
      { id: expect.any(String), name: 'laptop', created_at: expect.any(String), last_used_at: expect.any(String) },
    ])
    expect(await audited('account.passkey-add')).toHaveLength(1)
    expect((await audited('console.sign-in'))[0]).toMatchObject({ actor: 'anna', after: { method: 'passkey' } })
  })

  it('is asked for with a challenge that counts once', async () => {
    const { authenticator, register, read, post } = await openWithPasskey()
    await register()
    const options = await read('/auth/passkey/options', {})
    expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required' })
    const answer = authenticator.assert(options)
    expect((await post('/auth/passkey', answer)).status).toBe(200)
    expect((await post('/auth/passkey', authenticator.assert(options))).status).toBe(401)
    expect((await post('/auth/passkey', answer)).status).toBe(401)
  })

  it.each<[string, AuthenticatorTwist]>([
    ['for another page', { origin: 'http://evil.example' }],
    ['for another site', { rpId: 'evil.example' }],
    ['without a person behind it', { verified: false }],
  ])('that answers %s is not believed', async (_how, twist) => {
    const { register, signIn } = await openWithPasskey()
    expect((await register(twist)).status).toBe(401)
    expect((await register()).status).toBe(200)
    expect((await signIn(twist)).status).toBe(401)
    expect((await signIn()).status).toBe(200)
  })

  it('that is removed, or whose operator is disabled, signs nobody in', async () => {
    const { register, signIn, post, cookie, store, anna } = await openWithPasskey()
    const { id } = JSON.parse((await register()).body)
    await store.operators.update(anna.id, { state: 'disabled' })
    expect((await signIn()).status).toBe(403)
    await store.operators.update(anna.id, { state: 'active' })
    const again = cookieOf(await signIn())
    expect((await post('/auth/account/passkeys/remove', { id }, cookie)).status).toBe(401)
    expect((await post('/auth/account/passkeys/remove', { id }, again)).status).toBe(200)
    expect((await signIn()).status).toBe(401)
  })

  it('is nothing for who signs in through an identity provider, which may no longer let him in', async () => {
    const { register, signIn, post, enter, store, anna } = await openWithPasskey()
    const known = { oidcIssuer: 'https://login.example', oidcSubject: 'ben' }
    const ben = await store.operators.insert(await sampleOperator('ben', known))
    const options = await post('/auth/account/passkeys/options', {}, await enter(ben))
    expect([options.status, JSON.parse(options.body).code]).toEqual([403, 'refused'])
    // One from before.
    expect((await register()).status).toBe(200)
    const [passkey] = await store.passkeys.list(anna.id)
    if (passkey === undefined) throw new Error('there is none')
    await store.passkeys.remove(passkey.id, anna.id)
    await store.passkeys.insert({ ...passkey, operatorId: ben.id })
    const entered = await signIn()
    expect([entered.status, JSON.parse(entered.body).code]).toEqual([403, 'refused'])
  })

  it('is removed by its own operator only', async () => {
    const { register, post, addOperator, enter } = await openWithPasskey()
    const { id } = JSON.parse((await register()).body)
    const eve = await enter(await addOperator('eve'))
    expect((await post('/auth/account/passkeys/remove', { id }, eve)).status).toBe(404)
  })

  it.each([{}, { id: 7 }, { id: 'x', response: {} }, { id: 'constructor', response: { clientDataJSON: '!' } }])(
    'is not %j',
    async (answer) => {
      const { post, cookie, listener } = await openWithPasskey()
      expect((await post('/auth/passkey', answer)).status).toBe(401)
      expect((await post('/auth/account/passkeys', answer, cookie)).status).toBe(401)
      expect(listener.faults).toEqual([])
    },
  )
})

describe('where passkeys are', () => {
  it.each([
    ['http://localhost:8788', 'localhost'],
    ['https://console.example.com', 'console.example.com'],
  ])('at %s', (origin, id) => {
    expect(passkeySite(origin, null)).toEqual({ id, origin })
  })

  it.each([
    ['http://127.0.0.1:8788', null, 'open the console at http://localhost:8788.'],
    ['https://[::1]', null, 'open the console at https://localhost.'],
    ['https://10.0.0.5', null, 'open the console by a name.'],
    ['http://console.example.com', 'Neither HTTPS nor local.', 'Neither HTTPS nor local.'],
  ])('not at %s, and why', (origin, openness, reason) => {
    expect(passkeySite(origin, openness)).toEqual({ refused: expect.stringContaining(reason) })
  })
})

async function withAudit() {
  const site = await openWithPasskey()
  const audited = async (operation: string) => await site.store.audit.list({ operation, limit: 10 })
  return { ...site, audited }
}
