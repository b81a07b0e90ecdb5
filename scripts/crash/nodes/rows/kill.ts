import { setTimeout as wait } from 'node:timers/promises'
import type { FaultPoint } from '../../../../src/core/fault-point.ts'
import type { ClusterNode } from '../../../../test/support/cluster.ts'
import type { FaultRow } from '../fault-row.ts'
import type { NodeScene } from '../node-scene.ts'

const points = [
  'ingest.before-commit',
  'ingest.after-commit',
  'ship.before-commit',
  'ship.after-commit',
  'append.before',
  'append.after',
  'apply.before-commit',
  'journal.before-settled',
] as const satisfies readonly FaultPoint[]
/** Longer than anything here takes that is not stuck. */
const strikeMs = 60_000

export const kill: FaultRow = {
  name: 'kill',
  fault: '`kill -9` of a node, by chance and at fault points',
  counts: 'kills by chance',
  usual: 20,
  async run(scene, { times, report }) {
    scene.begin(['calls', 'spending'])
    for (let kills = 0; kills < times; kills++) {
      const victim = scene.random.pick(scene.nodes)
      await wait(scene.random.between(50, 900))
      const changed = scene.addProject(scene.random.pick(scene.nodes), `project-${kills}`)
      await wait(scene.random.between(0, 30))
      await scene.kill(victim)
      await changed
      await scene.restart(victim)
    }
    let struck = 0
    for (const point of points) {
      report(`  at ${point}`)
      if (await killAt(scene, point)) struck++
    }
    return { kills: times, 'at a fault point': `${struck} of ${points.length}` }
  },
}

/** False: the node did not come to that point. */
async function killAt(scene: NodeScene, point: FaultPoint): Promise<boolean> {
  const victim = scene.random.pick(scene.nodes)
  await scene.kill(victim)
  // A start that ends there is one as well.
  const hasStarted = await scene.restart(victim, `${point}:2`, { program: scene.tests }).then(
    () => true,
    () => false,
  )
  if (hasStarted) await reachPostgres(victim)
  const name = `at-${point.replaceAll('.', '-')}`
  const asked = (hasStarted ? [1, 2, 3] : []).map((time) => scene.addProject(victim, `${name}-${time}`))
  const ended = victim.gateway.ended.then(() => true)
  const struck = !hasStarted || (await Promise.race([ended, wait(strikeMs, false)]))
  await scene.kill(victim)
  await Promise.all(asked)
  await scene.restart(victim)
  if (!struck) scene.problem(`the fault point ${point} was not reached`)
  return struck
}

/** Changes are refused before. One that ends on the way has reached its point. */
async function reachPostgres({ gateway }: ClusterNode): Promise<void> {
  const findTrouble = () =>
    gateway.admin.cluster.status({}).then(
      ({ trouble }) => trouble,
      () => null,
    )
  while ((await findTrouble()) !== null) await wait(25)
}
