import { setTimeout as wait } from 'node:timers/promises'
import type { FaultRow } from '../fault-row.ts'
import type { NodeScene } from '../node-scene.ts'
import { chat, mostWithin, Probe, type ProbeAnswer } from '../probe.ts'

const limit = 60
const spanMs = 60_000

export const valkey: FaultRow = {
  name: 'valkey',
  fault: 'Valkey flushed, failed over to a replica, stopped',
  counts: 'seconds between two faults',
  usual: 12,
  async run(scene, { times: seconds, report }) {
    const replica = await scene.redis.addReplica()
    scene.onClose(() => replica.remove())
    scene.onEnd(() => replica.signal('SIGKILL'))
    const probes = await beginStorm(scene)
    scene.begin()
    const pause = () => wait(seconds * 1000)
    const faults: [string, () => Promise<unknown>][] = [
      ['flushed', () => scene.redis.command('FLUSHALL')],
      [
        'failed over',
        async () => {
          await scene.redis.stop()
          await replica.promote()
          for (const { valkeyProxy } of scene.nodes) valkeyProxy?.leadTo(replica.port)
        },
      ],
      ['stopped', () => replica.stop()],
      ['back, with nothing', () => replica.start()],
      ['flushed again', () => replica.command('FLUSHALL')],
    ]
    for (const [name, strike] of faults) {
      await pause()
      report(`  ${name}`)
      await strike()
      if (name === 'stopped') await expectShown(scene)
    }
    await pause()
    return await endStorm(scene, probes)
  },
}

/** Clients of every node under one limit that all of them share. */
export async function beginStorm(scene: NodeScene): Promise<Probe[]> {
  const { admin, createKey } = scene.node(scene.nodes[0]?.name ?? '').gateway
  await admin.policies.add({ name: 'a-minute', rpm: limit })
  const { key } = await createKey('a-minute', { policy: 'a-minute' })
  await scene.cluster.converge()
  return scene.nodes.flatMap(({ gateway }) => [1, 2].map(() => new Probe(() => chat(gateway.baseUrl, key), 60)))
}

export async function endStorm(scene: NodeScene, probes: readonly Probe[]): Promise<Record<string, string | number>> {
  const answers: ProbeAnswer[] = (await Promise.all(probes.map((probe) => probe.end()))).flat()
  const most = mostWithin(answers, spanMs)
  if (most > limit) scene.problem(`${most} requests passed within a minute, and ${limit} may`)
  const passed = answers.filter(({ status }) => status === 200).length
  if (passed < limit) scene.problem(`only ${passed} requests passed at all`)
  return { [`most in 60 s, of ${limit}`]: most, passed, refused: answers.length - passed }
}

/** Operators see that limits are not granted now. */
async function expectShown(scene: NodeScene): Promise<void> {
  const until = Date.now() + 10_000
  for (const { name, gateway } of scene.nodes)
    while ((await gateway.admin.cluster.status({})).valkey?.trouble == null) {
      if (Date.now() > until) return scene.problem(`${name} does not say that Valkey is away`)
      await wait(100)
    }
}
