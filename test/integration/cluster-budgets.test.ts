import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestCluster } from '../support/cluster.ts'
import { askChat } from '../support/gateway.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

const credential = 'sk-of-the-cluster-1234567890'

describe.skipIf(postgresPrograms === null)(`a budget that nodes share from now on (${needsPostgres})`, () => {
  let cluster: TestCluster
  let upstream: MockProvider
  let key: string
  beforeAll(async () => {
    upstream = await startMockProvider('openai', credential)
    cluster = await TestCluster.start(['gw-a', 'gw-b', 'gw-c'], { records: 'shared' })
    await cluster.addChat(upstream, credential)
    ;({ key } = await node('gw-a').gateway.createKey('everywhere'))
    await cluster.converge()
  })
  afterAll(async () => {
    await cluster?.stop()
    await upstream?.close()
  })

  const node = (name: string) => cluster.node(name)

  const ask = async (name: string) => (await askChat(node(name).gateway, key, { max_tokens: 10 })).status

  async function askOften(name: string, times: number): Promise<void> {
    for (let count = 0; count < times; count++) expect(await ask(name)).toBe(200)
  }

  const query = (text: string) => cluster.postgres.query(text).trim()

  /** In nano-dollars, as the records of all nodes say that have come by now: so many. */
  async function spent(requests: number): Promise<number> {
    const read = () => query("select count(*) from spgw.records where state = 'settled'")
    await expect.poll(read).toBe(String(requests))
    return Number(query('select sum(round(usd * 1e9)) from spgw.records'))
  }

  /** What a node shows of the budget. */
  async function shown(name: string, policy: string): Promise<number> {
    const [found] = await node(name).gateway.admin.policies.usage({ name: policy })
    return Math.round((found?.periods[0]?.used ?? Number.NaN) * 1e9)
  }

  /** All nodes show that much, and it is what PostgreSQL divides no more. */
  async function expectCounted(names: readonly string[], policy: string, amount: number): Promise<void> {
    for (const name of names) await expect.poll(() => shown(name, policy), { timeout: 8000 }).toBe(amount)
    const { id } = await node('gw-a').gateway.admin.policies.show({ name: policy })
    expect(query(`select sum(spent) from spgw.allowances where counter like '${id} %'`)).toBe(String(amount))
  }

  it('counts once what each of them has spent before, also of a month in which one asks nothing more', async () => {
    for (const [name, times] of [
      ['gw-a', 3],
      ['gw-b', 2],
      ['gw-c', 1],
    ] as const)
      await askOften(name, times)
    const before = await spent(6)
    await node('gw-b').gateway.admin.policies.add({ attach: ['workspace'], name: 'month', budgetUsdMonth: 5 })
    await expectCounted(['gw-a', 'gw-b', 'gw-c'], 'month', before)
    // As much as is left, and not less because several have counted.
    await node('gw-a').gateway.admin.policies.add({
      attach: ['workspace'],
      name: 'tight',
      budgetUsdMonth: (before * 1.6) / 1e9,
    })
    await expectCounted(['gw-a', 'gw-b', 'gw-c'], 'tight', before)
    await askOften('gw-c', 1)
    await node('gw-a').gateway.admin.policies.remove({ name: 'tight' })
    await cluster.converge()
  })

  it('counts what a node has spent that was cut off when it was added, once it is back', async () => {
    const before = await spent(7)
    node('gw-b').proxy.become('cut')
    await node('gw-a').gateway.admin.policies.add({ attach: ['workspace'], name: 'while-away', budgetUsdMonth: 5 })
    await expect.poll(() => shown('gw-a', 'while-away')).toBeGreaterThan(0)
    expect(await shown('gw-a', 'while-away')).toBeLessThan(before)
    node('gw-b').proxy.become('pass')
    await expectCounted(['gw-a', 'gw-b', 'gw-c'], 'while-away', before)
  })

  it('counts what a node has spent that has left', async () => {
    await node('gw-c').gateway.admin.cluster.leave({})
    const before = await spent(7)
    await node('gw-b').gateway.admin.policies.add({ attach: ['workspace'], name: 'later', budgetUsdMonth: 5 })
    await expectCounted(['gw-a', 'gw-b'], 'later', before)
    await node('gw-a').gateway.stop()
    await node('gw-a').restart()
    await expectCounted(['gw-a', 'gw-b'], 'later', before)
  })
})
