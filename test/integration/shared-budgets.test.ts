import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { BudgetLoad } from '../../scripts/crash/budget-load.ts'
import { BudgetProvider, longestAnswer } from '../../scripts/crash/budget-provider.ts'
import { seededRandom } from '../../scripts/crash/random.ts'
import { BudgetAuthority } from '../../scripts/crash/shared-budgets/authority.ts'
import { budgetAnswerers } from '../../src/cluster/budget-questions.ts'
import { createBudgets } from '../../src/cluster/budget-schema.ts'
import type { BudgetAsk } from '../../src/cluster/budgets.ts'
import { createSchema } from '../../src/cluster/schema/configuration.ts'
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

  const node = (name: string) => cluster.node(name)

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
    // What all have spent is known on each, also to people.
    const shownOn = async ({ gateway: each }: ClusterNode) => {
      const [usage] = await each.admin.policies.usage({ name: 'small' })
      return usage?.periods[0]?.used ?? 0
    }
    for (const each of cluster.nodes) await expect.poll(() => shownOn(each)).toBeCloseTo(spent, 9)
    // What is left is less than a request may need.
    expect(spent).toBeGreaterThan(0.0008)
    const spenders = new Set(own.filter(({ status }) => status === 200).map(({ id }) => id)).size
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(spenders)
  })

  it('are never spent above while many clients ask and nodes are killed', async () => {
    const [clients, kills] = [
      Number(process.env.SPGW_CLUSTER_CLIENTS ?? 45),
      Number(process.env.SPGW_CLUSTER_KILLS ?? 2),
    ]
    const random = seededRandom(7)
    const { gateway } = node('gw-a')
    const { key } = await gateway.createKey('many')
    await gateway.admin.policies.add({
      name: 'five-cents',
      budgetUsdMonth: 0.05,
      attach: ['key:default/production/many'],
    })
    await cluster.converge()
    const loadOf = ({ gateway: { baseUrl } }: ClusterNode) =>
      new BudgetLoad(baseUrl, { spender: key, limited: key }, random, Math.ceil(clients / names.length))
    const loads = new Map(cluster.nodes.map((each) => [each.name, loadOf(each)]))
    for (let kill = 0; kill < kills; kill++) {
      const victim = node(names[1 + (kill % 2)] ?? '')
      await expect.poll(() => loads.get(victim.name)?.ended).toBeGreaterThan(30)
      await victim.gateway.kill('SIGKILL')
      await loads.get(victim.name)?.end()
      await victim.restart()
      loads.set(victim.name, loadOf(victim))
    }
    const isOver = async () => (await ask('gw-a', key, 1)).code === 'budget_exceeded'
    await expect.poll(isOver).toBe(true)
    await Promise.all([...loads.values()].map((load) => load.end()))
    const records = (await Promise.all(cluster.nodes.map(({ gateway: each }) => listAllRequests(each)))).flat()
    const own = records.filter((record) => record.key?.name === 'many')
    const sum = (of: (record: (typeof own)[number]) => number) => own.reduce((whole, record) => whole + of(record), 0)
    const spent = sum(({ cost }) => cost?.usd ?? 0)
    expect(spent).toBeLessThanOrEqual(0.05 + sum(({ estimate_error: error }) => error ?? 0) + 1e-9)
    expect(spent).toBeGreaterThan(0.045)
    expect(own.filter(({ state }) => state === 'interrupted').length).toBeGreaterThan(0)
  })

  it('go on from what is in hand while PostgreSQL is away, and then say why not', async () => {
    const { gateway } = node('gw-a')
    const { key } = await gateway.createKey('away')
    await gateway.admin.policies.add({ name: 'away', budgetUsdDay: 0.01, attach: ['key:default/production/away'] })
    await cluster.converge()
    expect((await ask('gw-a', key)).status).toBe(200)
    cluster.postgres.stop()
    await expect.poll(async () => (await gateway.admin.status({})).degraded).toMatchObject([{ part: 'postgres' }])
    expect((await ask('gw-a', key)).status).toBe(200)
    // Nothing of it was given to this one.
    const refused = await ask('gw-b', key)
    expect(refused).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(refused.text).toMatch(/was not given enough of what is left/)
    cluster.postgres.start()
    await expect.poll(async () => (await ask('gw-b', key)).status).toBe(200)
  })

  it('are divided by PostgreSQL as the simulation does it', async () => {
    cluster.postgres.query('create database twin')
    const client = new pg.Client({ host: '127.0.0.1', port: cluster.postgres.port, user: 'spgw', database: 'twin' })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(createSchema)
    await client.query(createBudgets)
    const [authority, random] = [new BudgetAuthority(), seededRandom(3)]
    const members = ['one', 'two', 'three']
    for (const member of members) {
      await client.query('insert into spgw.members (id, name, incarnation) values ($1, $1, $2)', [member, '0'])
      authority.meet(member, '0')
    }
    const state = new Map<string, { number: number; given: number }>()
    for (let round = 0; round < 150; round++) {
      // A standby took over: nobody is given anything before all have said what they have.
      if (round === 80) {
        await client.query("update spgw.timeline set settled = 'before', seen = 'before'")
        await client.query("update spgw.members set declared = 'before'")
        authority.failOver(authority.copy(), '2')
      }
      const member = random.pick(members)
      const complete = random.chance(0.3)
      const asks = ['a', 'b'].map((counter): BudgetAsk => {
        const known = state.get(`${member} ${counter}`) ?? { number: 0, given: 0 }
        const more = random.chance(0.6)
        return {
          ...{
            counter,
            period: '2026-11',
            start: 0,
            end: 4e12,
            most: random.pick([1e9, 1e9, null, 8e8]),
            sequence: round,
          },
          ...{ number: known.number + random.pick([1, 1, 1, 0]), holds: Math.floor(known.given * random.next()) },
          ...{
            spent: 0,
            rate: random.pick([0, 1000, 50_000]),
            need: more ? random.between(0, 2e8) : 0,
            more,
            warns: false,
          },
        }
      })
      const self = { cluster: '', member, incarnation: '0' }
      const found = await budgetAnswerers.allow(client, { ...self, complete, asks })
      const expected = authority.allow(member, '0', complete, asks, found.now)
      expect(found.replies.map(({ number }) => number)).toEqual(expected.replies.map(({ number }) => number))
      for (const [index, reply] of found.replies.entries()) {
        const other = expected.replies[index]
        // Both round.
        for (const figure of ['given', 'spent', 'held', 'room'] as const)
          expect(Math.abs(reply[figure] - (other?.[figure] ?? Number.NaN))).toBeLessThan(100)
        state.set(`${member} ${reply.counter}`, reply)
      }
    }
    const other = await budgetAnswerers.allow(client, {
      cluster: '',
      member: 'one',
      incarnation: '1',
      complete: true,
      asks: [],
    })
    expect(other.member).toBe(false)
  })
})
