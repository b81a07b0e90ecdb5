import { setTimeout as wait } from 'node:timers/promises'
import { FaultProxy } from '../../../../test/support/fault-proxy.ts'
import type { FaultRow } from '../fault-row.ts'

export const failover: FaultRow = {
  name: 'failover',
  fault: 'a streaming standby of PostgreSQL promoted, without the last second',
  counts: 'milliseconds that are lost',
  usual: 1000,
  async run(scene, { times: lostMs, report }) {
    const primary = scene.postgres
    const replication = await FaultProxy.start(primary.port)
    const standby = await primary.addStandby(replication.port)
    scene.onClose(async () => {
      for (const server of [primary, standby]) server.remove()
      await replication.close()
    })
    scene.begin(['calls', 'spending'])
    await wait(4000)
    for (const node of scene.nodes) await scene.addProject(node, `before-${node.name}`)
    await wait(500)
    replication.become('swallow')
    const [sequence, records] = [scene.query('select sequence from spgw.head'), scene.query(count)]
    await wait(lostMs / 2)
    for (const node of scene.nodes) await scene.addProject(node, `lost-${node.name}`)
    await wait(lostMs / 2)
    const [last, lastRecords] = [scene.query('select sequence from spgw.head'), scene.query(count)]
    primary.stop()
    standby.promote()
    report(`  promoted at ${standby.query('select sequence from spgw.head').trim()} of ${last}`)
    scene.cluster.leadTo(standby)
    await wait(3000)
    await scene.settle()
    for (const node of scene.nodes)
      if (!(await scene.addProject(node, `after-${node.name}`)))
        scene.problem(`${node.name} takes no change afterwards`)
    return {
      'changes lost by the standby': Number(last) - Number(sequence),
      'records lost by the standby': Number(lastRecords) - Number(records),
    }
  },
}

const count = 'select count(*) from spgw.records'
