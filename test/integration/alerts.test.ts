import { createServer, type IncomingHttpHeaders } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { AlertWatch } from '../../src/daemon/alerts/alert-watch.ts'
import { createHttpTransport } from '../../src/providers/http.ts'
import type { Alert } from '../../src/store/api.ts'
import { startTestGateway, type TestGateway } from '../admin/gateway.ts'
import { listen } from '../support/listen.ts'

interface Received {
  headers: IncomingHttpHeaders
  body: { type: string; data: { resource: string } }
}

/** Answers what the test says next, and 204 after that; 0: nothing. */
async function openReceiver(answers: number[] = []) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
    const status = answers.shift() ?? 204
    if (status === 0) return
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end()
  })
  const origin = await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { received, url: `${origin}/hook` }
}

function watchOf(gateway: TestGateway, clock: { now: number }): AlertWatch {
  const transport = createHttpTransport()
  onTestFinished(() => transport.close())
  const { store, keyring, runtime } = gateway.parts
  const nothing = () => {}
  return new AlertWatch({
    ...{ store, keyring },
    // Only what the test says is wrong: the disk of this machine is its own.
    runtime: { ...runtime, dataDirectory: '/nowhere' },
    settings: () => ({ gateway: { tls: null }, console: { tls: null, url: null } }),
    transport: async () => transport,
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    now: () => clock.now,
  })
}

async function addAlert(gateway: TestGateway, name: string, url: string): Promise<Alert> {
  await gateway.client.alerts.add({ name, url })
  const alert = await gateway.store.alerts.find(name)
  if (alert === null) throw new Error('the alert is not there')
  return alert
}

async function spend(gateway: TestGateway): Promise<string> {
  await gateway.client.policies.add({ name: 'spend', attach: ['workspace'], budgetUsdMonth: 200 })
  const policy = await gateway.store.policies.find('spend')
  return `${policy?.id} workspace usd month`
}

it('sends each threshold once, also after a restart, signed and under one id until it is delivered', async () => {
  const gateway = await startTestGateway()
  const receiver = await openReceiver([500, 302])
  const clock = { now: Date.now() }
  await addAlert(gateway, 'ops', receiver.url)
  const counter = await spend(gateway)
  gateway.used.set(counter, { used: 170e9, held: 0, holders: 0, resetsAt: Date.parse('2027-01-01T00:00:00Z') })
  const first = watchOf(gateway, clock)
  await first.look()
  await expect.poll(() => first.counts.retried).toBe(1)
  const [delivery] = await gateway.client.alerts.deliveries({})
  expect(delivery).toMatchObject({ alert: 'ops', type: 'budget.threshold', state: 'pending', tries: 1, status: 500 })
  // Another watch is what a restart begins with: nothing of the one before but the store.
  const second = watchOf(gateway, clock)
  clock.now += 5000
  await second.look()
  await expect.poll(() => second.counts.retried).toBe(1)
  expect((await gateway.client.alerts.deliveries({}))[0]?.reason).toMatch(/302: redirects are not followed/)
  clock.now += 60_000
  await second.look()
  await expect.poll(() => second.counts.delivered).toBe(1)
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([delivery?.id]))
  expect(receiver.received).toHaveLength(3)
  expect(receiver.received[2]).toMatchObject({
    headers: { 'webhook-signature': expect.stringMatching(/^v1,/) },
    body: { type: 'budget.threshold', data: { resource: 'policy:spend' } },
  })
  clock.now += 3600_000
  await second.look()
  await second.sendDue()
  expect(receiver.received).toHaveLength(3)
})

it('delays nobody for a receiver that stalls', async () => {
  const gateway = await startTestGateway()
  const stalled = await openReceiver([0])
  const well = await openReceiver()
  await addAlert(gateway, 'stalled', stalled.url)
  await addAlert(gateway, 'well', well.url)
  const counter = await spend(gateway)
  gateway.used.set(counter, { used: 200e9, held: 0, holders: 0, resetsAt: Date.parse('2027-01-01T00:00:00Z') })
  const watch = watchOf(gateway, { now: Date.now() })
  await watch.look()
  await expect.poll(() => watch.counts.delivered).toBe(1)
  expect(well.received[0]?.body.type).toBe('budget.spent')
  await expect.poll(() => watch.counts.retried).toBe(1)
  const [delivery] = await gateway.client.alerts.deliveries({ name: 'stalled' })
  expect(delivery).toMatchObject({ state: 'pending', status: null, reason: 'no answer within 15 seconds' })
})

it('seals the signing secret and keeps the path of a Slack-style hook to itself', async () => {
  const gateway = await startTestGateway()
  const added = await gateway.client.alerts.add({ name: 'ops', url: 'https://hooks.example.com/in?token=abc' })
  expect(added.secret).toMatch(/^whsec_/)
  expect(added.url).toBe('https://hooks.example.com/in?…')
  const slack = { name: 'chat', url: 'https://hooks.example.com/T0/B0/xyz', format: 'slack' } as const
  expect(await gateway.client.alerts.add(slack)).toMatchObject({ secret: null, url: 'https://hooks.example.com/…' })
  const said = JSON.stringify([await gateway.client.audit.list({}), await gateway.client.alerts.list({})])
  for (const secret of [added.secret ?? '', 'token=abc', 'T0/B0']) expect(said).not.toContain(secret)
  const url = 'http://169.254.169.254/latest'
  await expect(gateway.client.alerts.add({ name: 'bad', url })).rejects.toThrow(/never called/)
})
