import { setTimeout as wait } from 'node:timers/promises'
import { FaultProxy } from '../../../../test/support/fault-proxy.ts'
import type { FaultRow } from '../fault-row.ts'

export const failover: FaultRow = {
  name: 'failover',
  fault: 'a streaming standby of PostgreSQL promoted, without the last second',
  counts: 'milliseconds that are lost',
  usual: 1000,
  async run(scene, { times: lostMs, report }) {
    const replication = await FaultProxy.start(scene.postgres.port)
    const standby = await scene.postgres.addStandby(replication.port)
    scene.onClose(async () => {
      standby.remove()
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
    scene.postgres.stop()
    standby.promote()
    scene.postgres = standby
    report(`  promoted at ${scene.query('select sequence from spgw.head')} of ${last}`)
    for (const { proxy } of scene.nodes) proxy.leadTo(standby.port)
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
