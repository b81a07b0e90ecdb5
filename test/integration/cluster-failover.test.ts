import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { TestCluster } from '../support/cluster.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { needsPostgres, type PostgresServer, postgresPrograms } from '../support/postgres-server.ts'

describe.skipIf(postgresPrograms === null)(`a standby that takes over (${needsPostgres})`, () => {
  let cluster: TestCluster
  let replication: FaultProxy
  let primary: PostgresServer
  let standby: PostgresServer
  beforeAll(async () => {
    cluster = await TestCluster.start(['gw-a', 'gw-b'])
    primary = cluster.postgres
    replication = await FaultProxy.start(primary.port)
    standby = await primary.addStandby(replication.port)
  })
  afterAll(async () => {
    // What nodes find by then is removed with them.
    await cluster?.stop()
    for (const server of [primary, standby]) server?.remove()
    await replication?.close()
  })

  it('gets the changes back that it had not got, from the nodes that hold them, once', async () => {
    const [first, second] = cluster.nodes
    if (first === undefined || second === undefined) throw new Error('two nodes')
    await first.gateway.admin.projects.add({ name: 'before' })
    await first.gateway.admin.projects.add({ name: 'renamed' })
    await first.gateway.admin.projects.add({ name: 'removed' })
    const headOf = (server: PostgresServer) => server.query('select sequence from spgw.head').trim()
    await expect.poll(() => headOf(standby)).toBe(headOf(primary))
    replication.become('swallow')
    await first.gateway.admin.projects.add({ name: 'lost' })
    await second.gateway.admin.projects.edit({ name: 'renamed', rename: 'renamed-lost' })
    await second.gateway.admin.projects.remove({ name: 'removed' })
    await cluster.converge()
    const reached = headOf(primary)
    primary.stop()
    standby.promote()
    expect(Number(headOf(standby))).toBe(Number(reached) - 3)
    cluster.leadTo(standby)
    await expect.poll(() => headOf(standby)).toBe(reached)
    await cluster.converge()
    expect(cluster.nodes.some(({ gateway }) => gateway.stderr().includes('this node restored them'))).toBe(true)
    // One that joins now has all of it, from there alone.
    await second.gateway.admin.projects.add({ name: 'after' })
    await cluster.add('gw-c')
    await cluster.converge()
    const names = (await cluster.nodes[2]?.gateway.admin.projects.list({}))?.map(({ name }) => name).sort()
    expect(names).toEqual(['after', 'before', 'default', 'lost', 'renamed-lost'])
  })
})

describe.skipIf(postgresPrograms === null)(`a PostgreSQL that was restored (${needsPostgres})`, () => {
  it('is met by a node that was restarted since a backup which was restored', async () => {
    const cluster = await TestCluster.start(['gw-a', 'gw-b'])
    onTestFinished(() => cluster.stop())
    const [first, second] = cluster.nodes
    if (first === undefined || second === undefined) throw new Error('two nodes')
    const { postgres } = cluster
    const declared = () => postgres.query("select count(*) from spgw.members where declared <> ''").trim()
    await expect.poll(declared).toBe('2')
    postgres.stop()
    postgres.keepCopy()
    postgres.start()
    await second.gateway.kill('SIGKILL')
    await second.restart()
    await first.gateway.admin.projects.add({ name: 'since' })
    await cluster.converge()
    postgres.stop()
    postgres.restoreCopy()
    postgres.start()
    await cluster.converge()
    for (const { gateway } of [first, second])
      await expect.poll(async () => (await gateway.admin.cluster.status({})).trouble).toBeNull()
    const names = (await second.gateway.admin.projects.list({})).map(({ name }) => name)
    expect(names).toContain('since')
    await first.gateway.admin.projects.remove({ name: 'since' })
    // The same server with the same timeline, which gives parts of budgets when all have told theirs.
    expect(first.gateway.stderr() + second.gateway.stderr()).not.toContain('another gateway runs as this node')
    const settled = () => postgres.query('select settled = spgw.timeline_name() from spgw.timeline').trim()
    await expect.poll(settled).toBe('t')
    await expect.poll(declared).toBe('2')
  })
})
