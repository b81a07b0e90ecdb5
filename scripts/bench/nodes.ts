import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClusterNode, TestCluster } from '../../test/support/cluster.ts'
import { startGateway, type TestGateway } from '../../test/support/gateway.ts'
import { RedisServer } from '../../test/support/redis-server.ts'
import { packageExecutable } from '../package.ts'
import { smallCall } from './calls.ts'
import { cpuMicros, untilQuiet } from './children.ts'
import type { Order } from './command-line.ts'
import { drive } from './load.ts'
import type { Machine } from './machine.ts'
import { type Mock, startMock } from './mock.ts'
import { compile } from './native.ts'
import { renderTable } from './report.ts'
import { median } from './statistics.ts'
import { type Bench, directTarget, type Target } from './target.ts'

const names = ['gw-a', 'gw-b', 'gw-c'] as const
const connections = 16
/** A node says each half second that it is there. */
const restTicks = 6
const quietMs = 60_000

interface NodesTrial {
  perSecond: number
  cpuMicrosEach: number
  /** Into PostgreSQL, from the first request until none waits. */
  recordsPerSecond: number
}

/**
 * One, two and three nodes under as much load each as they answer, and a gateway that is alone, in turns. The nodes, the load and both
 * servers share the machine's cores: what a request costs, and by how much more is answered, tells something; rates do not.
 */
export async function measureNodes(order: Order, machine: Machine, place: string, directory: string): Promise<string> {
  process.env.SPGW_TEST_EXECUTABLE = resolve(
    order.executable ?? (await packageExecutable(join(place, 'spgw-measured'))),
  )
  const mock = await startMock(machine, directory)
  const loadProgram = await compile(machine, directory, 'load')
  const bench = { machine, mock, loadProgram, directory, tls: null, executable: '', starters: {} }
  const run = { ...bench, direct: directTarget(mock), seconds: order.seconds, warmUpSeconds: order.warmUpSeconds }
  const redis = await RedisServer.start()
  const cluster = await TestCluster.start(names, { valkeyPort: redis.port, records: 'shared' })
  const alone = await startGateway({ config: 'gateway:\n  workers: 1\n' })
  try {
    const single = [await furnish(alone, mock)]
    const [first] = cluster.nodes
    if (first === undefined) throw new Error('there is no node')
    const { key } = await furnish(first.gateway, mock)
    await cluster.converge()
    const members = cluster.nodes.map(({ gateway }) => toTarget(gateway, key))
    const sets = [single, ...members.map((_, index) => members.slice(0, index + 1))]
    const trials = sets.map((): NodesTrial[] => [])
    for (const set of sets) await playAll(run, set, order.warmUpSeconds)
    for (let round = 0; round < order.rounds; round++)
      for (const [index, set] of sets.entries()) {
        process.stderr.write(
          `round ${round + 1} of ${order.rounds}: ${index === 0 ? 'alone' : `${index} of a cluster`}\n`,
        )
        trials[index]?.push(await measureOnce(run, set, index === 0 ? null : cluster))
      }
    return render(trials)
  } finally {
    await alone.stop()
    await cluster.stop()
    await redis.remove()
  }
}

type Keyed = Target & { key: string }

async function furnish(gateway: TestGateway, mock: Mock): Promise<Keyed> {
  const baseUrl = `http://127.0.0.1:${mock.port}/v1`
  await gateway.admin.providers.add({ name: 'mock', kind: 'openai', baseUrl, credential: 'sk-bench', skipCheck: true })
  await gateway.addRoute('bench-*', ['mock'])
  const rules = { rpm: 1e9, tpm: 1e9, budgetUsdMonth: 1e6 }
  await gateway.admin.policies.add({ name: 'bench', ...rules })
  await gateway.admin.prices.set({ model: 'bench-small', input: 1, output: 2, maxOutput: 4000 })
  return toTarget(gateway, (await gateway.createKey('bench', { policy: 'bench' })).key)
}

function toTarget({ baseUrl, processId }: TestGateway, key: string): Keyed {
  const port = Number(new URL(baseUrl).port)
  const reach: Target['reach'] = ({ path }) => ({ port, path, headers: { authorization: `Bearer ${key}` } })
  return { name: 'spgw', reach, pid: processId, readyMs: 0, stop: async () => {}, key }
}

async function playAll(bench: Bench, targets: readonly Target[], seconds: number) {
  return await Promise.all(targets.map((target) => drive(bench, target, smallCall(), { connections, seconds })))
}

async function measureOnce(bench: Bench, targets: readonly Target[], cluster: TestCluster | null): Promise<NodesTrial> {
  for (const { pid } of targets) await untilQuiet(pid, restTicks)
  const cpu = () => targets.reduce((sum, { pid }) => sum + cpuMicros(pid), 0)
  const [before, records, begun] = [cpu(), countRecords(cluster), performance.now()]
  const loads = await playAll(bench, targets, bench.seconds)
  const requests = loads.reduce((sum, load) => sum + load.requests, 0)
  for (const node of cluster?.nodes ?? []) await shipped(node)
  const tookMs = performance.now() - begun
  for (const { pid } of targets) await untilQuiet(pid, restTicks)
  return {
    perSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0),
    cpuMicrosEach: (cpu() - before) / requests,
    recordsPerSecond: ((countRecords(cluster) - records) / tookMs) * 1000,
  }
}

function countRecords(cluster: TestCluster | null): number {
  return Number(cluster?.postgres.query('select count(*) from spgw.records') ?? 0)
}

async function shipped({ gateway }: ClusterNode): Promise<void> {
  for (const until = performance.now() + quietMs; performance.now() < until; await sleep(50))
    if ((await gateway.admin.cluster.status({})).outbox?.records === 0) return
  throw new Error('a node does not get its records to PostgreSQL')
}

function render(trials: readonly NodesTrial[][]): string {
  const of = (index: number, read: (trial: NodesTrial) => number) => median((trials[index] ?? []).map(read))
  const [cpu, rate] = [({ cpuMicrosEach }: NodesTrial) => cpuMicrosEach, ({ perSecond }: NodesTrial) => perSecond]
  const rows = trials.map((_, index) => [
    index === 0 ? 'alone' : `${index} of a cluster`,
    of(index, rate).toFixed(0),
    (of(index, rate) / of(1, rate)).toFixed(2),
    of(index, cpu).toFixed(0),
    (of(index, cpu) / of(0, cpu)).toFixed(2),
    index === 0 ? '–' : of(index, ({ recordsPerSecond }) => recordsPerSecond).toFixed(0),
  ])
  return renderTable(
    ['nodes', 'requests/s', '÷ one node', 'CPU µs a request', '÷ alone', 'records/s into PostgreSQL'],
    rows,
  )
}
