import { setTimeout as wait } from 'node:timers/promises'
import { readRecords } from '../../scene.ts'
import type { FaultRow } from '../fault-row.ts'
import type { NodeScene } from '../node-scene.ts'
import { chat, Probe } from '../probe.ts'

export const move: FaultRow = {
  name: 'move',
  fault: 'from one node to three and back under load (`cluster dissolve`, `init`, `join`, `leave`)',
  counts: 'seconds at each stage',
  usual: 4,
  async run(scene, { times: seconds }) {
    const [first, ...others] = scene.nodes
    if (first === undefined) throw new Error('there is no node')
    const { admin } = first.gateway
    const { key } = await first.gateway.createKey('mover')
    const probes = new Probe(() => chat(first.gateway.baseUrl, key), 10)
    scene.begin()
    await wait(seconds * 1000)
    for (const node of others) await leave(scene, node.name)
    await admin.cluster.dissolve({})
    const alone = await count(admin)
    await wait(seconds * 1000)
    const between = await count(admin)
    await admin.cluster.init({})
    for (const name of ['gw-d', 'gw-e']) await scene.cluster.add(name)
    await wait(seconds * 1000)
    const answers = await probes.end()
    const failed = answers.filter(({ status }) => status !== 200).length
    if (failed > 0) scene.problem(`${failed} requests of ${answers.length} failed`)
    if (between < alone) scene.problem(`${alone} records became ${between}`)
    return { requests: answers.length, failed, 'records alone': alone }
  },
}

async function count(admin: Parameters<typeof readRecords>[0]): Promise<number> {
  return (await readRecords(admin, new Date(0))).length
}

async function leave(scene: NodeScene, name: string): Promise<void> {
  const node = scene.node(name)
  await node.gateway.admin.cluster.drain({})
  await scene.retire(node)
}
