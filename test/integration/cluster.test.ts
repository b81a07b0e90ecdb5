import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClusterNode, TestCluster } from '../support/cluster.ts'
import { askChat } from '../support/gateway.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'
import { oneOf } from '../support/shows/is-whole.ts'

const credential = 'sk-of-the-cluster-1234567890'

describe.skipIf(postgresPrograms === null)(`a cluster of three nodes (${needsPostgres})`, () => {
  let cluster: TestCluster
  let upstream: MockProvider
  beforeAll(async () => {
    upstream = await startMockProvider('openai', credential)
    cluster = await TestCluster.start(['gw-a', 'gw-b', 'gw-c'])
    await cluster.addChat(upstream, credential)
  })
  afterAll(async () => {
    await cluster?.stop()
    await upstream?.close()
  })

  const node = (name: string) => cluster.node(name)

  const ask = async (name: string, key: string) => (await askChat(node(name).gateway, key)).status

  const names = ['gw-a', 'gw-b', 'gw-c']
  const askAll = (key: string) => Promise.all(names.map((name) => ask(name, key)))

  it('serves on every node with what was configured on any, under one machine key', async () => {
    const { key } = await node('gw-b').gateway.createKey('everywhere')
    await cluster.converge()
    await expect.poll(() => askAll(key)).toEqual([200, 200, 200])
    const keys = cluster.nodes.map(({ dataDirectory }) => readFileSync(join(dataDirectory, 'machine.key'), 'utf8'))
    expect(new Set(keys).size).toBe(1)
    // PostgreSQL knows neither the key nor what is sealed under it.
    const rows = cluster.postgres.query('select row from spgw.rows union all select to_jsonb(i) from spgw.invites i')
    expect(rows).not.toContain(credential)
    expect(rows).not.toContain(/ ([\w-]{43}) /.exec(keys[0] ?? '')?.[1])
    const shown = await node('gw-c').gateway.admin.status({})
    expect(shown.cluster).toMatchObject({ budgets: 'shared', limits: 'local', records: 'local', outbox: null })
  })

  it('rejects a revoked key on every node before the command returns, and says so', async () => {
    const { key, id } = await node('gw-a').gateway.createKey('short-lived')
    await expect.poll(() => askAll(key)).toEqual([200, 200, 200])
    const begun = performance.now()
    const { nodes } = await node('gw-c').gateway.admin.keys.revoke({ key: id })
    expect(nodes).toEqual({ reached: names, missing: [] })
    expect(await askAll(key)).toEqual([401, 401, 401])
    // On an idle machine some 20 ms; this one may do other things as well, and each node answered a request besides.
    expect(performance.now() - begun).toBeLessThan(5000)
  })

  it('takes changes from three nodes at once, each once, and comes out equal', async () => {
    const add = ({ gateway, name }: ClusterNode) =>
      Array.from({ length: 8 }, (_, number) =>
        Promise.allSettled([
          gateway.admin.projects.add({ name: `${name}-${number}` }),
          gateway.admin.projects.add({ name: `wanted-${number}` }),
        ]),
      )
    const results = await Promise.all(cluster.nodes.flatMap(add))
    const [own, wanted] = [0, 1].map((place) => results.filter((pair) => pair[place]?.status === 'fulfilled').length)
    expect([own, wanted]).toEqual([24, 8])
    const [first, second] = cluster.nodes
    const rename = async ({ gateway }: ClusterNode, project: string, name: string) =>
      await gateway.admin.projects.edit({ name: project, rename: name })
    if (first === undefined || second === undefined) throw new Error('three nodes')
    await rename(first, 'wanted-0', 'aside')
    await rename(second, 'wanted-1', 'wanted-0')
    await rename(first, 'aside', 'wanted-1')
    await cluster.converge()
  })

  it('goes on without PostgreSQL: serves, starts, revokes, and refuses other changes in words', async () => {
    const { key: kept } = await node('gw-a').gateway.createKey('kept')
    const { key, id } = await node('gw-a').gateway.createKey('outage')
    // Whoever has the second has the first.
    await expect.poll(() => askAll(key)).toEqual([200, 200, 200])
    cluster.postgres.stop()
    const { gateway } = node('gw-b')
    await expect.poll(async () => (await gateway.admin.status({})).degraded).toMatchObject([{ part: 'postgres' }])
    const refused = await gateway.spgw(['keys', 'create', '--name', 'late'])
    expect(refused).toMatchObject({ code: expect.any(Number), stdout: '' })
    expect(refused.stderr).toMatch(
      /The configuration is read-only: PostgreSQL cannot be reached.*\n.*continue as before, and keys can be revoked/,
    )
    expect((await fetch(`${gateway.baseUrl}/readyz`)).status).toBe(200)
    const { nodes } = await gateway.admin.keys.revoke({ key: id })
    expect(nodes?.reached).toEqual(['gw-b'])
    expect(nodes?.missing.map(({ name }) => name)).toEqual(['gw-a', 'gw-c'])
    expect(await askAll(key)).toEqual([200, 401, 200])
    expect((await gateway.admin.cluster.status({})).pending).toBe(1)
    // What it decided outlives it, and it starts from its replica.
    await gateway.kill('SIGKILL')
    await node('gw-b').restart()
    expect(await askAll(kept)).toEqual([200, 200, 200])
    expect(await ask('gw-b', key)).toBe(401)
    cluster.postgres.start()
    await expect.poll(() => askAll(key)).toEqual([401, 401, 401])
    await cluster.converge()
    const lines = await node('gw-c').gateway.admin.audit.list({ operation: 'keys.revoke', resource: id })
    expect(lines).toHaveLength(1)
    await node('gw-b').gateway.createKey('late')
    await cluster.converge()
  })

  it('names the node that a revocation did not reach, which rejects the key once it is back', async () => {
    const { key, id } = await node('gw-a').gateway.createKey('cut-off')
    await expect.poll(() => askAll(key)).toEqual([200, 200, 200])
    node('gw-c').proxy.become('swallow')
    const { nodes } = await node('gw-a').gateway.admin.keys.revoke({ key: id })
    expect(nodes).toMatchObject({ reached: ['gw-a', 'gw-b'], missing: [{ name: 'gw-c' }] })
    expect((await askAll(key)).slice(0, 2)).toEqual([401, 401])
    // As it is said to a person as well.
    await node('gw-a').gateway.createKey('said')
    const { stdout, stderr } = await node('gw-a').gateway.spgw(['keys', 'revoke', 'said', '--yes'])
    expect(stdout + stderr).toMatch(/Not reached: gw-c \(last heard of 20.*\)\. Each admits the key/)
    node('gw-c').proxy.become('pass')
    await expect.poll(() => ask('gw-c', key)).toBe(401)
    await cluster.converge()
  })

  it.each(oneOf(3, ['append.before', 'append.after', 'apply.before-commit']))(
    'survives a kill at %s, with the change made once or not at all',
    async (point) => {
      const victim = node('gw-b')
      await victim.gateway.stop()
      // What the start itself writes is not what is to be met.
      victim.proxy.become('cut')
      await victim.restart(point)
      victim.proxy.become('pass')
      await expect.poll(async () => (await victim.gateway.admin.cluster.status({})).trouble).toBeNull()
      const name = point.replaceAll('.', '-')
      // The process dies of it, so that nobody answers.
      const asked = victim.gateway.admin.projects.add({ name }).catch(() => null)
      expect(await victim.gateway.ended).toBeNull()
      void asked
      await victim.restart()
      await cluster.converge()
      const projects = await node('gw-a').gateway.admin.projects.list({})
      const made = projects.filter((project) => project.name === name).length
      expect(made).toBe(point === 'append.before' ? 0 : 1)
    },
  )

  it('says that it cannot follow where a row is nonsense, serves on, and follows again when that is put right', async () => {
    const { key } = await node('gw-a').gateway.createKey('nonsense')
    await cluster.converge()
    const change = (text: string) =>
      cluster.postgres.query(
        'begin; update spgw.head set sequence = sequence + 1; ' +
          "insert into spgw.appends (sequence, token, member) select sequence, 'by hand ' || sequence, 'x' from spgw.head; " +
          `${text}; commit`,
      )
    const ofRoutes = "sequence = (select sequence from spgw.head) where name = 'routes'"
    change(`create table kept as select * from spgw.rows; update spgw.rows set row = '{"non": "sense"}', ${ofRoutes}`)
    const { admin } = node('gw-a').gateway
    const trouble = async () => (await admin.cluster.status({})).trouble
    await expect.poll(trouble).toMatch(/^a change of the cluster cannot be applied here: /)
    expect((await admin.status({})).degraded).toMatchObject([{ part: 'postgres', reason: await trouble() }])
    await expect(admin.projects.add({ name: 'meanwhile' })).rejects.toThrow(/read-only: a change of the cluster/)
    expect(await ask('gw-a', key)).toBe(200)
    change(
      `update spgw.rows r set row = (select k.row from kept k where k.name = r.name and k.key = r.key), ${ofRoutes}`,
    )
    await expect.poll(trouble).toBeNull()
    expect((await admin.status({})).degraded).toEqual([])
    await admin.projects.add({ name: 'afterwards' })
    await cluster.converge()
  })

  it('knows nodes by the names of their settings, and lets no two have the same', async () => {
    const begin = async (name: string) => {
      await node('gw-c').gateway.kill('SIGTERM')
      await node('gw-c').restart(undefined, { environment: { SPGW_CLUSTER_NODE: name } })
    }
    const state = () => node('gw-c').gateway.admin.cluster.status({})
    await begin('gw-a')
    await expect.poll(async () => (await state()).trouble).toMatch(/another node gw-a; set another cluster\.node/)
    for (const name of ['gw-d', 'gw-c']) {
      await begin(name)
      await expect.poll(async () => (await state()).trouble).toBeNull()
      expect((await state()).nodes.map(({ name }) => name)).toEqual(['gw-a', 'gw-b', name])
    }
  })

  it('takes in no stranger, and nobody twice', async () => {
    const stranger = await cluster.addAlone('gw-x')
    // A load balancer sends nobody to it: it knows no key.
    const isReady = async () => (await fetch(`${stranger.gateway.baseUrl}/readyz`)).status
    expect(await isReady()).toBe(503)
    expect(await ask('gw-x', 'sp_live_of-another')).toBe(503)
    const { token } = await node('gw-a').gateway.admin.cluster.invite({})
    const forged = token.replace(/.{43}$/, 'A'.repeat(43))
    const refusal = (given: string) => stranger.gateway.admin.cluster.join({ token: given }).catch(String)
    expect(await refusal(forged)).toMatch(/rejected this one/)
    expect(await refusal(token)).toMatch(/was already used/)
    // Nothing of its own was given up for it.
    expect((await stranger.gateway.admin.cluster.status({})).cluster).toBeNull()
    await stranger.gateway.admin.projects.add({ name: 'own' })
    await stranger.gateway.createKey('own', { project: 'default' })
    const { token: another } = await node('gw-a').gateway.admin.cluster.invite({})
    expect(await refusal(another)).toMatch(/keys of its own/)
    await expect.poll(isReady, { timeout: 5000 }).toBe(200)
    await stranger.gateway.stop()
    cluster.nodes.pop()
  })

  it('lets nodes go: one leaves and goes on alone, one is removed and changes nothing any more', async () => {
    const left = await node('gw-c').gateway.admin.cluster.leave({})
    expect(left.cluster).toMatch(/^clu_/)
    await node('gw-c').gateway.admin.projects.add({ name: 'alone' })
    const { gateway } = node('gw-a')
    expect((await gateway.admin.cluster.remove({ node: 'gw-b' })).nodes.map(({ name }) => name)).toEqual(['gw-a'])
    await expect.poll(async () => (await node('gw-b').gateway.admin.cluster.status({})).trouble).toMatch(/was removed/)
    const readiness = async () => {
      const answer = await fetch(`${node('gw-b').gateway.baseUrl}/readyz`)
      return `${answer.status} ${await answer.text()}`
    }
    await expect.poll(readiness).toMatch(/^503 .*membership: this node was removed/)
    await expect(node('gw-b').gateway.admin.projects.add({ name: 'removed' })).rejects.toThrow(/read-only/)
    expect((await gateway.admin.projects.list({})).map(({ name }) => name)).not.toContain('removed')
    // A removed one has nothing more to do with it, and takes note.
    await node('gw-b').gateway.admin.cluster.leave({})
    await expect.poll(readiness).toMatch(/^200 /)
    await node('gw-b').gateway.admin.projects.add({ name: 'removed' })
    await expect(gateway.admin.cluster.leave({})).rejects.toMatchObject({
      message: 'This is the last node.',
      data: { hint: 'To end the cluster: spgw cluster dissolve' },
    })
    expect(await gateway.admin.cluster.dissolve({})).toMatchObject({ records: 0 })
    expect(cluster.postgres.query("select count(*) from pg_namespace where nspname = 'spgw'").trim()).toBe('0')
    await gateway.admin.projects.add({ name: 'last' })
  })
})
