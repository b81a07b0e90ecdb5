import { setTimeout as wait } from 'node:timers/promises'
import type { FaultRow } from '../fault-row.ts'
import type { NodeScene } from '../node-scene.ts'
import { chat } from '../probe.ts'

const answerMs = 15_000

export const standby: FaultRow = {
  name: 'standby',
  fault: 'nodes led to a standby that is not promoted yet, and to a PostgreSQL that a setting makes read-only',
  counts: 'seconds of each',
  usual: 6,
  async run(scene, { times: seconds, report }) {
    const primary = scene.postgres
    const follower = await primary.addStandby()
    scene.onClose(() => {
      for (const server of [primary, follower]) server.remove()
    })
    const [first] = scene.nodes
    if (first === undefined) throw new Error('there is no node')
    const { key } = await first.gateway.createKey('meanwhile')
    await scene.cluster.converge()
    scene.begin(['calls', 'spending'])
    const begun = performance.now()
    await wait(seconds * 500)
    report('  read-only by a setting')
    setReadOnly(scene, 'on')
    await meet(scene, key, /read-only transaction/)
    await wait(seconds * 1000)
    setReadOnly(scene, 'off')
    await meet(scene, key, null)
    await scene.addProject(first, 'writable-again')
    report('  led to the standby')
    for (const { proxy } of scene.nodes) proxy.leadTo(follower.port)
    await meet(scene, key, /is a standby, which takes no changes/)
    if (await scene.addProject(first, 'refused')) scene.problem('a standby has taken a change')
    await wait(seconds * 1000)
    // It knows of none since it was led here: what a standby says of all would leave the latest out.
    const shown = await first.gateway.admin.requests.list({ limit: 50 })
    if (shown.some(({ node }) => node !== first.name)) scene.problem(`${first.name} reads records from a standby`)
    const waiting = (await first.gateway.admin.cluster.status({})).outbox?.records ?? 0
    report(`  promoted while ${waiting} records of ${first.name} wait`)
    // Whatever the primary had by then is there.
    await caughtUp(scene, () => follower.query(written))
    primary.stop()
    follower.promote()
    scene.cluster.postgres = follower
    const promotedAt = performance.now()
    await meet(scene, key, null)
    const resumed = performance.now() - promotedAt
    await wait(seconds * 500)
    await scene.settle()
    for (const node of scene.nodes)
      if (!(await scene.addProject(node, `after-${node.name}`)))
        scene.problem(`${node.name} takes no change afterwards`)
    return {
      'back after, s': (resumed / 1000).toFixed(1),
      'records that waited on one node': waiting,
      'under load, s': Math.round((performance.now() - begun) / 1000),
    }
  },
}

const written = 'select (select count(*) from spgw.records), (select sequence from spgw.head)'

async function caughtUp(scene: NodeScene, read: () => string): Promise<void> {
  const until = Date.now() + answerMs
  while (read().trim() !== scene.query(written)) {
    if (Date.now() > until) return scene.problem('the standby does not catch up')
    await wait(100)
  }
}

function setReadOnly({ postgres }: NodeScene, word: 'on' | 'off'): void {
  // Whoever turns it off has to be able to write.
  postgres.query(`set transaction read write; alter role spgw set default_transaction_read_only = ${word}`)
  // Those who are connected keep what they began with.
  postgres.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'spgw'")
}

/** All nodes serve, and say why they are cut off; null: none is. */
async function meet(scene: NodeScene, key: string, wanted: RegExp | null): Promise<void> {
  const until = Date.now() + answerMs
  for (const { name, gateway } of scene.nodes) {
    for (;;) {
      const { trouble } = await gateway.admin.cluster.status({})
      if (wanted === null ? trouble === null : trouble !== null && wanted.test(trouble)) break
      if (Date.now() > until) return scene.problem(`${name} says ${trouble} in place of ${wanted}`)
      await wait(100)
    }
    const { status } = await chat(gateway.baseUrl, key)
    if (status !== 200) scene.problem(`${name} answers ${status} meanwhile`)
  }
}
