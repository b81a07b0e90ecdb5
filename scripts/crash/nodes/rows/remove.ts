import { setTimeout as wait } from 'node:timers/promises'
import type { ClusterNode } from '../../../../test/support/cluster.ts'
import type { FaultRow } from '../fault-row.ts'
import type { NodeScene } from '../node-scene.ts'
import { chat, Probe } from '../probe.ts'

/** A node hears that it is out within so long, whatever it does. */
const heardMs = 5000
const kinds = ['calls', 'spending'] as const

export const remove: FaultRow = {
  name: 'remove',
  fault:
    'a node removed under load, one removed while it is away and back, one that leaves under load; each joined again',
  counts: 'seconds at each stage',
  usual: 4,
  async run(scene, { times: seconds }) {
    const [first, live, dead] = scene.nodes
    if (first === undefined || live === undefined || dead === undefined) throw new Error('this row needs three nodes')
    const { admin } = first.gateway
    const { key } = await first.gateway.createKey('known')
    const [toRevoke, revokedLater] = [
      await first.gateway.createKey('known-1'),
      await first.gateway.createKey('known-2'),
    ]
    await scene.cluster.converge()
    scene.begin(kinds)
    await wait(seconds * 1000)

    const probes = new Probe(() => chat(live.gateway.baseUrl, key), 20)
    await admin.cluster.remove({ node: live.name })
    const heard = await untilOut(scene, live)
    const shipped = countOf(scene, live)
    await wait(seconds * 1000)
    await checkRemoved(scene, [first, live], toRevoke)
    const failed = (await probes.end()).filter(({ status }) => status !== 200).length
    if (failed > 0) scene.problem(`${failed} requests to a removed node failed`)
    if (countOf(scene, live) !== shipped) scene.problem('a removed node brought records to the others')
    const alone = await scene.depart(live)
    await scene.join(live.name, kinds)

    await scene.kill(dead)
    await admin.cluster.remove({ node: dead.name })
    await wait(seconds * 1000)
    await scene.restart(dead)
    await untilOut(scene, dead)
    await checkRemoved(scene, [first, dead], revokedLater)
    const after = await scene.depart(dead)
    await scene.join(dead.name, kinds)

    await wait(seconds * 1000)
    const [, leaver] = scene.nodes
    if (leaver === undefined) throw new Error('there is no second node')
    await scene.endSpending(leaver)
    await leaver.gateway.admin.cluster.leave({})
    await wait(seconds * 1000)
    const left = await scene.depart(leaver)
    checkGiven(scene)
    return {
      'not ready after, ms': heard,
      'records that removed nodes have alone': `${alone}, ${after}`,
      'and one that left': left,
    }
  },
}

/** How long it takes until a load balancer sends nothing there. */
async function untilOut(scene: NodeScene, { name, gateway }: ClusterNode): Promise<number> {
  scene.account.outsiders.add(gateway.baseUrl)
  const begun = performance.now()
  for (;;) {
    const answer = await fetch(`${gateway.baseUrl}/readyz`)
    const text = await answer.text()
    const took = Math.round(performance.now() - begun)
    if (answer.status === 503 && text.includes('was removed')) return took
    if (took > heardMs) {
      scene.problem(`${name} was removed, and is ready: ${text}`)
      return took
    }
    await wait(10)
  }
}

async function checkRemoved(
  scene: NodeScene,
  [first, node]: readonly [ClusterNode, ClusterNode],
  revoked: { id: string; key: string },
): Promise<void> {
  const { gateway, name } = node
  const { trouble } = await gateway.admin.cluster.status({})
  if (!trouble?.includes('was removed')) scene.problem(`${name} says ${trouble}`)
  const changed = await gateway.admin.projects.add({ name: `by-${name}` }).then(
    () => 'made',
    (error: unknown) => String(error),
  )
  if (!changed.includes('was removed')) scene.problem(`a change on the removed ${name} was ${changed}`)
  const { key } = await first.gateway.createKey(`after-${name}`)
  const { status } = await chat(gateway.baseUrl, key)
  if (status !== 503) scene.problem(`a key that the removed ${name} does not know is answered ${status}`)
  // What is taken away still goes to it by Valkey.
  const { id, key: known } = revoked
  await first.gateway.admin.keys.revoke({ key: id })
  const until = performance.now() + heardMs
  while ((await chat(gateway.baseUrl, known)).status === 200) {
    if (performance.now() > until) return scene.problem(`the removed ${name} admits a key that was revoked`)
    await wait(10)
  }
}

function countOf(scene: NodeScene, { name }: ClusterNode): number {
  return Number(scene.query(`select count(*) from spgw.records where node = '${name}'`))
}

/** Of no budget more was given out than there is. */
function checkGiven(scene: NodeScene): void {
  const over = scene.query(
    `select a.counter, sum(a.given), b.most from spgw.allowances a join spgw.budgets b using (counter, period)
     group by a.counter, b.most having sum(a.given) > b.most`,
  )
  if (over !== '') scene.problem(`more of a budget was given out than there is: ${over}`)
}
