import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BudgetProvider, longestAnswer } from '../../scripts/crash/budget-provider.ts'
import { seededRandom } from '../../scripts/crash/random.ts'
import { type ClusterNode, TestCluster } from '../support/cluster.ts'
import { listAllRequests } from '../support/gateway.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

describe.skipIf(postgresPrograms === null)(`budgets of three nodes (${needsPostgres})`, () => {
  let cluster: TestCluster
  let provider: BudgetProvider
  beforeAll(async () => {
    provider = await new BudgetProvider(seededRandom(1)).listen()
    cluster = await TestCluster.start(names)
    const { admin } = node('gw-a').gateway
    const { origin } = provider
    await admin.providers.add({ name: 'mock', kind: 'openai', credential: 'sk-mock', baseUrl: `${origin}/v1` })
    await admin.providers.add({ name: 'mock-a', kind: 'anthropic', credential: 'sk-ant-mock', baseUrl: origin })
    await admin.routes.add({ model: 'priced', targets: ['mock'] })
    await admin.routes.add({ model: 'claude', targets: ['mock-a'] })
    await admin.prices.set({ model: 'priced', input: 0.1, output: 0.4, maxOutput: longestAnswer })
    await admin.prices.set({ model: 'claude', input: 0.3, output: 1.5, maxOutput: longestAnswer })
  })
  afterAll(async () => {
    await cluster?.stop()
    await provider?.close()
  })

  function node(name: string): ClusterNode {
    const found = cluster.nodes.find((each) => each.name === name)
    if (found === undefined) throw new Error(`there is no node ${name}`)
    return found
  }

  const names = ['gw-a', 'gw-b', 'gw-c']

  async function ask(name: string, key: string, most = 100) {
    const response = await fetch(`${node(name).gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'priced',
        max_completion_tokens: most,
        messages: [{ role: 'user', content: 'a' }],
      }),
    })
    const text = await response.text()
    return { status: response.status, code: response.headers.get('x-sp-error'), text }
  }

  it('are one budget, wherever requests come in', async () => {
    const { gateway } = node('gw-a')
    const { key } = await gateway.createKey('small')
    // Twenty answers of 100 tokens, or a little more.
    await gateway.admin.policies.add({ name: 'small', budgetUsdDay: 0.0009, attach: ['key:default/production/small'] })
    await cluster.converge()
    const answers: Awaited<ReturnType<typeof ask>>[] = []
    for (let round = 0; round < 60; round++) answers.push(await ask(names[round % 3] ?? '', key))
    expect(answers.at(-1)).toMatchObject({ status: 429 })
    const records = (await Promise.all(cluster.nodes.map(({ gateway }) => listAllRequests(gateway)))).flat()
    const own = records.filter((record) => record.key?.name === 'small')
    const spent = own.reduce((sum, { cost }) => sum + (cost?.usd ?? 0), 0)
    expect(spent).toBeLessThanOrEqual(0.0009)
    // What is left is less than a request may need.
    expect(spent).toBeGreaterThan(0.0008)
    const spenders = new Set(own.filter(({ status }) => status === 200).map(({ id }) => id)).size
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(spenders)
  })
})
