import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { verifyPassword } from '../../src/sign-in/password-hash.ts'
import { hashToken } from '../../src/sign-in/token.ts'
import type { StoreClient } from '../../src/store/api.ts'
import { callAs, everywhere } from './call-as.ts'
import { refusal, startTestGateway } from './gateway.ts'

const tokenOf = (link: string | null) => /^http:\/\/localhost:8788\/link\/([\w-]{43})$/.exec(link ?? '')?.[1] ?? 'none'

async function signIn(store: StoreClient, operatorId: string): Promise<string> {
  const id = newId('ses')
  const [createdAt, expiresAt] = [new Date(), new Date(Date.now() + 60_000)].map((time) => time.toISOString())
  if (createdAt === undefined || expiresAt === undefined) throw new Error('no time')
  const more = { method: 'password' as const, lastSeenAt: createdAt, address: '192.0.2.7', userAgent: 'a browser' }
  await store.sessions.insert({ tokenSha256: id, id, operatorId, createdAt, expiresAt, revokedAt: null, ...more })
  return id
}

describe('operators', () => {
  it('are added with a link that is shown once', async () => {
    const { client, store, databasePath } = await startTestGateway()
    const added = await client.operators.add({ name: 'anna', role: 'owner', displayName: 'Anna B.' })
    expect(added).toMatchObject({ name: 'anna', expires_at: expect.any(String) })
    const token = tokenOf(added.link)
    const now = new Date().toISOString()
    const shown = [
      await client.operators.list({}),
      await client.operators.show({ name: 'anna' }),
      await client.audit.list({}),
    ]
    expect(shown[1]).toMatchObject({
      display_name: 'Anna B.',
      state: 'active',
      grants: [{ role: 'owner', project: null }],
      roles: ['owner'],
      signs_in_with: [],
      last_sign_in_at: null,
    })
    const places = [
      JSON.stringify(shown),
      ...[databasePath, `${databasePath}-wal`].map((path) => readFileSync(path, 'latin1')),
    ]
    for (const place of places) expect(place.includes(token)).toBe(false)
    expect(await store.links.take(hashToken(token), now)).toMatchObject({ operatorId: added.id })
    expect(await store.links.take(hashToken(token), now)).toBeNull()
    expect(await refusal(client.operators.add({ name: 'anna', role: 'viewer' }))).toMatchObject({ code: 'conflict' })
  })

  it('are added with a password, which is kept as a hash alone', async () => {
    const { client, store, databasePath } = await startTestGateway()
    const password = 'canary battery staple'
    const weak = await refusal(client.operators.add({ name: 'ben', role: 'viewer', password: 'short' }))
    expect(weak).toMatchObject({ code: 'invalid', message: 'The password is too short.' })
    expect(await store.operators.list()).toEqual([])
    expect(await client.operators.add({ name: 'ben', role: 'viewer', password })).toMatchObject({ link: null })
    const stored = await store.operators.find('ben')
    expect(await verifyPassword(password, stored?.passwordHash ?? null)).toBe(true)
    expect((await client.operators.show({ name: 'ben' })).signs_in_with).toEqual(['password'])
    const places = [
      JSON.stringify([await client.operators.list({}), await client.audit.list({})]),
      ...[databasePath, `${databasePath}-wal`].map((path) => readFileSync(path, 'latin1')),
    ]
    for (const place of places) expect(place.includes(password)).toBe(false)
    expect(places[0]).not.toContain('argon2')
  })

  it('get roles for projects, one a place, and lose them', async () => {
    const { client } = await startTestGateway()
    await client.projects.add({ name: 'search' })
    await client.operators.add({ name: 'ben', role: 'viewer', projects: ['search', 'default', 'search'] })
    const roles = async () => (await client.operators.show({ name: 'ben' })).roles.sort()
    expect(await roles()).toEqual(['viewer of default', 'viewer of search'])
    await client.operators.edit({ name: 'ben', role: 'admin', projects: ['search'] })
    expect(await roles()).toEqual(['admin of search', 'viewer of default'])
    await client.operators.edit({ name: 'ben', role: 'viewer' })
    expect(await roles()).toEqual(['admin of search', 'viewer', 'viewer of default'])
    await client.operators.edit({ name: 'ben', role: 'none', projects: ['default'] })
    expect(await roles()).toEqual(['admin of search', 'viewer'])
    await client.operators.edit({ name: 'ben', role: 'admin', replace: true })
    expect(await roles()).toEqual(['admin'])
    await client.operators.edit({ name: 'ben', rename: 'benjamin', displayName: 'Benjamin' })
    expect(await client.operators.show({ name: 'benjamin' })).toMatchObject({
      display_name: 'Benjamin',
      roles: ['admin'],
    })
    expect(await refusal(client.operators.edit({ name: 'benjamin', projects: ['search'] }))).toMatchObject({
      code: 'invalid',
    })
    expect(await refusal(client.operators.show({ name: 'ben' }))).toMatchObject({ code: 'not_found' })
  })

  it('lose what they had in a project that is removed', async () => {
    const { client } = await startTestGateway()
    await client.projects.add({ name: 'search' })
    await client.operators.add({ name: 'ben', role: 'viewer', projects: ['search'] })
    await client.projects.remove({ name: 'search' })
    expect((await client.operators.show({ name: 'ben' })).roles).toEqual([])
  })

  it('never lose their last owner', async () => {
    const { client } = await startTestGateway()
    await client.operators.add({ name: 'anna', role: 'owner' })
    await client.operators.add({ name: 'ben', role: 'admin' })
    for (const attempt of [
      () => client.operators.remove({ name: 'anna' }),
      () => client.operators.disable({ name: 'anna' }),
      () => client.operators.edit({ name: 'anna', role: 'admin' }),
      () => client.operators.edit({ name: 'anna', role: 'none' }),
    ])
      expect(await refusal(attempt())).toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('last owner'),
      })
    expect((await client.operators.show({ name: 'anna' })).roles).toEqual(['owner'])
    await client.operators.edit({ name: 'anna', displayName: 'A.' })
    await client.operators.edit({ name: 'ben', role: 'owner' })
    // A disabled owner is none.
    await client.operators.disable({ name: 'anna' })
    expect(await refusal(client.operators.remove({ name: 'ben' }))).toMatchObject({ code: 'conflict' })
    await client.operators.remove({ name: 'anna' })
    // Two who remove each other at once: one stays.
    await client.operators.add({ name: 'carol', role: 'owner' })
    const both = await Promise.allSettled([
      client.operators.remove({ name: 'ben' }),
      client.operators.remove({ name: 'carol' }),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('can be removed where nobody is an owner, as none of them is the last', async () => {
    const { client } = await startTestGateway()
    await client.operators.add({ name: 'ben', role: 'admin' })
    await client.operators.add({ name: 'carol', role: 'viewer' })
    await client.operators.disable({ name: 'ben' })
    for (const name of ['ben', 'carol'])
      expect(await client.operators.remove({ name })).toMatchObject({ removed: true })
    expect(await client.operators.list({})).toEqual([])
  })

  it('are signed out when they are disabled, and come back when they are enabled', async () => {
    const { client, store } = await startTestGateway()
    const { id } = await client.operators.add({ name: 'ben', role: 'viewer' })
    await signIn(store, id)
    expect(await client.operators.disable({ name: 'ben' })).toMatchObject({ state: 'disabled' })
    expect(await client.sessions.list({})).toEqual([])
    expect(await refusal(client.operators.link({ name: 'ben' }))).toMatchObject({ code: 'refused' })
    expect(await client.operators.enable({ name: 'ben' })).toMatchObject({ state: 'active' })
    expect(tokenOf((await client.operators.link({ name: 'ben' })).link)).toHaveLength(43)
  })

  it('are reset on the machine alone, to a link and nothing else', async () => {
    const { client, store, parts } = await startTestGateway()
    const { id } = await client.operators.add({ name: 'anna', role: 'owner', password: 'correct horse battery' })
    await store.operators.update(id, { totpSealed: parts.keyring.seal('secret', `totp:${id}`) })
    const passkey = { id: newId('pas'), operatorId: id, credentialId: 'c', publicKey: 'k', counter: 0, transports: [] }
    await store.passkeys.insert({ ...passkey, name: 'laptop', createdAt: '2026-01-01T00:00:00.000Z', lastUsedAt: null })
    await signIn(store, id)
    const former = tokenOf((await client.operators.link({ name: 'anna' })).link)
    const signsInWith = async () => (await client.operators.show({ name: 'anna' })).signs_in_with
    expect(await signsInWith()).toEqual(['password', 'authenticator', 'passkey'])
    expect(await refusal(callAs(parts, everywhere('owner'), 'operators.reset', { name: 'anna' }))).toMatchObject({
      code: 'refused',
      hint: 'Run it there: spgw operators reset',
    })
    expect(await signsInWith()).toHaveLength(3)
    const { link } = await client.operators.reset({ name: 'anna' })
    expect(await signsInWith()).toEqual([])
    expect(await client.sessions.list({})).toEqual([])
    const now = new Date().toISOString()
    expect(await store.links.take(hashToken(former), now)).toBeNull()
    expect(await store.links.take(hashToken(tokenOf(link)), now)).toMatchObject({ operatorId: id })
    const [line] = await client.audit.list({ operation: 'operators.reset' })
    expect(line).toMatchObject({
      before: { signs_in_with: ['password', 'authenticator', 'passkey'] },
      after: { signs_in_with: [] },
    })
  })
})

describe('nobody', () => {
  it('gives more than he has, or changes who has more', async () => {
    const { client, parts } = await startTestGateway()
    await client.operators.add({ name: 'anna', role: 'owner' })
    await client.operators.add({ name: 'ben', role: 'viewer' })
    const asAdmin = (operation: string, input: object) => callAs(parts, everywhere('admin'), operation, input)
    for (const [operation, input] of [
      ['operators.add', { name: 'mallory', role: 'owner' }],
      ['operators.add', { name: 'mallory', role: 'owner', projects: ['default'] }],
      ['operators.edit', { name: 'ben', role: 'owner' }],
      ['operators.edit', { name: 'ben', role: 'owner', projects: ['default'] }],
      ['operators.edit', { name: 'anna', role: 'viewer' }],
      ['operators.edit', { name: 'anna', displayName: 'me' }],
      ['operators.link', { name: 'anna' }],
      ['operators.disable', { name: 'anna' }],
      ['operators.remove', { name: 'anna' }],
      ['tokens.create', { name: 'mallory', role: 'owner' }],
    ] as const) {
      const fault = await refusal(asAdmin(operation, input))
      expect(fault, operation).toMatchObject({ code: 'refused', hint: 'Ask an owner.' })
    }
    expect((await client.operators.list({})).map(({ name, roles }) => [name, roles])).toEqual([
      ['anna', ['owner']],
      ['ben', ['viewer']],
    ])
    await asAdmin('operators.edit', { name: 'ben', role: 'admin' })
    await asAdmin('tokens.create', { name: 'deploy', role: 'admin' })
    expect(await client.audit.list({ actor: 'opr_somebody' })).toMatchObject([
      { operation: 'tokens.create', actor: 'somebody', surface: 'console', address: '192.0.2.7' },
      { operation: 'operators.edit' },
    ])
  })
})

describe('somebody who has more', () => {
  it('is signed out by nobody who has less, and his tokens are not ended', async () => {
    const { client, store, parts } = await startTestGateway()
    const anna = await client.operators.add({ name: 'anna', role: 'owner' })
    const ben = await client.operators.add({ name: 'ben', role: 'admin' })
    const [annas, bens] = [await signIn(store, anna.id), await signIn(store, ben.id)]
    await client.tokens.create({ name: 'all', role: 'owner' })
    await client.tokens.create({ name: 'some', role: 'owner', project: 'default' })
    await client.tokens.create({ name: 'deploy', role: 'admin' })
    const ask = (operation: string, input: object) => callAs(parts, everywhere('admin'), operation, input)
    for (const [operation, input] of [
      ['sessions.revoke', { id: annas }],
      ['sessions.revoke', { operator: 'anna' }],
      ['tokens.revoke', { name: 'all' }],
      ['tokens.remove', { name: 'all' }],
      ['tokens.revoke', { name: 'some' }],
    ] as const)
      expect(await refusal(ask(operation, input)), operation).toMatchObject({
        code: 'refused',
        message: expect.stringContaining('requires roles that you do not have'),
      })
    expect((await client.sessions.list({})).map(({ id }) => id).sort()).toEqual([annas, bens].sort())
    expect((await client.tokens.list({})).map(({ state }) => state)).toEqual(['active', 'active', 'active'])
    expect(await ask('sessions.revoke', { operator: 'ben' })).toEqual({ revoked: 1, nodes: null })
    expect(await ask('tokens.revoke', { name: 'deploy' })).toMatchObject({ state: 'revoked' })
    expect(await client.sessions.revoke({ id: annas })).toEqual({ revoked: 1, nodes: null })
  })
})

describe('sessions', () => {
  it('are listed and ended, one or all of an operator', async () => {
    const { client, store } = await startTestGateway()
    const anna = await client.operators.add({ name: 'anna', role: 'owner' })
    const ben = await client.operators.add({ name: 'ben', role: 'viewer' })
    const [first, second] = [await signIn(store, anna.id), await signIn(store, anna.id)]
    await signIn(store, ben.id)
    expect(await client.sessions.list({})).toHaveLength(3)
    const [shown] = await client.sessions.list({ operator: 'ben' })
    expect(shown).toMatchObject({ operator: 'ben', method: 'password', address: '192.0.2.7', user_agent: 'a browser' })
    expect(JSON.stringify(shown)).not.toContain('token')
    expect(await client.sessions.revoke({ id: first })).toEqual({ revoked: 1, nodes: null })
    expect(await refusal(client.sessions.revoke({ id: first }))).toMatchObject({ code: 'not_found' })
    expect((await client.sessions.list({ operator: 'anna' })).map(({ id }) => id)).toEqual([second])
    expect(await client.sessions.revoke({ operator: 'anna' })).toEqual({ revoked: 1, nodes: null })
    expect(await client.sessions.list({})).toHaveLength(1)
    for (const input of [{}, { id: second, operator: 'anna' }])
      expect(await refusal(client.sessions.revoke(input))).toMatchObject({ code: 'invalid' })
    expect((await client.audit.list({ operation: 'sessions.revoke' })).map(({ resource }) => resource.name)).toEqual([
      'anna',
      'anna',
    ])
  })
})

describe('API tokens', () => {
  it('are shown once, end, and free their name', async () => {
    const { client, store, databasePath } = await startTestGateway()
    const made = await client.tokens.create({ name: 'deploy', role: 'admin', project: 'default', expires: '7d' })
    expect(made.token).toMatch(/^spt_[0-9A-Za-z]{49}$/)
    expect(made).toMatchObject({ name: 'deploy', role: 'admin', project: 'default' })
    const shown = [
      await client.tokens.list({}),
      await client.tokens.show({ name: 'deploy' }),
      await client.audit.list({}),
    ]
    expect(shown[1]).toMatchObject({
      state: 'active',
      last_four: made.token.slice(-4),
      created_by: 'local owner',
      last_used_at: null,
    })
    const stored = await store.tokens.findByHash(hashToken(made.token))
    expect(stored).toMatchObject({ id: made.id, role: 'admin' })
    const places = [
      JSON.stringify(shown),
      ...[databasePath, `${databasePath}-wal`].map((path) => readFileSync(path, 'latin1')),
    ]
    for (const place of places) expect(place.includes(made.token)).toBe(false)
    expect(places[0]).not.toContain(stored?.tokenSha256)
    expect(await refusal(client.tokens.create({ name: 'deploy' }))).toMatchObject({ code: 'conflict' })
    expect(await client.tokens.revoke({ name: 'deploy' })).toMatchObject({ state: 'revoked' })
    const next = await client.tokens.create({ name: 'deploy' })
    expect(next).toMatchObject({ role: 'viewer', project: null })
    expect(await client.tokens.show({ name: 'deploy' })).toMatchObject({ id: next.id, state: 'active' })
    expect(await client.tokens.remove({ name: made.id })).toMatchObject({ removed: true })
    expect(await client.tokens.list({})).toHaveLength(1)
  })

  it('last ninety days, or as long as is said', async () => {
    const { client } = await startTestGateway()
    const days = (text: string | null) => Math.round((Date.parse(text ?? '') - Date.now()) / 86_400_000)
    expect(days((await client.tokens.create({ name: 'a' })).expires_at)).toBe(90)
    expect((await client.tokens.create({ name: 'b', expires: 'never' })).expires_at).toBeNull()
    expect(await refusal(client.tokens.create({ name: 'c', expires: '2020-01-01T00:00:00Z' }))).toMatchObject({
      code: 'invalid',
    })
  })

  it('go with their project', async () => {
    const { client } = await startTestGateway()
    await client.projects.add({ name: 'search' })
    await client.tokens.create({ name: 'report', project: 'search' })
    await client.projects.remove({ name: 'search' })
    expect(await client.tokens.list({})).toEqual([])
  })
})

describe('a link to the console', () => {
  it('is for the first owner, then for the only one, and for whoever is named where there are more', async () => {
    const { client, store } = await startTestGateway()
    /** The operator's name, and whose link was stored. */
    const linkFor = async (named?: string) => {
      const { url, operator } = await client.console.link({ operator: named })
      const link = await store.links.take(hashToken(tokenOf(url)), new Date().toISOString())
      return [operator, link?.operatorId]
    }
    expect(await linkFor()).toEqual([null, null])
    const vera = await client.operators.add({ name: 'vera', role: 'viewer' })
    expect(await refusal(client.console.link({}))).toMatchObject({
      code: 'invalid',
      message: 'No active operator is an owner.',
      hint: expect.stringMatching(/^Add one: spgw operators add NAME --role owner\. .*one of vera$/),
    })
    const anna = await client.operators.add({ name: 'anna', role: 'owner' })
    expect(await linkFor()).toEqual(['anna', anna.id])
    expect(await linkFor('vera')).toEqual(['vera', vera.id])
    expect(await linkFor(vera.id)).toEqual(['vera', vera.id])
    await client.operators.add({ name: 'bert', role: 'owner' })
    expect(await refusal(client.console.link({}))).toMatchObject({
      code: 'invalid',
      hint: expect.stringMatching(/one of anna, bert$/),
    })
    await client.operators.disable({ name: 'bert' })
    expect(await linkFor()).toEqual(['anna', anna.id])
    expect(await refusal(client.console.link({ operator: 'bert' }))).toMatchObject({ code: 'refused' })
    expect(await refusal(client.console.link({ operator: 'nobody' }))).toMatchObject({ code: 'not_found' })
    const [line] = await client.audit.list({ operation: 'console.link', limit: 1 })
    expect(line).toMatchObject({
      resource: { kind: 'operator', id: anna.id, name: 'anna' },
      after: { operator: 'anna' },
    })
  })
})
