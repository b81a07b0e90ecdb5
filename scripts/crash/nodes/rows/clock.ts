import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { FaultRow } from '../fault-row.ts'
import type { NodeScene } from '../node-scene.ts'
import { beginStorm, endStorm } from './valkey.ts'

const hour = 3600
/** Seconds off: an hour ahead, an hour behind, and then in steps. */
const steps = [hour, -hour, 30, -30, 5, -5, hour, 0]

export const clock: FaultRow = {
  name: 'clock',
  fault: "a node's clock an hour ahead, an hour behind, then stepping",
  counts: 'seconds between two steps',
  usual: 9,
  async run(scene, { times: seconds, report }) {
    const directory = mkdtempSync(join(tmpdir(), 'spgw-clock-'))
    scene.onClose(() => rmSync(directory, { recursive: true, force: true }))
    const [library, offset] = [join(directory, 'clock.so'), join(directory, 'offset')]
    const source = join(import.meta.dirname, '../clock-fault.c')
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'])
    setClock(offset, 0)
    const node = scene.nodes[1]
    if (node === undefined) throw new Error('this row needs two nodes')
    await scene.kill(node)
    await scene.restart(node, undefined, { environment: { LD_PRELOAD: library, SPGW_CLOCK_OFFSET: offset } })
    const probes = await beginStorm(scene)
    scene.begin(['calls', 'spending'])
    let shown = 0
    for (const [index, step] of steps.entries()) {
      report(`  ${step} s`)
      setClock(offset, step)
      if (!(await scene.addProject(node, `step-${index}`))) scene.problem(`no change is taken at ${step} s`)
      await wait(seconds * 1000)
      const said = await findClock(scene, node.name)
      if (said === step) shown++
      else scene.problem(`at ${step} s other nodes show that the clock is ${said} s ahead`)
    }
    const figures = await endStorm(scene, probes)
    await scene.settle()
    const ahead = `id like 'req_%' and time > '${new Date(Date.now() + 60_000).toISOString()}'`
    const seen = { ...figures, 'shown by other nodes': `${shown} of ${steps.length}` }
    return { ...seen, 'records dated ahead': scene.query(`select count(*) from spgw.records where ${ahead}`) }
  },
}

/** In seconds, as another node shows it to its operator. */
async function findClock({ nodes }: NodeScene, name: string): Promise<number | undefined> {
  const other = nodes.find((each) => each.name !== name)
  const status = await other?.gateway.admin.cluster.status({})
  const found = status?.nodes.find((each) => each.name === name)
  return found === undefined ? undefined : Math.round((found.clock_ahead_ms ?? 0) / 1000)
}

function setClock(path: string, seconds: number): void {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(seconds))
  // In place: the node has mapped it.
  writeFileSync(path, bytes, { flag: existsSync(path) ? 'r+' : 'w' })
}
