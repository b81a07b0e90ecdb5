import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { answerers } from '../../src/cluster/questions.ts'
import { keepDays } from '../../src/cluster/records/days.ts'
import { recordsPart } from '../../src/cluster/schema/records.ts'
import { TestCluster } from '../support/cluster.ts'
import { askChat } from '../support/gateway.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

const credential = 'sk-of-the-cluster-1234567890'

/** The statements of the page, with passwords that are only its own. */
function documentedSql(): string {
  const page = readFileSync(join(import.meta.dirname, '../../docs/cluster.md'), 'utf8')
  const [, text = ''] = /## Users of PostgreSQL\n[\s\S]*?```sql\n([\s\S]*?)```/.exec(page) ?? []
  return text
}

function documentedGrants(): string[] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/cluster.md'), 'utf8')
  return page.match(/^grant .* in schema spgw to spgw_node;$|^grant usage on schema spgw to spgw_node;$/gm) ?? []
}

describe.skipIf(postgresPrograms === null)(`nodes that may only read and write rows (${needsPostgres})`, () => {
  let cluster: TestCluster
  let upstream: MockProvider
  beforeAll(async () => {
    upstream = await startMockProvider('openai', credential)
    cluster = await TestCluster.start([], { records: 'shared' })
    // What a database is called there, which nobody can make within a transaction.
    const sql = documentedSql()
    expect(sql).toContain('create database spgw owner spgw_owner')
    // Rights by default are of one database.
    expect(sql.indexOf('\\connect spgw\n')).toBeLessThan(sql.indexOf('alter default'))
    const own = sql
      .replace('create database spgw owner spgw_owner;', 'grant create on database postgres to spgw_owner;')
      .replace('\\connect spgw\n', '')
    cluster.postgres.query(own)
    cluster.user = 'spgw_owner'
    await cluster.add('gw-a')
    cluster.user = 'spgw_node'
    for (const { gateway, restart } of cluster.nodes) {
      await gateway.kill('SIGTERM')
      await restart()
    }
    await cluster.add('gw-b')
  })
  afterAll(async () => {
    await cluster?.stop()
    await upstream?.close()
  })

  const query = (text: string) => cluster.postgres.query(text).trim()

  async function connect(user: string): Promise<pg.Client> {
    const client = new pg.Client({ host: '127.0.0.1', port: cluster.postgres.port, user, database: 'postgres' })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }

  it('share configuration, budgets and records, also of a day that nobody has made yet', async () => {
    const [first, second] = cluster.nodes
    if (first === undefined || second === undefined) throw new Error('two nodes')
    await cluster.addChat(upstream, credential)
    await first.gateway.admin.policies.add({ name: 'day', budgetUsdDay: 1, capture: 'full' })
    const { key, id } = await first.gateway.createKey('shared', { policy: 'day' })
    await cluster.converge()
    const tables = "select relname from pg_class where relname ~ '^(records|bodies)_2' and relkind = 'r'"
    for (const table of query(tables).split('\n')) query(`drop table spgw.${table}`)
    // Of a budget that was made just now a node may not have been given anything yet.
    for (const { gateway } of [first, second])
      await expect.poll(async () => (await askChat(gateway, key)).status).toBe(200)
    await expect
      .poll(() => query('select distinct node from spgw.bodies order by 1').split('\n'))
      .toEqual(['gw-a', 'gw-b'])
    expect((await second.gateway.admin.keys.revoke({ key: id })).nodes?.missing).toEqual([])
    for (const { gateway } of [first, second])
      expect((await gateway.admin.cluster.status({})).outbox?.trouble).toBeNull()
  })

  it('drop days that are over, and none that a node still keeps', async () => {
    const client = await connect('spgw_node')
    query("select spgw.make_day('2026-01-05', 'a', 'b')")
    query("select spgw.make_day(current_date - 1, 'b', 'c')")
    // Records are kept for 90 days, bodies for 7.
    query("select spgw.make_day(current_date - 10, 'c', 'd')")
    await client.query('select spgw.drop_day(current_date - 1), spgw.drop_bodies(current_date - 1)')
    query(`insert into spgw.objects (type, id, provider_id, credential_id, project_id, environment_id, created_at)
      values ('response', 'resp_1', 'prv_1', '', 'prj_1', 'env_1', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MSZ'))`)
    const kept = () =>
      query("select (select count(*) from spgw.record_sums) || ' ' || (select count(*) from spgw.objects)")
    const before = kept()
    // Also by a node whose clock is years ahead, and nothing by one that disagrees with a PostgreSQL whose clock is.
    for (const years of [-3, 3]) {
      const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + years * 365 * 86_400_000)
      await keepDays(client)
      clock.mockRestore()
      expect(kept()).toBe(before)
      const old = query("select count(*) from pg_class where relname = 'records_20260105'")
      expect(old).toBe(years < 0 ? '1' : '0')
    }
    expect(before).toMatch(/^[1-9]\d* 1$/)
    const days = query("select relname from pg_class where relname ~ '^(records|bodies)_2' and relkind = 'r'").split(
      '\n',
    )
    const ago = (count: number) =>
      new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')
    for (const kind of ['records', 'bodies']) {
      expect(days).not.toContain(`${kind}_20260105`)
      expect(days).toContain(`${kind}_${ago(1)}`)
    }
    expect(days.filter((day) => day.endsWith(ago(10)))).toEqual([`records_${ago(10)}`])
  })

  it.each([
    'create table spgw.mine (id int)',
    'drop table spgw.rows',
    'alter table spgw.records add mine int',
    'drop schema spgw cascade',
    'create role other',
  ])('may not: %s', async (text) => {
    const client = await connect('spgw_node')
    await expect(client.query(text)).rejects.toThrow(/permission denied|must be owner|must be member/)
  })

  it('have no more rights than they need, and the owner has', async () => {
    const node = await answerers.server(await connect('spgw_node'), null)
    expect(node).toMatchObject({ user: 'spgw_node', rights: [], missing: [] })
    const owner = await answerers.server(await connect('spgw_owner'), null)
    expect(owner.rights).toEqual(['may change the schema spgw'])
    expect((await answerers.server(await connect('spgw'), null)).rights).toContain('is a superuser')
  })

  it('say which rights they lack, read their own records meanwhile, and go on when they are given', async () => {
    const [, second] = cluster.nodes
    if (second === undefined) throw new Error('two nodes')
    query('revoke usage on schema spgw from spgw_node; revoke insert on spgw.rows, spgw.records from spgw_node')
    const { missing } = await answerers.server(await connect('spgw_node'), null)
    expect(missing).toEqual(['may not use the schema spgw', 'may not read and write spgw.records, spgw.rows'])
    await second.gateway.kill('SIGTERM')
    await second.restart()
    const trouble = async () => (await second.gateway.admin.cluster.status({})).trouble
    await expect.poll(trouble).toMatch(/refused it: permission denied/)
    const records = await second.gateway.admin.requests.list({})
    expect(records.length).toBeGreaterThan(0)
    expect(new Set(records.map(({ node }) => node))).toEqual(new Set(['gw-b']))
    // What is there already gets its rights by the page, not by what holds for what is to come.
    for (const text of documentedGrants()) query(text)
    await expect.poll(trouble, { timeout: 5000 }).toBeNull()
    expect((await answerers.server(await connect('spgw_node'), null)).missing).toEqual([])
  })

  it.each([
    ['insert', 'spgw.rows', 'postgres'],
    ['update', 'spgw.head', 'postgres'],
    ['insert', 'spgw.allowances', 'postgres'],
    ['insert', 'spgw.shipped, spgw.records', 'outbox'],
    ['select', 'spgw.record_sums, spgw.records', 'records'],
  ])('say within seconds that they may not %s where they run: %s', async (right, tables, part) => {
    const [, second] = cluster.nodes
    if (second === undefined) throw new Error('two nodes')
    const { admin, baseUrl } = second.gateway
    const reason = async () => (await admin.status({})).degraded.find((each) => each.part === part)?.reason
    expect(await reason()).toBeUndefined()
    const { key } = await second.gateway.createKey(`no-${right}-${tables.replaceAll(/[^a-z]+/g, '-')}`)
    query(`revoke ${right} on ${tables} from spgw_node`)
    // Something that is to be shipped, and somebody who reads.
    await fetch(`${baseUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    const read = async () => {
      await admin.requests.stats({})
      return await reason()
    }
    await expect
      .poll(read, { timeout: 8000 })
      .toMatch(/permission denied for table \w+: let the user in cluster\.postgres read and write there/)
    for (const text of documentedGrants()) query(text)
    await expect.poll(read, { timeout: 8000 }).toBeUndefined()
  })

  it('follow what others change while they may change nothing', async () => {
    const [first, second] = cluster.nodes
    if (first === undefined || second === undefined) throw new Error('two nodes')
    const restartAs = async (user: string) => {
      await first.gateway.kill('SIGTERM')
      cluster.user = user
      await first.restart()
      cluster.user = 'spgw_node'
    }
    const { key, id } = await first.gateway.createKey('followed')
    await restartAs('spgw_owner')
    const admits = async () => {
      const headers = { authorization: `Bearer ${key}` }
      return (await fetch(`${second.gateway.baseUrl}/v1/models`, { headers })).status
    }
    await expect.poll(admits).toBe(200)
    query('revoke insert on spgw.rows from spgw_node')
    const trouble = async () => (await second.gateway.admin.cluster.status({})).trouble
    await expect.poll(trouble, { timeout: 8000 }).toContain('permission denied')
    await first.gateway.admin.keys.revoke({ key: id })
    await expect.poll(admits, { timeout: 5000 }).toBe(401)
    for (const text of documentedGrants()) query(text)
    await expect.poll(trouble, { timeout: 8000 }).toBeNull()
    await restartAs('spgw_node')
  })

  it('say what to do where the tables are older than they are', async () => {
    query(`update spgw.parts set level = ${recordsPart.steps.length - 1} where name = 'records'`)
    const [, second] = cluster.nodes
    await second?.gateway.kill('SIGTERM')
    await second?.restart()
    const trouble = async () => (await second?.gateway.admin.cluster.status({}))?.outbox?.trouble
    await expect.poll(trouble).toMatch(/start one node once as their owner/)
    query(`update spgw.parts set level = ${recordsPart.steps.length} where name = 'records'`)
    await expect.poll(trouble).toBeNull()
  })
})
