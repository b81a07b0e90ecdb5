import { describe, expect, it } from 'vitest'
import { refusal, startTestGateway } from './gateway.ts'

describe('the edit of a key', () => {
  it('gives it a name that no other has where it is, wherever the call looks first', async () => {
    const { client } = await startTestGateway()
    await client.environments.add({ name: 'staging' })
    const { id } = await client.keys.create({ name: 'build', environment: 'staging' })
    await client.keys.create({ name: 'taken', environment: 'staging' })
    for (const name of ['ci', 'web']) await client.keys.create({ name })
    expect(await refusal(client.keys.edit({ key: 'ci', name: 'web' }))).toMatchObject({
      ...{ code: 'conflict', message: 'The key web already exists in default/production.' },
    })
    expect(await client.keys.edit({ key: 'ci', name: 'ci' })).toMatchObject({ name: 'ci' })
    // By its ID it is found in any environment, and there is no web in its own.
    expect(await client.keys.edit({ key: id, name: 'web' })).toMatchObject({ id, name: 'web', environment: 'staging' })
    expect(await refusal(client.keys.edit({ key: id, name: 'taken' }))).toMatchObject({
      ...{ code: 'conflict', message: 'The key taken already exists in default/staging.' },
    })
    await client.keys.revoke({ key: 'web' })
    expect(await client.keys.edit({ key: 'ci', name: 'web' })).toMatchObject({ name: 'web' })
  })

  it('changes what it names, and nothing else', async () => {
    const { client } = await startTestGateway()
    await client.policies.add({ name: 'team', rpm: 60 })
    await client.keys.create({ name: 'ci', policy: 'team', tags: { team: 'search' } })
    expect(await client.keys.edit({ key: 'ci', tags: { level: '2' } })).toMatchObject({
      ...{ name: 'ci', policy: 'team', tags: { team: 'search', level: '2' }, expires_at: null },
    })
    expect(await client.keys.edit({ key: 'ci', policy: 'none' })).toMatchObject({ policy: null, tags: { level: '2' } })
    expect(await client.keys.edit({ key: 'ci', policy: 'team' })).toMatchObject({ policy: 'team' })
  })
})

describe('a whole key that somebody found', () => {
  it('is named by itself wherever it is, and repeated nowhere', async () => {
    const { client } = await startTestGateway()
    await client.environments.add({ name: 'staging' })
    const { id, key } = await client.keys.create({ name: 'leaked', environment: 'staging' })
    expect(await client.keys.show({ key })).toMatchObject({ id, environment: 'staging' })
    const rotated = await client.keys.rotate({ key: id })
    for (const secret of [key, rotated.key]) expect(await client.keys.show({ key: secret })).toMatchObject({ id })
    expect(await client.requests.list({ key })).toEqual([])
    expect(await client.keys.revoke({ key })).toMatchObject({ id, state: 'revoked' })
    await client.keys.remove({ key })
    const gone = { code: 'not_found', message: `There is no key with this secret, which ends in "${key.slice(-4)}".` }
    expect(await refusal(client.keys.show({ key }))).toMatchObject(gone)
    expect(await refusal(client.requests.list({ key }))).toMatchObject(gone)
    // Cut short, it is a name that nothing has.
    const { message } = await refusal(client.keys.show({ key: key.slice(0, -3) }))
    expect(message).toBe('There is no key in default/production named "sp_live_…".')
  })

  it('is found where no project has the usual name', async () => {
    const { client } = await startTestGateway()
    const { id, key } = await client.keys.create({ name: 'leaked' })
    await client.projects.edit({ name: 'default', rename: 'acme' })
    expect(await client.keys.show({ key })).toMatchObject({ id, project: 'acme' })
    expect(await client.keys.usage({ key })).toMatchObject([{ key: { id } }])
    expect(await client.keys.revoke({ key })).toMatchObject({ id, state: 'revoked' })
  })
})
