import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestCluster } from '../support/cluster.ts'
import { askChat, listAllRequests } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'
import { oneOf } from '../support/shows/is-whole.ts'

const credential = 'sk-of-the-cluster-1234567890'
/** What is released has none. */
const hasFaultPoints = !process.env.SPGW_TEST_EXECUTABLE

/** A provider that keeps whatever it answers. */
async function startKeeper(): Promise<{ origin: string; server: Server }> {
  let made = 0
  const server = createServer((request, response) => {
    const id = request.method === 'POST' ? `resp_${made++}` : (request.url?.split('/').at(-1) ?? '')
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ id, object: 'response', status: 'completed', model: 'gpt-kept', output: [] }))
    })
  })
  return { origin: await listen(server), server }
}

describe.skipIf(postgresPrograms === null)(`records of two nodes (${needsPostgres})`, () => {
  let cluster: TestCluster
  let upstream: MockProvider
  let keeper: { origin: string; server: Server }
  let key: string
  beforeAll(async () => {
    upstream = await startMockProvider('openai', credential)
    cluster = await TestCluster.start(['gw-a', 'gw-b'], { records: 'shared' })
    await cluster.addChat(upstream, credential)
    const { admin, addRoute, createKey } = node('gw-a').gateway
    keeper = await startKeeper()
    await admin.providers.add({ name: 'kept', kind: 'openai', baseUrl: keeper.origin, credential, skipCheck: true })
    await addRoute('gpt-kept', ['kept'])
    ;({ key } = await createKey('everywhere'))
    await cluster.converge()
  })
  afterAll(async () => {
    await cluster?.stop()
    await upstream?.close()
    keeper?.server.close()
  })

  const node = (name: string) => cluster.node(name)

  /** Id of the request; null: it failed. */
  async function ask(name: string): Promise<string | null> {
    const response = await askChat(node(name).gateway, key)
    return response.status === 200 ? response.headers.get('x-sp-request-id') : null
  }

  const sent = new Set<string>()
  const nodes = ['gw-a', 'gw-b']

  /** Requests to all of these, at once; a node that is killed meanwhile answers some of them. */
  async function askOften(names: readonly string[], times: number): Promise<void> {
    const asked = names.flatMap((name) => Array.from({ length: times }, () => ask(name).catch(() => null)))
    for (const id of await Promise.all(asked)) if (id !== null) sent.add(id)
  }

  const query = (text: string) => cluster.postgres.query(text).trim()

  /** All that was answered is there, by the node that answered it; and the sums are those of the records. */
  async function expectAll(): Promise<void> {
    const missing = () => {
      const there = new Set(query("select id from spgw.records where state = 'settled'").split('\n'))
      return [...sent].filter((id) => !there.has(id))
    }
    await expect.poll(missing).toEqual([])
    const figures = 'count(*), sum(input), sum(output), round(sum(usd * 1e9))'
    const sums = 'sum(requests), sum(input), sum(output), sum(usd_nano)'
    const records = query(`select node, ${figures} from spgw.records group by 1 order by 1`)
    for (const span of ['hour', 'day'])
      expect(query(`select node, ${sums} from spgw.record_sums where span = '${span}' group by 1 order by 1`)).toBe(
        records,
      )
  }

  it('brings the records of every node to PostgreSQL, with their sums', async () => {
    await expect.poll(() => ask('gw-b')).not.toBeNull()
    await askOften(nodes, 20)
    await expectAll()
    expect(query('select distinct node from spgw.records order by 1').split('\n')).toEqual(nodes)
    const status = await node('gw-a').gateway.admin.cluster.status({})
    await expect.poll(async () => (await node('gw-a').gateway.admin.status({})).cluster?.outbox?.records).toBe(0)
    expect(status).toMatchObject({ records: 'shared', outbox: { trouble: null } })
  })

  it('reads the records of all nodes through any', async () => {
    const id = await ask('gw-a')
    sent.add(id ?? '')
    const { admin, spgw } = node('gw-b').gateway
    const [mine] = await node('gw-a').gateway.admin.requests.list({ limit: 1 })
    expect(mine).toMatchObject({ id, node: 'gw-a' })
    expect(await admin.requests.list({ limit: 1 })).toEqual([mine])
    expect(await admin.requests.show({ id: id ?? '', bodies: false })).toEqual(mine)
    expect((await admin.requests.search({ node: 'gw-b', limit: 1 })).requests).toMatchObject([{ node: 'gw-b' }])
    const [settled, input] = query('select count(*), sum(input) from spgw.records').split('|').map(Number)
    for (const by of ['total', 'model', 'tag', 'day,status'])
      expect((await admin.requests.stats({ by }))[0]).toMatchObject({ requests: settled, input })
    const filtered = await admin.requests.stats({ by: 'total', route: 'gpt-4o-mini', slowerThan: '0s', status: '2xx' })
    expect(filtered).toEqual(await admin.requests.stats({ by: 'total', status: '2xx' }))
    expect(await admin.requests.stats({ by: 'total', tags: ['none'] })).toEqual([])
    expect(await admin.requests.stats({ by: 'total', failedAt: 'up' })).toEqual([])
    const counts = query('select node, count(*) from spgw.records group by 1 order by 1').split('\n')
    const byNode = await admin.requests.stats({ by: 'node' })
    expect(byNode.map(({ group, requests }) => `${group}|${requests}`).toSorted()).toEqual(counts)
    // From the records themselves, and together with something else.
    const slow = await admin.requests.stats({ by: 'node,model', slowerThan: '0s' })
    expect(slow.reduce((sum, { requests }) => sum + requests, 0)).toBe(settled)
    expect(new Set(slow.map(({ groups: [first] }) => first))).toEqual(new Set(nodes))
    const { groups: lines } = await admin.requests.series({ since: '1h', by: 'node' })
    expect(lines.map(({ group }) => group).toSorted()).toEqual(nodes)
    const { groups } = await admin.requests.series({ since: '1h', by: 'provider' })
    expect(groups[0]?.points.reduce((sum, { requests }) => sum + requests, 0)).toBe(settled)
    const { stdout } = await spgw(['requests', 'list', '--node', 'gw-a', '--limit', '1000', '--json'])
    expect(JSON.parse(stdout)).toHaveLength(Number(query("select count(*) from spgw.records where node = 'gw-a'")))
  })

  it('computes the cost of the records of all nodes again, through any, also where one dies or is away', async () => {
    const { admin } = node('gw-a').gateway
    const recompute = async (price: number) => {
      await admin.prices.set({ model: 'gpt-4o-mini', input: price, output: price })
      let last: unknown
      for await (const each of await admin.cost.recompute({ since: '1d' })) last = each
      return last
    }
    const least = () =>
      query('select node, round(min(usd) * 1000) from spgw.records where input > 0 group by 1 order by 1')
    const [checked, used] = query('select count(*), count(*) filter (where input > 0) from spgw.records')
      .split('|')
      .map(Number)
    const everything = { done: true, checked, changed: used, elsewhere: [] }
    expect(await recompute(1000)).toMatchObject({ ...everything, missing: [] })
    const each = Number(least().split('\n')[0]?.split('|')[1])
    expect(each).toBeGreaterThan(0)
    expect(least()).toBe(`gw-a|${each}\ngw-b|${each}`)
    await expectAll()
    // Whoever is killed when its own database has it does it once more, and whoever is away when it is back.
    await node('gw-b').gateway.stop()
    if (hasFaultPoints) {
      await node('gw-b').restart('reprice.stored')
      expect(await recompute(2000)).toMatchObject({ ...everything, missing: ['gw-b'] })
      expect(await node('gw-b').gateway.ended).toBeNull()
    }
    expect(await recompute(3000)).toMatchObject({ ...everything, missing: ['gw-b'] })
    expect(least()).toBe(`gw-a|${each * 3}\ngw-b|${each * 3}`)
    await expectAll()
    await node('gw-b').restart()
    await expect.poll(() => query('select count(*) from spgw.reprices')).toBe('0')
    const own = (name: string) => {
      const sqlite = new Sqlite(join(node(name).dataDirectory, 'spgw.db'), { readonly: true })
      const records = sqlite.prepare<[], [string, number]>('select id, usd from records where input > 0 order by id')
      const rows = records.raw().all()
      sqlite.close()
      return rows.map((row) => row.join('|')).join('\n')
    }
    const shared = (name: string) =>
      query(`select id, usd from spgw.records where input > 0 and node = '${name}' order by id`)
    // What the killed one had done already is shipped first.
    await expect.poll(least).toBe(`gw-a|${each * 3}\ngw-b|${each * 3}`)
    for (const name of nodes) expect(own(name)).toBe(shared(name))
    await expectAll()
    await node('gw-a').gateway.admin.prices.remove({ model: 'gpt-4o-mini' })
    await cluster.converge()
    // Nothing is computed of one node's records as if they were those of all.
    for (const { proxy } of cluster.nodes) proxy.become('cut')
    const { code, stderr } = await node('gw-a').gateway.spgw(['cost', 'recompute', '--since', '1d'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('PostgreSQL')])
    for (const { proxy } of cluster.nodes) proxy.become('pass')
    await cluster.converge()
  })

  it('shows requests as they end on all nodes, each once, whichever node is asked', async () => {
    const { admin } = node('gw-b').gateway
    const stop = new AbortController()
    const follow = async (seen: string[], filter: object) => {
      const rows = await admin.requests.tail({ allStates: false, ...filter }, { signal: stop.signal })
      for await (const record of rows) seen.push(`${record.node} ${record.id}`)
    }
    const [all, one]: string[][] = [[], []]
    if (all === undefined || one === undefined) throw new Error('two lists')
    const following = [follow(all, {}), follow(one, { node: 'gw-a' })]
    const askOne = async (name: string) => {
      const id = await ask(name)
      sent.add(id ?? '')
      return `${name} ${id}`
    }
    // It takes a moment until the other node knows that somebody follows.
    const askUntilSeen = async () => {
      await askOne('gw-a')
      return one.length
    }
    await expect.poll(askUntilSeen, { timeout: 20_000 }).toBeGreaterThan(0)
    const asked = await Promise.all([...nodes, ...nodes, ...nodes].map(askOne))
    const missing = () => asked.filter((each) => !all.includes(each))
    await expect.poll(missing, { timeout: 20_000 }).toEqual([])
    expect(new Set(all).size).toBe(all.length)
    expect(asked.filter((each) => one.includes(each))).toEqual(asked.filter((each) => each.startsWith('gw-a')))
    expect(one.every((each) => each.startsWith('gw-a'))).toBe(true)
    stop.abort()
    await Promise.allSettled(following)
  })

  /** Each makes a response at its provider; the key is told its id. */
  async function call(name: string, method: string, path: string) {
    const response = await fetch(`${node(name).gateway.baseUrl}/v1/responses${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(method === 'POST' ? { body: JSON.stringify({ model: 'gpt-kept', input: 'hello' }) } : {}),
    })
    const { id, error } = (await response.json()) as { id?: string; error?: { code: string } }
    return { status: response.status, id: id ?? '', code: error?.code }
  }

  /** As an SDK: again where a busy machine was too slow to look it up. Nothing that is there is ever called unknown. */
  async function find(name: string, id: string) {
    for (let times = 0; ; times++) {
      const found = await call(name, 'GET', `/${id}`)
      if (found.code !== 'object_index_unavailable' || times === 5) return found
    }
  }

  it('knows on every node at once what was made on any, and what was deleted', async () => {
    const { admin, spgw } = node('gw-b').gateway
    for (let times = 0; times < 25; times++) {
      const made = await call('gw-a', 'POST', '')
      expect(await find('gw-b', made.id)).toEqual({ status: 200, id: made.id, code: undefined })
    }
    expect(await call('gw-b', 'GET', '/resp_of_nobody')).toMatchObject({ status: 404 })
    const made = await call('gw-a', 'POST', '')
    expect(await admin.objects.show({ name: made.id })).toMatchObject({ type: 'response', provider: 'kept' })
    expect((await call('gw-b', 'DELETE', `/${made.id}`)).status).toBe(200)
    // The node that made it forgets it within a moment.
    await expect.poll(async () => (await call('gw-a', 'GET', `/${made.id}`)).status).toBe(404)
    // Also what was made by a node whose clock is ahead.
    const early = await call('gw-a', 'POST', '')
    expect((await call('gw-b', 'GET', `/${early.id}`)).status).toBe(200)
    const ahead = `update objects set created_at = '${new Date(Date.now() + 3_600_000).toISOString()}' where id = '${early.id}'`
    query(ahead.replace('objects', 'spgw.objects'))
    const sqlite = new Sqlite(join(node('gw-a').dataDirectory, 'spgw.db'), { timeout: 5000 })
    expect(sqlite.prepare(ahead).run().changes).toBe(1)
    sqlite.close()
    expect((await call('gw-b', 'DELETE', `/${early.id}`)).status).toBe(200)
    await expect.poll(async () => (await call('gw-a', 'GET', `/${early.id}`)).status).toBe(404)
    expect(query(`select count(*) from spgw.objects where id = '${early.id}'`)).toBe('0')
    const adopt = ['objects', 'adopt', 'resp_adopted', '--type', 'response', '--provider', 'kept']
    await spgw([...adopt, '--project', 'default', '--environment', 'production'])
    expect((await call('gw-a', 'GET', '/resp_adopted')).status).toBe(200)
  })

  it('says on each node how the others are, and of one that is gone that it is not heard of', async () => {
    const { admin, spgw } = node('gw-a').gateway
    const nodesOf = async () => (await admin.status({})).cluster?.nodes
    const present = { state: 'present', in_flight: expect.any(Number), degraded: [] }
    const traffic = { requests_per_second: expect.any(Number) }
    await expect.poll(nodesOf, { timeout: 20_000 }).toMatchObject([
      { name: 'gw-a', ...present, traffic },
      { name: 'gw-b', ...present, traffic },
    ])
    expect((await spgw(['status'])).stdout).toMatch(/nodes +gw-a \(this one\): .* in flight\n +gw-b: .* in flight/)
    node('gw-b').proxy.become('cut')
    await expect.poll(nodesOf, { timeout: 30_000 }).toMatchObject([{ name: 'gw-a' }, { name: 'gw-b', state: 'absent' }])
    node('gw-b').proxy.become('pass')
    await expect.poll(nodesOf, { timeout: 30_000 }).toMatchObject([{ name: 'gw-a' }, { name: 'gw-b', ...present }])
  })

  it('without PostgreSQL knows its own, and calls nothing unknown', async () => {
    const [here, there] = [await call('gw-b', 'POST', ''), await call('gw-a', 'POST', '')]
    for (const name of nodes) node(name).proxy.become('cut')
    expect((await call('gw-b', 'GET', `/${here.id}`)).status).toBe(200)
    expect(await call('gw-b', 'GET', `/${there.id}`)).toMatchObject({ status: 503, code: 'object_index_unavailable' })
    const meanwhile = await call('gw-a', 'POST', '')
    expect((await call('gw-a', 'GET', `/${meanwhile.id}`)).status).toBe(200)
    for (const name of nodes) node(name).proxy.become('pass')
    await expect.poll(async () => (await call('gw-b', 'GET', `/${meanwhile.id}`)).status).toBe(200)
  })

  it('keeps records while PostgreSQL is away, and brings them when it is back', async () => {
    cluster.postgres.stop()
    await askOften(nodes, 10)
    const outbox = async () => (await node('gw-b').gateway.admin.cluster.status({})).outbox
    await expect.poll(outbox).toMatchObject({ trouble: expect.any(String) })
    const { stdout, stderr } = await node('gw-b').gateway.spgw(['requests', 'list', '--json'])
    expect(stderr).toMatch(/Requests of this node only, since \d\d:\d\d UTC: it cannot read PostgreSQL/)
    expect(new Set(JSON.parse(stdout).map((record: { node: string }) => record.node))).toEqual(new Set(['gw-b']))
    const { admin } = node('gw-b').gateway
    const alone = await admin.requests.stats({ by: 'key,node' })
    expect(alone.map(({ groups: [, name] }) => name)).toEqual(['gw-b'])
    expect(alone[0]).toMatchObject({ group: 'everywhere, gw-b', id: expect.stringMatching(/^key_\w+\ngw-b$/) })
    expect((await admin.requests.series({ by: 'node' })).groups.map(({ group }) => group)).toEqual(['gw-b'])
    const others = await node('gw-b').gateway.spgw(['requests', 'list', '--node', 'gw-a'])
    expect(others.stderr).toMatch(/records of gw-a cannot be read/)
    await node('gw-b').gateway.kill('SIGKILL')
    await node('gw-b').restart()
    cluster.postgres.start()
    await expectAll()
    await expect.poll(outbox).toMatchObject({ records: 0, trouble: null })
  })

  it.skipIf(!hasFaultPoints).each(oneOf(2, ['ship.before-commit', 'ship.after-commit']))(
    'brings each once when a node is killed at %s (needs fault points, which released builds lack)',
    async (point) => {
      await node('gw-b').gateway.stop()
      await node('gw-b').restart(point)
      await askOften(nodes, 5)
      expect(await node('gw-b').gateway.ended).toBeNull()
      await node('gw-b').restart()
      await expectAll()
    },
  )

  it('brings again what a standby that took over had not got', async () => {
    const tables = ['records', 'record_sums', 'shipped']
    query(
      `create schema before; ${tables.map((name) => `create table before.${name} as table spgw.${name}`).join(';')}`,
    )
    await askOften(nodes, 20)
    await expectAll()
    for (const name of nodes) node(name).proxy.become('cut')
    const restore = tables.map((name) => `truncate spgw.${name}; insert into spgw.${name} table before.${name}`)
    query(`begin; ${restore.join(';')}; commit`)
    for (const name of nodes) node(name).proxy.become('pass')
    await expectAll()
  })

  it('goes back to one gateway, with the records of all and without a request that fails', async () => {
    const [first, second] = [node('gw-a').gateway, node('gw-b').gateway]
    let [isOver, failed] = [false, 0]
    const client = (async () => {
      while (!isOver) {
        const id = await ask('gw-a')
        if (id === null) failed++
        else sent.add(id)
      }
    })()
    const readiness = async () => (await fetch(`${second.baseUrl}/readyz`)).status
    const isOut = async () => (await first.admin.status({})).cluster?.nodes.find((at) => at.name === 'gw-b')?.draining
    expect(await second.admin.cluster.drain({})).toEqual({ node: 'gw-b', draining: true, running: 0, kept: null })
    expect(await readiness()).toBe(503)
    await expect.poll(isOut).toBe(true)
    // What a load balancer has not noticed yet is served.
    sent.add((await ask('gw-b')) ?? '')
    expect([(await second.admin.cluster.drain({ undo: true })).draining, await readiness()]).toEqual([false, 200])
    await expect.poll(isOut, { timeout: 1500 }).toBe(false)
    await expect(first.admin.cluster.dissolve({})).rejects.toThrow(/other nodes are members \(gw-b\)/i)
    const made = await call('gw-b', 'POST', '')
    await second.admin.cluster.leave({})
    const others = Number(query("select count(*) from spgw.records where node = 'gw-b'"))
    isOver = true
    await client
    await first.stop()
    await node('gw-a').restart('dissolve.page-taken')
    const killed = node('gw-a').gateway
    await expect.poll(async () => (await killed.admin.cluster.status({})).trouble).toBeNull()
    if (hasFaultPoints) {
      await killed.admin.cluster.dissolve({}).catch(() => {})
      expect(await killed.ended).toBeNull()
    } else await killed.kill('SIGKILL')
    await node('gw-a').restart()
    const { admin } = node('gw-a').gateway
    await expect.poll(async () => (await admin.cluster.status({})).trouble).toBeNull()
    const busy = Array.from({ length: 40 }, () => ask('gw-a'))
    // The first page was there already.
    const left = hasFaultPoints ? Math.max(0, others - 500) : others
    expect(await admin.cluster.dissolve({})).toMatchObject({ records: left })
    for (const id of await Promise.all(busy)) {
      if (id === null) failed++
      else sent.add(id)
    }
    expect(failed).toBe(0)
    expect(query("select count(*) from pg_namespace where nspname = 'spgw'")).toBe('0')
    // Whose it is that was made through the other node goes with it.
    expect(await call('gw-a', 'GET', `/${made.id}`)).toMatchObject({ status: 200, id: made.id })
    expect((await call('gw-a', 'GET', '/resp_of_nobody')).status).toBe(404)
    const missing = async () => {
      const there = new Set((await listAllRequests(node('gw-a').gateway)).map(({ id }) => id))
      return [...sent].filter((id) => !there.has(id))
    }
    await expect.poll(missing).toEqual([])
    const listed = await listAllRequests(node('gw-a').gateway)
    expect((await admin.requests.stats({ by: 'total' }))[0]?.requests).toBe(listed.length)
    expect(listed.filter(({ node }) => node === 'gw-b')).toHaveLength(others)
  })
})
