import { setTimeout as wait } from 'node:timers/promises'
import type { RedisServer } from '../../../../test/support/redis-server.ts'
import type { FaultRow } from '../fault-row.ts'
import type { NodeScene } from '../node-scene.ts'
import { chat, mostWithin, Probe, type ProbeAnswer } from '../probe.ts'

const limit = 60
const spanMs = 60_000

export const valkey: FaultRow = {
  name: 'valkey',
  fault: 'Valkey flushed, failed over to a replica, stopped, hanging, full, a replica, with a password',
  counts: 'seconds between two faults',
  usual: 8,
  async run(scene, { times: seconds, report }) {
    const replica = await scene.redis.addReplica()
    scene.onClose(() => replica.remove())
    scene.onEnd(() => replica.signal('SIGKILL'))
    const probes = await beginStorm(scene)
    scene.begin(['calls', 'spending'])
    const pause = () => wait(seconds * 1000)
    const faults: Fault[] = [
      { name: 'flushed', strike: () => scene.redis.command('FLUSHALL') },
      {
        name: 'failed over',
        strike: async () => {
          await scene.redis.stop()
          await replica.promote()
          for (const { valkeyProxy } of scene.nodes) valkeyProxy?.leadTo(replica.port)
        },
      },
      { name: 'stopped', strike: () => replica.stop(), shown: /./ },
      { name: 'back, with nothing', strike: () => replica.start() },
      { name: 'flushed again', strike: () => replica.command('FLUSHALL') },
      { name: 'hangs', strike: () => replica.signal('SIGSTOP'), shown: /does not answer/ },
      { name: 'goes on', strike: () => replica.signal('SIGCONT') },
      { name: 'full', strike: () => replica.command('CONFIG', 'SET', 'maxmemory', '1'), shown: /^OOM/ },
      { name: 'has room', strike: () => replica.command('CONFIG', 'SET', 'maxmemory', '0') },
      { name: 'a replica', strike: () => replica.command('REPLICAOF', '127.0.0.1', '1'), shown: /replica/ },
      { name: 'a primary', strike: () => replica.promote() },
      { name: 'wants a password', strike: () => demandPassword(scene, replica), shown: /^NOAUTH/ },
      { name: 'wants none', strike: () => replica.command('AUTH', 'secret', '\r\nCONFIG', 'SET', 'requirepass', '""') },
    ]
    for (const { name, strike, shown = null } of faults) {
      await pause()
      report(`  ${name}`)
      await strike()
      await expectShown(scene, name, shown)
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

interface Fault {
  name: string
  strike(): unknown
  /** What operators read of it; absent: limits are granted. */
  shown?: RegExp
}

/** Of who is there already as well. */
async function demandPassword({ nodes }: NodeScene, server: RedisServer): Promise<void> {
  await server.command('CONFIG', 'SET', 'requirepass', 'secret')
  for (const { valkeyProxy } of nodes) valkeyProxy?.leadTo(server.port)
}

/** Operators see whether limits are granted now, and why they are not. */
async function expectShown(scene: NodeScene, name: string, wanted: RegExp | null): Promise<void> {
  const until = Date.now() + 10_000
  const isShown = (trouble: string | null | undefined) =>
    wanted === null ? trouble === null : typeof trouble === 'string' && wanted.test(trouble)
  for (const node of scene.nodes)
    for (;;) {
      const { valkey } = await node.gateway.admin.cluster.status({})
      if (isShown(valkey?.trouble)) break
      if (Date.now() > until) return scene.problem(`${node.name} says of Valkey that is ${name}: ${valkey?.trouble}`)
      await wait(100)
    }
}
