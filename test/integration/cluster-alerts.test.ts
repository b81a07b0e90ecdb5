import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AlertMessage } from '../../src/core/alert.ts'
import { TestCluster } from '../support/cluster.ts'
import { askChat } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

const credential = 'sk-of-the-cluster-1234567890'

describe.skipIf(postgresPrograms === null)(`alerts of several nodes (${needsPostgres})`, () => {
  let cluster: TestCluster
  let upstream: MockProvider
  let receiver: Server
  const received: AlertMessage[] = []
  beforeAll(async () => {
    receiver = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      received.push(JSON.parse(Buffer.concat(chunks).toString()))
      response.writeHead(204).end()
    })
    const url = `${await listen(receiver)}/hook`
    upstream = await startMockProvider('openai', credential)
    cluster = await TestCluster.start(['gw-a', 'gw-b', 'gw-c'], { records: 'shared' })
    await cluster.addChat(upstream, credential)
    await cluster.node('gw-a').gateway.admin.alerts.add({ name: 'ops', url, on: ['budget', 'expiry'] })
    await cluster.converge()
  })
  afterAll(async () => {
    await cluster?.stop()
    await upstream?.close()
    receiver?.close()
  })

  /** Every node knows that it is reported, by itself or by another. */
  async function knownToAll(crossing: string): Promise<void> {
    for (const { dataDirectory } of cluster.nodes) {
      const sqlite = new Sqlite(join(dataDirectory, 'spgw.db'), { readonly: true })
      const read = sqlite.prepare('select count(*) from alert_crossings where crossing like ?').pluck()
      await expect.poll(() => read.get(crossing), { timeout: 30_000 }).toBe(1)
      sqlite.close()
    }
  }

  /** Again where the node was not given a part of the budget yet. */
  async function ask(name: string, key: string): Promise<void> {
    const once = async () => (await askChat(cluster.node(name).gateway, key, { max_tokens: 10 })).status
    await expect.poll(once, { timeout: 30_000 }).toBe(200)
  }

  const sent = (type: string) => received.filter((message) => message.type.startsWith(type)).map(({ data }) => data)

  it('come once of what all of them find, from the first that does', async () => {
    const { gateway } = cluster.node('gw-b')
    await gateway.createKey('soon-over', { expires: '2d' })
    await knownToAll('expiry key:default/production/soon-over % 3')
    expect(sent('expiry')).toMatchObject([{ resource: 'key:default/production/soon-over', days: 1 }])

    const { key } = await gateway.createKey('team')
    await gateway.admin.policies.add({ name: 'team', attach: ['workspace'], budgetTokensDay: 1000 })
    await cluster.converge()
    // Each request uses 260.
    for (const name of ['gw-a', 'gw-b']) await ask(name, key)
    await knownToAll('budget % 50')
    expect(sent('budget')).toMatchObject([{ resource: 'policy:team', percent: 52 }])
    for (const name of ['gw-c', 'gw-a']) await ask(name, key)
    await knownToAll('budget % 100')
    expect(sent('budget')).toMatchObject([{ percent: 52 }, { percent: 104 }])
    // Each is in the list of the node that sent it.
    const lists = await Promise.all(cluster.nodes.map((node) => node.gateway.admin.alerts.deliveries({ name: 'ops' })))
    expect(lists.flat().map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
  })
})
