import { setTimeout as wait } from 'node:timers/promises'
import type { Behaviour } from '../../../../test/support/fault-proxy.ts'
import type { FaultRow } from '../fault-row.ts'
import { beginStorm, endStorm } from './valkey.ts'

const ways = ['cut', 'swallow', 'mute', 'deaf'] as const satisfies readonly Behaviour[]
const engines = ['postgres', 'valkey', 'both'] as const

export const cutOff: FaultRow = {
  name: 'cut-off',
  fault: 'a node cut off from PostgreSQL, Valkey, both; without an end, and in one direction only',
  counts: 'seconds of each',
  usual: 6,
  async run(scene, { times: seconds, report }) {
    const probes = await beginStorm(scene)
    scene.begin(['calls', 'spending'])
    let shown = 0
    for (const engine of engines)
      for (const way of ways) {
        const node = scene.random.pick(scene.nodes)
        report(`  ${node.name}: ${engine}, ${way}`)
        const proxies = [engine === 'valkey' ? null : node.proxy, engine === 'postgres' ? null : node.valkeyProxy]
        for (const proxy of proxies) proxy?.become(way)
        await scene.addProject(node, `cut-${engine}-${way}`)
        await wait(seconds * 1000)
        const parts = (await node.gateway.admin.status({})).degraded.map(({ part }) => part)
        const { valkey } = await node.gateway.admin.cluster.status({})
        const isShown =
          (engine === 'valkey' || parts.includes('postgres')) && (engine === 'postgres' || valkey?.trouble != null)
        if (isShown) shown++
        else scene.problem(`${node.name} shows nothing of ${engine}, ${way}`)
        for (const proxy of proxies) proxy?.become('pass')
      }
    return { 'shown as degraded': `${shown} of ${engines.length * ways.length}`, ...(await endStorm(scene, probes)) }
  },
}
