import { setTimeout as wait } from 'node:timers/promises'
import type { ClusterNode } from '../../../../test/support/cluster.ts'
import type { FaultRow } from '../fault-row.ts'
import type { NodeScene } from '../node-scene.ts'
import { chat } from '../probe.ts'

const answerMs = 15_000

export const newerFirst: FaultRow = {
  name: 'newer-first',
  fault:
    'a cluster of the older version, one node upgraded first, bodies purged by an older one; one back, and up again',
  counts: 'seconds of each mixture',
  usual: 5,
  foundedByOther: true,
  async run(scene, { times: seconds, other, report }): Promise<Record<string, string | number>> {
    if (other === null) {
      report('  skipped: --other names no older executable')
      return { skipped: 'no older executable' }
    }
    const [first, second, third] = scene.nodes
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('this row needs three nodes')
    await first.gateway.admin.policies.add({ name: 'captured', capture: 'full' })
    const { key } = await first.gateway.createKey('captured', { policy: 'captured' })
    await scene.cluster.converge()
    scene.begin(['calls', 'spending'])
    const [purged, kept]: [string[], string[]] = [[], []]
    const work = async (step: string) => {
      report(`  ${step}`)
      for (const node of scene.nodes) await scene.addProject(node, `${step.replaceAll(' ', '-')}-${node.name}`)
      await wait(seconds * 1000)
    }
    const upgrade = async (node: ClusterNode, step: string) => {
      await scene.kill(node)
      await scene.restart(node)
      await work(step)
    }
    await work('all older')
    purged.push(...(await capture(scene, key)))
    await upgrade(first, 'one newer')
    purged.push(...(await capture(scene, key)))
    await purgeBodies(second)
    kept.push(...(await capture(scene, key)))
    await upgrade(second, 'two newer')
    await upgrade(third, 'all newer')
    const isBack = await goBack(scene, third, other)
    if (isBack) {
      await work('one back')
      purged.push(...kept.splice(0), ...(await capture(scene, key)))
      await purgeBodies(third)
      kept.push(...(await capture(scene, key)))
      await upgrade(third, 'up again')
    }
    await scene.settle()
    await expectBodies(scene, purged, false)
    await expectBodies(scene, kept, true)
    return { 'bodies purged': purged.length, 'bodies kept': kept.length, 'went back': isBack ? 'yes' : 'refused' }
  },
}

/** One request on each node, whose ids it returns. */
async function capture(scene: NodeScene, key: string): Promise<string[]> {
  const answers = await Promise.all(scene.nodes.map(({ gateway }) => chat(gateway.baseUrl, key)))
  for (const { status } of answers) if (status !== 200) scene.problem(`a captured request got ${status}`)
  await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  return answers.map(({ headers }) => headers.get('x-sp-request-id') ?? '')
}

async function purgeBodies({ gateway }: ClusterNode): Promise<void> {
  for await (const _ of await gateway.admin.requests.purge({ until: '0s', key: 'captured', bodies: true }));
}

/** False: its database is of a newer schema, which the older version refuses. */
async function goBack(scene: NodeScene, node: ClusterNode, other: string): Promise<boolean> {
  await scene.kill(node)
  try {
    await scene.restart(node, undefined, { program: { command: other, leading: [] } })
    return true
  } catch {
    await scene.restart(node)
    return false
  }
}

async function expectBodies(scene: NodeScene, ids: readonly string[], wanted: boolean): Promise<void> {
  const until = Date.now() + answerMs
  for (const id of ids)
    for (const { name, gateway } of scene.nodes)
      for (;;) {
        const { bodies } = await gateway.admin.requests.show({ id, bodies: true })
        if ((bodies !== null) === wanted) break
        if (Date.now() > until) {
          scene.problem(`${name} ${wanted ? 'lacks' : 'still has'} the bodies of ${id}`)
          break
        }
        await wait(100)
      }
  const there = Number(scene.query(`select count(distinct id) from spgw.bodies where id in ('${ids.join("', '")}')`))
  if (there !== (wanted ? ids.length : 0)) scene.problem(`PostgreSQL has bodies of ${there} of ${ids.length}`)
}
