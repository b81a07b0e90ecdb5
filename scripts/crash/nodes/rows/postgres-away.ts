import { setTimeout as wait } from 'node:timers/promises'
import type { FaultRow } from '../fault-row.ts'
import { chat, Probe, type ProbeAnswer, percentile } from '../probe.ts'

const calmMs = 5000

export const postgresAway: FaultRow = {
  name: 'postgres-away',
  fault: 'PostgreSQL stopped under load, a node killed and started meanwhile',
  counts: 'seconds without PostgreSQL',
  usual: 20,
  async run(scene, { times: seconds }) {
    const { postgres } = scene
    const [first, second] = scene.nodes
    if (first === undefined || second === undefined) throw new Error('this row needs two nodes')
    const { id, key } = await first.gateway.createKey('revoked-meanwhile')
    const { key: probing } = await first.gateway.createKey('probe')
    await scene.cluster.converge()
    scene.begin(['calls', 'spending'])
    const probes = new Probe(() => chat(first.gateway.baseUrl, probing), 20)
    await wait(calmMs)
    const stoppedAt = performance.now()
    postgres.stop()
    await wait(seconds * 500)
    await first.gateway.admin.keys.revoke({ key: id })
    if ((await chat(first.gateway.baseUrl, key)).status !== 401)
      scene.problem('a revoked key is admitted where it was revoked')
    await scene.kill(second)
    await scene.restart(second)
    if ((await chat(second.gateway.baseUrl, probing)).status !== 200)
      scene.problem('a node that was started without PostgreSQL does not serve')
    await wait(seconds * 500)
    const backAt = performance.now()
    const answers = await probes.end()
    // Else the proxies to Valkey pass nothing on meanwhile, and nodes take it for silent.
    await postgres.startBeside()
    const caughtUp = performance.now()
    await scene.settle()
    for (const { name, gateway } of scene.nodes)
      if ((await chat(gateway.baseUrl, key)).status !== 401) scene.problem(`${name} admits a revoked key`)
    const failed = answers.filter(({ status }) => status !== 200).length
    if (failed > 0) scene.problem(`${failed} requests failed without PostgreSQL`)
    const before = answers.filter(({ sentAt }) => sentAt < stoppedAt)
    const during = answers.filter(({ sentAt }) => sentAt >= stoppedAt && sentAt < backAt)
    return {
      'p99 before and meanwhile, ms': `${slowest(before)}, ${slowest(during)}`,
      'caught up after, s': ((performance.now() - caughtUp) / 1000).toFixed(1),
    }
  },
}

function slowest(answers: readonly ProbeAnswer[]): number {
  return percentile(
    answers.map(({ sentAt, doneAt }) => doneAt - sentAt),
    0.99,
  )
}
