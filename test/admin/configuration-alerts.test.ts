import { describe, expect, it } from 'vitest'
import { openReceiver } from '../../src/admin/handlers/alerts/receiver.ts'
import { callAs, everywhere } from './call-as.ts'
import { refusal, startTestGateway } from './gateway.ts'

const url = 'https://ops.example.com/hook?token=canary-7f3a91'
const file = `
owner: platform
alerts:
  - name: ops
    url: \${OPS_URL}
    on: [disk, budget]
`
const files = (text = file, OPS_URL = url) => ({ files: { 'gateway.yaml': text }, variables: { OPS_URL } })

async function receiverOf({ parts, store }: Awaited<ReturnType<typeof startTestGateway>>) {
  const [alert] = await store.alerts.list()
  if (alert === undefined) throw new Error('there is no alert')
  return { alert, ...openReceiver(parts, alert) }
}

describe('an alert in a file', () => {
  it('is made with a signing secret, which is shown once, and changed by nothing the second time', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    const { alerts } = await client.apply(files())
    const made = await receiverOf(gateway)
    expect(made).toMatchObject({ url, alert: { name: 'ops', events: ['budget', 'disk'], active: true } })
    expect(alerts).toEqual([{ id: made.alert.id, name: 'ops', secret: made.secret }])
    expect((await client.apply(files())).alerts).toEqual([])
    expect(await client.diff(files())).toMatchObject({ changes: [], problems: [], notes: [] })
  })

  it('keeps its signing secret when its URL changes', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await client.apply(files())
    const { secret } = await receiverOf(gateway)
    const moved = 'https://ops.example.com/other'
    const plan = await client.diff(files(file, moved))
    expect(plan.changes).toMatchObject([{ action: 'change', kind: 'alert', name: 'ops' }])
    expect(JSON.stringify(plan)).not.toContain('canary')
    await client.apply(files(file, moved))
    expect(await receiverOf(gateway)).toMatchObject({ url: moved, secret })
  })

  it('is exported without its signing secret and with a variable for a URL that holds a token', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await client.apply(files())
    await client.alerts.add({ name: 'plain', url: 'https://ops.example.com/plain', on: ['disk'] })
    const { secret } = await receiverOf(gateway)
    const { text } = await client.export({})
    expect(text).toContain(`url: \${OPS_URL}`)
    expect(text).toContain('url: https://ops.example.com/plain')
    for (const hidden of ['canary', secret ?? '']) expect(text).not.toContain(hidden)
    // Without the variable, what is there keeps its URL.
    const same = await client.diff({ files: { 'export.yaml': text } })
    expect([same.changes, same.problems]).toEqual([[], []])
    const wiped = await startTestGateway()
    await wiped.client.apply({ files: { 'export.yaml': text }, variables: { OPS_URL: url } })
    expect((await wiped.client.export({})).text).toBe(text)
  })

  it('is nobody’s else to change, unless told to', async () => {
    const { client } = await startTestGateway()
    await client.apply(files())
    expect((await refusal(client.alerts.edit({ name: 'ops', on: ['disk'] }))).message).toContain('platform')
    expect(await client.alerts.edit({ name: 'ops', on: ['disk'], force: true })).toMatchObject({ on: ['disk'] })
  })

  it('is removed with the file that named it, where that is asked for', async () => {
    const { client } = await startTestGateway()
    await client.apply(files())
    const { changes } = await client.apply({ ...files('owner: platform\n'), prune: true })
    expect(changes).toMatchObject([{ action: 'remove', kind: 'alert', name: 'ops' }])
    expect(await client.alerts.list({})).toEqual([])
  })

  it('is shown to admins alone', async () => {
    const { client, parts } = await startTestGateway()
    await client.apply(files())
    const seen = await callAs(parts, everywhere('viewer'), 'diff', files(file.replace('disk, ', '')))
    expect(seen).toMatchObject({ changes: [], notes: ['Alerts were not compared, which needs the role admin'] })
  })

  it('that names no URL, or one that nothing is sent to, is refused with its place', async () => {
    const { client } = await startTestGateway()
    const addresses = [
      'http://169.254.169.254/latest',
      'ftp://ops.example.com',
      `https://a.example/${'x'.repeat(2000)}`,
    ]
    const named = addresses.map((address, at) => `  - name: a${at}\n    url: ${address}\n`)
    const text = `alerts:\n  - name: none\n${named.join('')}`
    const { problems } = await client.diff({ files: { 'gateway.yaml': text } })
    expect(problems.map(({ place, message }) => `${place} ${message}`)).toEqual([
      'gateway.yaml:2:5 alert none: a new alert needs its url',
      expect.stringMatching(/^gateway\.yaml:4:5 alert a0: .*link-local/),
      'gateway.yaml:6:5 alert a1: The URL is not an http or https address',
      'gateway.yaml:8:5 alert a2: The URL is not an http or https address',
    ])
  })

  it('is planned without its variable, made of nothing, and keeps the URL that it has', async () => {
    const { client } = await startTestGateway()
    const input = { ...files(), variables: {} }
    const message = 'alert ops: the variable OPS_URL is not set'
    const plan = await client.diff(input)
    expect(plan).toMatchObject({ problems: [], unset: [{ place: 'gateway.yaml:5:5', message }] })
    expect(JSON.stringify(plan.changes)).toContain('unknown (OPS_URL is not set)')
    expect(await refusal(client.apply(input))).toMatchObject({ code: 'invalid' })
    expect(await client.alerts.list({})).toEqual([])
    await client.apply(files())
    expect(await client.diff(input)).toMatchObject({
      changes: [],
      unset: [],
      notes: [`${message}; its URL stays as it is`],
    })
    const bare = await client.diff(files(file.replace(/ {4}url: .*\n/, '')))
    expect(bare).toMatchObject({ changes: [], problems: [], notes: [] })
  })

  it('shows of an address of Slack no more than whose it is, in the file that says so and in each after it', async () => {
    const { client } = await startTestGateway()
    const slack = 'https://hooks.slack.com/services/T000/B000/canary7f3a91'
    const shown = async (text: string) => JSON.stringify((await client.diff(files(text, slack))).changes)
    const named = file.replace('name: ops', 'name: ops\n    format: slack')
    expect(await shown(named)).toContain('https://hooks.slack.com')
    expect(await shown(named)).not.toMatch(/canary|T000/)
    await client.apply(files(named, slack))
    const changed = file.replace('disk, ', '')
    expect(await shown(changed)).toContain('change')
    expect(await shown(changed)).not.toContain('canary')
    expect((await client.diff(files(file, slack))).changes).toEqual([])
    const moved = await client.diff(files(file, 'https://hooks.slack.com/services/T000/B000/canary0000'))
    expect(moved.changes).toMatchObject([{ action: 'change' }])
    expect(JSON.stringify(moved)).not.toMatch(/canary|T000/)
  })
})
