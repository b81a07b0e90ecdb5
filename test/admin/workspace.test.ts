import { describe, expect, it } from 'vitest'
import { refusal, startTestGateway } from './gateway.ts'

describe('workspace', () => {
  it('has a time zone, by which days and months are counted', async () => {
    const { client } = await startTestGateway()
    expect(await client.workspace.show({})).toMatchObject({ name: 'workspace', time_zone: 'UTC' })
    expect(await client.workspace.edit({ timeZone: 'asia/tokyo' })).toMatchObject({ time_zone: 'Asia/Tokyo' })
    expect(await client.workspace.edit({ rename: 'acme' })).toMatchObject({ name: 'acme', time_zone: 'Asia/Tokyo' })
    expect(await refusal(client.workspace.edit({ timeZone: 'Europe/Berln' }))).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('did you mean Europe/Berlin?'),
    })
    await client.keys.create({ name: 'ci' })
    const [usage] = await client.keys.usage({})
    // Midnight in Tokyo.
    expect(usage?.today.resets_at).toMatch(/T15:00:00\.000Z$/)
  })
})

describe('the default provider of a lane', () => {
  it('speaks it, or is refused with the names of those that do', async () => {
    const { client } = await startTestGateway()
    await client.providers.add({ name: 'claude', kind: 'anthropic', credential: 'sk-one-credential-0001' })
    const edit = (lane: 'anthropic' | 'gemini', provider: string) =>
      client.environments.edit({ name: 'production', defaultProviders: { [lane]: provider } })
    expect(await edit('anthropic', 'claude')).toMatchObject({ default_providers: { anthropic: 'claude' } })
    expect(await refusal(edit('gemini', 'claude'))).toMatchObject({
      code: 'invalid',
      message: 'The provider claude cannot be the default of gemini: its kind, anthropic, does not serve it.',
      hint: 'No provider serves gemini. Add one: spgw providers add NAME --kind gemini',
    })
    await client.providers.add({ name: 'google', kind: 'gemini', credential: 'sk-one-credential-0001' })
    expect(await refusal(edit('gemini', 'claude'))).toMatchObject({ hint: 'Providers that do: google.' })
    expect(await edit('gemini', 'google')).toMatchObject({ default_providers: { gemini: 'google' } })
  })
})
