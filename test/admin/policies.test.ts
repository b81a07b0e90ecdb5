import { describe, expect, it } from 'vitest'
import { refusal, startTestGateway } from './gateway.ts'

describe('policies', () => {
  it('name the keys that hold them, where they are shown and where their removal is refused', async () => {
    const { client } = await startTestGateway()
    expect(await client.policies.add({ name: 'small' })).toMatchObject({ attached_to: [], held_by: [] })
    await client.keys.create({ name: 'ci', policy: 'small' })
    await client.keys.create({ name: 'gone', policy: 'small' })
    await client.keys.revoke({ key: 'gone' })
    const held = { attached_to: [], held_by: ['key:ci'] }
    expect(await client.policies.show({ name: 'small' })).toMatchObject(held)
    expect(await client.policies.list({})).toMatchObject([held])
    expect(await refusal(client.policies.remove({ name: 'small' }))).toMatchObject({
      message: expect.stringContaining('key ci'),
    })
    await client.keys.edit({ key: 'ci', policy: 'none' })
    expect(await client.policies.show({ name: 'small' })).toMatchObject({ held_by: [] })
  })

  it.each(['0s', '0.1ms', '0d'])(
    'refuse to keep bodies for %s, which would say neither that nor never',
    async (none) => {
      const { client } = await startTestGateway()
      const expected = { code: 'invalid', message: expect.stringContaining('capture none keeps no bodies') }
      const refused = refusal(client.policies.add({ name: 'short', bodiesRetention: none }))
      expect(await refused).toMatchObject(expected)
      expect(await client.policies.add({ name: 'short', bodiesRetention: '1ms' })).toMatchObject({
        bodies_retention_ms: 1,
      })
      const edited = refusal(client.policies.edit({ name: 'short', bodiesRetention: none }))
      expect(await edited).toMatchObject(expected)
    },
  )

  it('are attached by words, replaced and cleared', async () => {
    const { client } = await startTestGateway()
    await client.keys.create({ name: 'ci' })
    const attach = ['workspace', 'project:default', 'environment:default/production', 'key:ci']
    const rules = {
      allowModels: ['gpt-4o*'],
      lanes: ['openai' as const],
      maxBody: '1MB',
      capture: 'full' as const,
      bodiesRetention: '36h',
      attach,
    }
    expect(await client.policies.add({ name: 'small', ...rules })).toMatchObject({
      attached_to: attach,
      allow_models: ['gpt-4o*'],
      lanes: ['openai'],
      max_body_bytes: 1_000_000,
      capture: 'full',
      bodies_retention_ms: 129_600_000,
    })
    const { nodes, ...edited } = await client.policies.edit({
      name: 'small',
      denyModels: ['o1'],
      clear: ['max-body', 'capture', 'bodies-retention', 'attach'],
    })
    // There is one gateway.
    expect(nodes).toBeNull()
    expect(edited).toMatchObject({
      attached_to: [],
      deny_models: ['o1'],
      max_body_bytes: null,
      capture: null,
      bodies_retention_ms: null,
      allow_models: ['gpt-4o*'],
    })
    for (const [word, code] of [
      ['nonsense', 'invalid'],
      ['environment:default', 'invalid'],
      ['key:nobody', 'not_found'],
      ['key:default/production', 'invalid'],
      ['key:default/production/nobody', 'not_found'],
      ['key:default/nowhere/ci', 'not_found'],
    ] as const)
      expect(await refusal(client.policies.edit({ name: 'small', attach: [word] })), word).toMatchObject({ code })
    expect(await client.policies.list({})).toEqual([edited])
    expect(await client.policies.remove({ name: 'small' })).toMatchObject({ removed: true })
  })

  it('are attached to a key by its scope, where several environments have one of its name', async () => {
    const { client } = await startTestGateway()
    await client.environments.add({ name: 'staging' })
    const attach = ['key:default/production/ci']
    await client.keys.create({ name: 'ci' })
    const policy = await client.policies.add({ name: 'small', attach })
    expect(policy.attached_to).toEqual(['key:ci'])
    await client.keys.create({ name: 'ci', environment: 'staging', policy: 'small' })
    const both = { attached_to: attach, held_by: ['key:default/staging/ci'] }
    expect(await client.policies.show({ name: 'small' })).toMatchObject(both)
    expect(await refusal(client.policies.edit({ name: 'small', attach: ['key:ci'] }))).toMatchObject({
      code: 'invalid',
      hint: 'Write key:P/E/ci.',
    })
    expect(await client.policies.edit({ name: 'small', attach })).toMatchObject(both)
  })
})
