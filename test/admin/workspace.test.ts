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
