import { setTimeout as wait } from 'node:timers/promises'
import type { FaultRow } from '../fault-row.ts'
import { chat } from '../probe.ts'

export const versions: FaultRow = {
  name: 'versions',
  fault: 'nodes upgraded one after the other, two versions at work meanwhile (`--other EXECUTABLE`: the older one)',
  counts: 'seconds of each mixture',
  usual: 6,
  async run(scene, { times: seconds, other, report }): Promise<Record<string, string | number>> {
    if (other === null) {
      report('  skipped: --other names no older executable')
      return { skipped: 'no older executable' }
    }
    const older = { program: { command: other, leading: [] } }
    scene.begin(['calls', 'spending'])
    const [first] = scene.nodes
    if (first === undefined) throw new Error('there is no node')
    const { key } = await first.gateway.createKey('mixed')
    let made = 0
    const work = async (step: string) => {
      report(`  ${step}`)
      for (const node of scene.nodes) if (await scene.addProject(node, `${step}-${node.name}`)) made++
      await wait(seconds * 1000)
      for (const { name, gateway } of scene.nodes)
        if ((await chat(gateway.baseUrl, key)).status !== 200) scene.problem(`${name} does not serve at ${step}`)
    }
    // Down and up again: a version may be tried on one node and taken back.
    for (const node of scene.nodes) {
      await scene.kill(node)
      await scene.restart(node, undefined, older)
      await work(`older-${node.name}`)
    }
    for (const node of scene.nodes) {
      await scene.kill(node)
      await scene.restart(node)
      await work(`newer-${node.name}`)
    }
    return { 'changes made meanwhile': made }
  },
}
