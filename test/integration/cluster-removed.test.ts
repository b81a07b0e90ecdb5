import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestCluster } from '../support/cluster.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

const credential = 'sk-of-the-cluster-1234567890'

describe.skipIf(postgresPrograms === null)(`a removed node that runs on (${needsPostgres})`, () => {
  let cluster: TestCluster
  let upstream: MockProvider
  beforeAll(async () => {
    upstream = await startMockProvider('openai', credential)
    cluster = await TestCluster.start(['gw-a', 'gw-b'], { records: 'shared' })
  })
  afterAll(async () => {
    await cluster?.stop()
    await upstream?.close()
  })

  it('says one thing of its records, whatever is read meanwhile, and shows what it answers itself', async () => {
    const [a, b] = ['gw-a', 'gw-b'].map((name) => cluster.node(name).gateway)
    if (a === undefined || b === undefined) throw new Error('two nodes')
    const { baseUrl } = upstream
    await a.admin.providers.add({ name: 'up', kind: 'openai', baseUrl, credential, skipCheck: true })
    await a.addRoute('gpt-4o-mini', ['up'])
    const { key } = await a.createKey('everywhere')
    await cluster.converge()
    const ask = async (origin: string) => {
      const answer = await fetch(`${origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }),
      })
      await answer.text()
      return answer.headers.get('x-sp-request-id')
    }
    const ofOther = await ask(a.baseUrl)
    const nodeOf = async () => (await b.admin.requests.show({ id: String(ofOther) })).node
    await expect.poll(nodeOf).toBe('gw-a')

    await a.admin.cluster.remove({ node: 'gw-b' })
    const ofRecords = async () => (await b.admin.status({})).degraded.find(({ part }) => part === 'records')
    await expect.poll(ofRecords).toMatchObject({ reason: expect.stringMatching(/its own requests only: see those of/) })
    const said = await ofRecords()
    // The same of each node, whichever command is asked, and what to do.
    const listed = await b.admin.cluster.status({})
    const shown = (await b.admin.status({})).cluster?.nodes ?? []
    const states = Object.fromEntries(shown.map(({ name, state }) => [name, state]))
    expect(states).toEqual({ 'gw-a': 'unknown', 'gw-b': 'removed' })
    expect(Object.fromEntries(listed.nodes.map(({ name, state }) => [name, state]))).toEqual(states)
    expect(listed.trouble).toMatch(/was removed from the cluster, .*: stop it, or .* spgw cluster leave/)
    const own = await ask(b.baseUrl)
    // Several meetings with PostgreSQL, one a second, and readings between them.
    for (let look = 0; look < 20; look++) {
      const shown = await b.admin.requests.list({})
      expect(shown.map(({ id }) => id)).toEqual([own])
      expect(await ofRecords()).toEqual(said)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const { stderr } = await b.spgw(['requests', 'list'])
    expect(stderr).toMatch(/Requests of this node only, since \d\d:\d\d UTC: it was removed from its cluster/)
    await b.admin.cluster.leave({})
    await expect.poll(ofRecords).toBeUndefined()
  })
})
