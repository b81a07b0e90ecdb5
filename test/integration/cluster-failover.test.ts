import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
