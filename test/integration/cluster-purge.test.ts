import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { lockRecords } from '../../src/cluster/records/purge.ts'
import { shipBatch } from '../../src/cluster/records/ship.ts'
import { removeRecords } from '../../src/cluster/records/write-records.ts'
import { newId } from '../../src/core/ids.ts'
import { TestCluster } from '../support/cluster.ts'
import { askChat } from '../support/gateway.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

const credential = 'sk-of-the-cluster-1234567890'

interface Purged {
  done: boolean
  removed: number
  missing: string[]
}

describe.skipIf(postgresPrograms === null)(`what two nodes have captured, and deleting it (${needsPostgres})`, () => {
  let cluster: TestCluster
  let upstream: MockProvider
  let key: string
  beforeAll(async () => {
    upstream = await startMockProvider('openai', credential)
    cluster = await TestCluster.start(['gw-a', 'gw-b'], { records: 'shared' })
    await cluster.addChat(upstream, credential)
    const { admin, createKey } = node('gw-a').gateway
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
    const response = await askChat(node(name).gateway, key, {}, { 'x-sp-tag': `user=${user}` })
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
    const byTag = async () =>
      (await node('gw-b').gateway.spgw(['requests', 'stats', '--by', 'tag', '--json'])).stdout.match(/user=\w+/g)
    expect(new Set(await byTag())).toEqual(new Set(['user=ann', 'user=bob']))
    expect(await purge('gw-a', { until: '0s', user: 'ann' })).toMatchObject({ done: true, removed: 2, missing: [] })
    for (const name of ['gw-a', 'gw-b']) expect(await users(name)).toEqual(['gw-a bob', 'gw-b bob'])
    expectSums()
    expect(new Set(await byTag())).toEqual(new Set(['user=bob']))
    expect(query('select tag, sum(requests) from spgw.tag_sums group by 1 order by 1')).toBe('|2\nuser=bob|2')
    // Without PostgreSQL each node reads its own: nothing was left there.
    for (const { proxy } of cluster.nodes) proxy.become('cut')
    for (const name of ['gw-a', 'gw-b']) expect(await users(name)).toEqual([`${name} bob`])
    const { code, stderr } = await node('gw-a').gateway.spgw(['requests', 'purge', '--until', '0s', '--yes'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('PostgreSQL')])
    for (const { proxy } of cluster.nodes) proxy.become('pass')
    await cluster.converge()
  })

  const captured = () => query('select node, count(*) from spgw.bodies group by 1 order by 1').split('\n')
  const show = async (name: string, id: string) =>
    await node(name)
      .gateway.admin.requests.show({ id, bodies: true })
      .catch(() => null)

  it('shows on any node what another has captured, with a line in the audit log, and sends it again', async () => {
    const id = await ask('gw-a', 'eve')
    const mine = await show('gw-a', id)
    expect(mine?.bodies).toMatchObject({ request: { content: expect.stringContaining('hello') } })
    await expect.poll(() => show('gw-b', id)).toEqual(mine)
    const { admin, spgw } = node('gw-b').gateway
    const [line] = await admin.audit.list({ operation: 'requests.show', limit: 1 })
    expect(line).toMatchObject({ resource: { id }, after: { bodies: 'full' } })
    const { stdout } = await spgw(['requests', 'show', id, '--bodies'])
    expect(stdout).toContain('hello')
    const events: unknown[] = []
    for await (const event of await admin.requests.replay({ id })) events.push(event)
    expect(events.at(-1)).toMatchObject({ kind: 'compared', before: { request_id: id }, after: { status: 200 } })
  })

  it('says why there are none, where there may be some', async () => {
    const id = await ask('gw-a', 'fay')
    await expect.poll(async () => (await show('gw-b', id))?.bodies).toBeTruthy()
    const said = async () => (await node('gw-b').gateway.spgw(['requests', 'show', id, '--bodies'])).stdout
    // Its node keeps them no longer than that, whatever PostgreSQL has.
    query("update spgw.shipped set keep_bodies_ms = 0 where node = 'gw-a'")
    expect(await said()).toContain('have been deleted')
    query("update spgw.shipped set keep_bodies_ms = 604800000 where node = 'gw-a'")
    query(`delete from spgw.bodies where id = '${id}'`)
    expect(await said()).toContain('have been deleted')
    expect(await show('gw-a', id)).toMatchObject({ bodies: { capture: 'full' } })
    // As of a version that ships none.
    query("update spgw.shipped set bodies_from = null where node = 'gw-a'")
    expect(await show('gw-b', id)).toMatchObject({ bodies: null, bodies_missing: 'unshipped' })
    expect(await said()).toContain('Only node gw-a, which answered the request, may have them')
    const replay = await node('gw-b').gateway.spgw(['requests', 'replay', id])
    expect([replay.code, replay.stderr]).toEqual([5, expect.stringContaining('Only node gw-a')])
    query("update spgw.shipped set bodies_from = '' where node = 'gw-a'")
    // A record that the node still has, and no body.
    const own = await ask('gw-b', 'gus')
    await purge('gw-b', { until: '0s', user: 'gus', bodies: true })
    node('gw-b').proxy.become('cut')
    expect(await show('gw-b', own)).toMatchObject({ bodies: null, bodies_missing: 'unreachable' })
    expect((await node('gw-b').gateway.spgw(['requests', 'show', own, '--bodies'])).stdout).toContain(
      'and PostgreSQL cannot be reached',
    )
    node('gw-b').proxy.become('pass')
    await cluster.converge()
  })

  it('brings each once, whatever is killed, and on a member of an earlier version those from before', async () => {
    const { gateway, restart, dataDirectory } = node('gw-b')
    await gateway.kill('SIGTERM')
    await restart('ship.before-commit:3')
    let dead = false
    void node('gw-b').gateway.ended.then(() => {
      dead = true
    })
    // What is released has no fault points.
    for (let tries = 0; !dead && tries < 100; tries++) await ask('gw-b', 'hal').catch(() => null)
    await node('gw-b').gateway.kill('SIGKILL')
    const sqlite = new Sqlite(join(dataDirectory, 'spgw.db'))
    sqlite.exec("update outbox_state set body_history = '~'")
    sqlite.close()
    query("delete from spgw.bodies where node = 'gw-b'")
    query("update spgw.shipped set bodies_from = null where node = 'gw-b'")
    await restart()
    const each = `select count(*), count(distinct b.id) * 2 = count(*) from spgw.records r join spgw.bodies b using (id, node)
      where r.node = 'gw-b'`
    const here = () => {
      const own = new Sqlite(join(dataDirectory, 'spgw.db'), { readonly: true })
      const count = own.prepare('select count(*) from bodies').pluck().get()
      own.close()
      return `${count}|t`
    }
    await expect.poll(() => query("select bodies_from = '' from spgw.shipped where node = 'gw-b'")).toBe('t')
    await expect.poll(() => query(each) === here()).toBe(true)
  })

  it('sets aside what PostgreSQL refuses of a batch, and ships the rest', async () => {
    const client = new pg.Client({ host: '127.0.0.1', port: cluster.postgres.port, user: 'spgw', database: 'postgres' })
    await client.connect()
    onTestFinished(() => client.end())
    query("insert into spgw.members (id, name, incarnation) values ('nod_x', 'gw-x', 'one')")
    query("insert into spgw.shipped (member, node) values ('nod_x', 'gw-x')")
    const body = (type: string) => ({
      ...{ id: newId('req'), part: 'request', mode: 'full', type, bytes: 3, truncated: 0, masked: 0, key_id: 'k' },
      sealed: new Uint8Array([1, 2, 3]),
      until: null,
    })
    const [good, bad] = [body('text/plain'), body('a\0b')]
    const self = { cluster: 'c', member: 'nod_x', incarnation: 'one' }
    const shipping = { self, name: 'gw-x', keeps: { keepMs: 1, keepBodiesMs: 1 }, isFollowed: false }
    const records = { ids: [], copied: new Uint8Array(), sums: [], tags: [] }
    const batch = { after: 0, sequence: 1, mark: 'm', records, changes: [], bodies: [good, bad], isHistory: false }
    expect(await shipBatch(client, shipping, batch)).toEqual({ kind: 'shipped', refused: [bad] })
    expect(query("select id, encode(sealed, 'hex') from spgw.bodies where node = 'gw-x'")).toBe(`${good.id}|010203`)
    query("delete from spgw.bodies where node = 'gw-x'; delete from spgw.members where id = 'nod_x'")
  })

  it('deletes captured bodies wherever they are, and counts each once', async () => {
    const id = await ask('gw-b', 'carl')
    await expect.poll(async () => JSON.parse(await known('gw-a', id)).bodies).not.toBeNull()
    await expect.poll(() => query(`select count(*) from spgw.bodies where id = '${id}'`)).toBe('2')
    expect(await purge('gw-a', { until: '0s', user: 'carl', bodies: true })).toMatchObject({ done: true, removed: 2 })
    for (const name of ['gw-a', 'gw-b']) expect(JSON.parse(await known(name, id)).bodies).toBeNull()
    const other = await ask('gw-a', 'ida')
    await expect.poll(() => query(`select count(*) from spgw.bodies where id = '${other}'`)).toBe('2')
    expect(await purge('gw-b', { until: '0s', user: 'ida' })).toMatchObject({ done: true, removed: 1, missing: [] })
    expect(query(`select count(*) from spgw.bodies where id = '${other}'`)).toBe('0')
    expect(await purge('gw-b', { until: '0s', bodies: true })).toMatchObject({ done: true, missing: [] })
    expect(captured()).toEqual([''])
  })

  it('deletes bodies that a node of an earlier version left in PostgreSQL', async () => {
    const [own, other, kept] = [await ask('gw-a', 'kim'), await ask('gw-b', 'kim'), await ask('gw-b', 'leo')]
    const bodies = () => query('select distinct id from spgw.bodies order by 1').split('\n')
    await expect.poll(bodies).toEqual([own, other, kept].sort())
    // Of a node that was removed: nobody else brings what is missing there.
    query(`update spgw.bodies set node = 'gw-old' where id = '${other}'`)
    const client = new pg.Client({ host: '127.0.0.1', port: cluster.postgres.port, user: 'spgw', database: 'postgres' })
    await client.connect()
    onTestFinished(() => client.end())
    // As it does: its question says nothing of bodies, and records go without them.
    const question = JSON.stringify({
      bodies: false,
      filter: { until: new Date().toISOString(), tags: { user: 'kim' } },
    })
    await client.query(`begin; ${lockRecords}`)
    await removeRecords(client, [own, other])
    await client.query('insert into spgw.purges (question) values ($1)', [question])
    await client.query("commit; select pg_notify('spgw', 'purge')")
    await expect.poll(bodies).toEqual([kept])
    expect(await users('gw-a')).toEqual(await users('gw-b'))
    expect((await users('gw-b')).filter((each) => each.includes('kim'))).toEqual([])
    expectSums()
  })

  it('names a node that is away, which deletes its own when it is back', async () => {
    const before = Number(query('select count(*) from spgw.records'))
    await ask('gw-b', 'dora')
    await shipped().toBe(before + 1)
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
  it('reads and keeps bodies nowhere for longer than the strictest policy says, and keeps the record', async () => {
    const { admin } = node('gw-a').gateway
    await admin.policies.add({ name: 'short', bodiesRetention: '6s', attach: ['project:default'] })
    await cluster.converge()
    const [id, before] = [await ask('gw-a', 'ida'), Date.now()]
    await expect.poll(async () => (await show('gw-b', id))?.bodies).toBeTruthy()
    const shown = await show('gw-b', id)
    expect(Math.abs(Date.parse(shown?.bodies_until ?? '') - before - 6000)).toBeLessThan(3000)
    await expect.poll(async () => (await show('gw-b', id))?.bodies, { timeout: 20_000 }).toBeNull()
    expect((await show('gw-a', id))?.bodies).toBeNull()
    // In PostgreSQL somewhat later: each node looks when it starts.
    await node('gw-b').gateway.kill('SIGKILL')
    await node('gw-b').restart()
    await expect.poll(() => query(`select count(*) from spgw.bodies where id = '${id}'`), { timeout: 30_000 }).toBe('0')
    expect(query(`select count(*) from spgw.records where id = '${id}'`)).toBe('1')
    await admin.policies.remove({ name: 'short' })
    await cluster.converge()
  })

  it('keeps bodies for as long as settings say that were read again', async () => {
    appendFileSync(join(node('gw-a').dataDirectory, 'config.yaml'), 'records:\n  bodies_retention: 1h\n')
    const kept = () => query("select keep_ms, keep_bodies_ms from spgw.shipped where node = 'gw-a'")
    expect(kept()).toBe(`${90 * 86_400_000}|${7 * 86_400_000}`)
    node('gw-a').gateway.signal('SIGHUP')
    await expect.poll(kept).toBe(`${90 * 86_400_000}|3600000`)
  })

  it('leaves the last node what the others have captured', async () => {
    const id = await ask('gw-b', 'jan')
    await expect.poll(async () => (await show('gw-a', id))?.bodies).toBeTruthy()
    await node('gw-b').gateway.admin.cluster.leave({})
    await node('gw-a').gateway.admin.cluster.dissolve({})
    expect(await show('gw-a', id)).toMatchObject({ bodies: { request: { content: expect.stringContaining('hello') } } })
  })
})
