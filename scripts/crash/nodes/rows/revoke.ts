import { setTimeout as wait } from 'node:timers/promises'
import type { FaultRow } from '../fault-row.ts'
import { chat, percentile, probe } from '../probe.ts'

const mostMs = 1000

export const revoke: FaultRow = {
  name: 'revoke',
  fault: 'a key revoked while clients of three nodes use it',
  counts: 'keys',
  usual: 20,
  async run(scene, { times }) {
    scene.begin()
    const took: number[] = []
    for (let number = 0; number < times; number++) {
      const node = scene.random.pick(scene.nodes)
      const { id, key } = await node.gateway.createKey(`revoked-${number}`)
      for (const { gateway } of scene.nodes) while ((await chat(gateway.baseUrl, key)).status !== 200) await wait(10)
      const last = scene.nodes.map(async ({ gateway }): Promise<number> => {
        for (let admitted = 0; ; ) {
          const answer = await probe(() => chat(gateway.baseUrl, key))
          if (answer.status === 200) admitted = answer.sentAt
          else if (answer.status === 401) return admitted
        }
      })
      await wait(scene.random.between(50, 200))
      const begun = performance.now()
      await node.gateway.admin.keys.revoke({ key: id })
      // The last that was admitted had been sent by then.
      took.push(Math.max(0, ...(await Promise.all(last)).map((sentAt) => sentAt - begun)))
    }
    const p99 = percentile(took, 0.99)
    if (p99 >= mostMs) scene.problem(`a revoked key was admitted for ${p99} ms`)
    return { keys: times, 'admitted for, ms (p50, p99)': `${percentile(took, 0.5)}, ${p99}` }
  },
}
