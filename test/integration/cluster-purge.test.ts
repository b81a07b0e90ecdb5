import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestCluster } from '../support/cluster.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

const credential = 'sk-of-the-cluster-1234567890'

interface Purged {
  done: boolean
  removed: number
  missing: string[]
}

describe.skipIf(postgresPrograms === null)(`deleting records of two nodes (${needsPostgres})`, () => {
  let cluster: TestCluster
  let upstream: MockProvider
  let key: string
  beforeAll(async () => {
    upstream = await startMockProvider('openai', credential)
    cluster = await TestCluster.start(['gw-a', 'gw-b'], { records: 'shared' })
    const { admin, addRoute, createKey } = node('gw-a').gateway
    const { baseUrl } = upstream
    await admin.providers.add({ name: 'up', kind: 'openai', baseUrl, credential, skipCheck: true })
    await addRoute('gpt-4o-mini', ['up'])
    await admin.policies.add({ name: 'captured', capture: 'full', attach: ['project:default'] })
    ;({ key } = await createKey('everywhere'))
    await cluster.converge()
  })
  afterAll(async () => {
    await cluster?.stop()
    await upstream?.close()
  })

  const node = (name: string) => cluster.node(name)

  async function ask(name: string, user: string): Promise<string> {
    const response = await fetch(`${node(name).gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-sp-tag': `user=${user}` },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }),
    })
    await response.text()
    expect(response.status).toBe(200)
    return response.headers.get('x-sp-request-id') ?? ''
  }

  async function purge(name: string, input: { until: string; user?: string; bodies?: boolean }): Promise<Purged> {
    let last: Purged | undefined
    for await (const event of await node(name).gateway.admin.requests.purge(input)) last = event
    if (last === undefined) throw new Error('nothing was said')
    return last
  }

  const query = (text: string) => cluster.postgres.query(text).trim()
  const shipped = () => expect.poll(() => Number(query('select count(*) from spgw.records')))
  /** What a node has in its own database. */
  const known = async (name: string, id: string) =>
    (await node(name).gateway.spgw(['requests', 'show', id, '--bodies', '--json'])).stdout
  const users = (name: string) =>
    node(name)
      .gateway.admin.requests.list({ limit: 100 })
      .then((records) => records.map(({ tags, node: of }) => `${of} ${tags.user}`).sort())
  /** The sums are those of the records. */
  function expectSums(): void {
    const records = query('select node, count(*), sum(input) from spgw.records group by 1 order by 1')
    for (const span of ['hour', 'day'])
      expect(
        query(
          `select node, sum(requests), sum(input) from spgw.record_sums where span = '${span}' group by 1 order by 1`,
        ),
      ).toBe(records)
  }

  it('deletes what one end user asked on any node, there and in PostgreSQL, and in the statistics', async () => {
    for (const name of ['gw-a', 'gw-b']) for (const user of ['ann', 'bob']) await ask(name, user)
    await shipped().toBe(4)
    expect(await purge('gw-a', { until: '0s', user: 'ann' })).toMatchObject({ done: true, removed: 2, missing: [] })
    for (const name of ['gw-a', 'gw-b']) expect(await users(name)).toEqual(['gw-a bob', 'gw-b bob'])
    expectSums()
    // Without PostgreSQL each node reads its own: nothing was left there.
    for (const { proxy } of cluster.nodes) proxy.become('cut')
    for (const name of ['gw-a', 'gw-b']) expect(await users(name)).toEqual([`${name} bob`])
    const { code, stderr } = await node('gw-a').gateway.spgw(['requests', 'purge', '--until', '0s', '--yes'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('PostgreSQL')])
    for (const { proxy } of cluster.nodes) proxy.become('pass')
    await cluster.converge()
  })

  it('deletes captured bodies wherever they are', async () => {
    const id = await ask('gw-b', 'carl')
    await expect.poll(async () => JSON.parse(await known('gw-b', id)).bodies).not.toBeNull()
    expect(await purge('gw-a', { until: '0s', bodies: true })).toMatchObject({ done: true, missing: [] })
    expect(JSON.parse(await known('gw-b', id)).bodies).toBeNull()
  })

  it('names a node that is away, which deletes its own when it is back', async () => {
    await ask('gw-b', 'dora')
    await shipped().toBe(4)
    await node('gw-b').gateway.kill('SIGKILL')
    const { done, removed, missing } = await purge('gw-a', { until: '0s', user: 'dora' })
    expect({ done, removed, missing }).toEqual({ done: true, removed: 1, missing: ['gw-b'] })
    await node('gw-b').restart()
    await expect
      .poll(() => query('select count(*) from spgw.purged where number = (select max(number) from spgw.purges)'))
      .toBe('2')
    expect((await users('gw-b')).filter((each) => each.includes('dora'))).toEqual([])
    expectSums()
  })
})
