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
