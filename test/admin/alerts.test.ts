import { describe, expect, it } from 'vitest'
import { openReceiver } from '../../src/admin/handlers/alerts/receiver.ts'
import { refusal, startTestGateway } from './gateway.ts'

const url = 'https://ops.example.com/hook?token=canary-7f3a91'

describe('alerts', () => {
  it('keep their signing secret when they are changed, and show no token of their URL', async () => {
    const { client, store, parts } = await startTestGateway()
    const receiverOf = async (name: string) => {
      const alert = await store.alerts.find(name)
      if (alert === null) throw new Error(`there is no alert ${name}`)
      return openReceiver(parts, alert)
    }
    const made = await client.alerts.add({ name: 'ops', url, on: ['disk', 'budget', 'disk'] })
    expect(made).toMatchObject({ url: 'https://ops.example.com/hook?…', on: ['disk', 'budget'], active: true })
    expect(await receiverOf('ops')).toEqual({ url, secret: made.secret })
    const moved = await client.alerts.edit({ name: 'ops', rename: 'pager', url: 'https://ops.example.com/other' })
    expect(moved).toMatchObject({ name: 'pager', url: 'https://ops.example.com/other', on: ['disk', 'budget'] })
    expect(await receiverOf('pager')).toEqual({ url: 'https://ops.example.com/other', secret: made.secret })
    const quiet = await client.alerts.edit({ name: 'pager', active: false, on: ['errors', 'errors'] })
    expect(quiet).toMatchObject({ url: 'https://ops.example.com/other', on: ['errors'], active: false })

    const hook = 'https://hooks.slack.com/services/T0/B0/abc'
    expect(await refusal(client.alerts.add({ name: 'chat', url: hook }))).toMatchObject({ code: 'invalid' })
    expect(await refusal(client.alerts.edit({ name: 'pager', url: hook }))).toMatchObject({ code: 'invalid' })
    const chat = await client.alerts.add({ name: 'chat', url: hook, format: 'slack' })
    expect(chat).toMatchObject({ url: 'https://hooks.slack.com/…', secret: null })
    await client.alerts.edit({ name: 'chat', url: `${hook}d` })
    expect(await receiverOf('chat')).toEqual({ url: `${hook}d`, secret: null })
    expect((await client.alerts.list({})).map(({ name }) => name)).toEqual(['chat', 'pager'])
    expect(await refusal(client.alerts.edit({ name: 'chat', rename: 'pager' }))).toMatchObject({ code: 'conflict' })
    expect(await refusal(client.alerts.add({ name: 'chat', url }))).toMatchObject({ code: 'conflict' })
    for (const bad of ['https://me@a.example/x', 'https://:secret@a.example/x', `${url}…`, 'http://169.254.169.254/x'])
      expect(await refusal(client.alerts.edit({ name: 'chat', url: bad }))).toMatchObject({ code: 'invalid' })
    expect(JSON.stringify(await client.audit.list({ limit: 100 }))).not.toMatch(/canary|T0\/B0|whsec_/)
  })

  it('list their deliveries each by itself, and send none while they are off', async () => {
    const { client } = await startTestGateway()
    for (const name of ['ops', 'pager']) await client.alerts.add({ name, url })
    const sent = await client.alerts.test({ name: 'ops' })
    expect(sent).toMatchObject({
      alert: 'ops',
      type: 'test',
      state: 'pending',
      tries: 0,
      text: 'A test message of spgw.',
    })
    expect(sent.next_at).toBe(sent.created_at)
    const other = await client.alerts.test({ name: 'pager' })
    const ids = async (name?: string) => (await client.alerts.deliveries({ name })).map(({ id }) => id).sort()
    expect([await ids('ops'), await ids('pager'), await ids()]).toEqual([
      [sent.id],
      [other.id],
      [sent.id, other.id].sort(),
    ])
    expect(await client.alerts.deliveries({ limit: 1 })).toHaveLength(1)
    expect(await client.alerts.retry({ id: sent.id })).toMatchObject({ id: sent.id, alert: 'ops' })
    await client.alerts.edit({ name: 'ops', active: false })
    for (const call of [client.alerts.test({ name: 'ops' }), client.alerts.retry({ id: sent.id })])
      expect(await refusal(call)).toMatchObject({ code: 'refused', hint: 'spgw alerts edit ops --active' })
    expect(await refusal(client.alerts.retry({ id: 'msg_unknown' }))).toMatchObject({ code: 'not_found' })
    expect(await refusal(client.alerts.deliveries({ name: 'nobody' }))).toMatchObject({ code: 'not_found' })
    expect(await client.alerts.remove({ name: 'ops' })).toMatchObject({ name: 'ops', removed: true })
    expect(await ids()).toEqual([other.id])
  })
})
