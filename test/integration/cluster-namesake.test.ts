import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestCluster } from '../support/cluster.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

const credential = 'sk-of-the-cluster-1234567890'

describe.skipIf(postgresPrograms === null)(`a node in place of another, with its name (${needsPostgres})`, () => {
  let cluster: TestCluster
  let upstream: MockProvider
  beforeAll(async () => {
    upstream = await startMockProvider('openai', credential)
    cluster = await TestCluster.start(['gw-a', 'gw-b'], { records: 'shared' })
    await cluster.addChat(upstream, credential)
  })
  afterAll(async () => {
    await cluster?.stop()
    await upstream?.close()
  })

  it('takes the records and bodies of the one before along when it ends the cluster', async () => {
    const [a, former] = ['gw-a', 'gw-b'].map((name) => cluster.node(name).gateway)
    if (a === undefined || former === undefined) throw new Error('two nodes')
    await a.admin.policies.add({ name: 'kept', capture: 'full', attach: ['workspace'] })
    const { key } = await a.createKey('everywhere')
    await cluster.converge()
    const ask = async (origin: string) => {
      const answer = await fetch(`${origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }),
      })
      await answer.text()
      return String(answer.headers.get('x-sp-request-id'))
    }
    const before = [await ask(a.baseUrl), await ask(former.baseUrl)]
    await former.admin.cluster.leave({})
    await former.stop()
    const { gateway: last } = await cluster.add('gw-b')
    const after = await ask(last.baseUrl)
    await a.admin.cluster.leave({})
    await a.stop()

    expect(await last.admin.cluster.dissolve({})).toMatchObject({ records: 2 })
    const listed = (await last.admin.requests.list({})).map(({ id }) => id)
    expect(listed.toSorted()).toEqual([...before, after].toSorted())
    for (const id of listed) {
      const shown = await last.admin.requests.show({ id, bodies: true })
      expect(JSON.stringify(shown)).toContain('hello')
    }
  })
})
