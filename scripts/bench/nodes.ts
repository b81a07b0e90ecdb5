import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClusterNode, TestCluster } from '../../test/support/cluster.ts'
import { startGateway, type TestGateway } from '../../test/support/gateway.ts'
import { RedisServer } from '../../test/support/redis-server.ts'
import { packageExecutable } from '../package.ts'
import { smallCall } from './calls.ts'
import { cpuMicros, untilQuiet } from './children.ts'
import type { Order } from './command-line.ts'
import { CoreShares } from './core-share.ts'
import { Engines, type EngineUse, renderEngines } from './engines.ts'
import { drive } from './load.ts'
import type { Machine } from './machine.ts'
import { type Mock, startMock } from './mock.ts'
import { compile } from './native.ts'
import { renderTable } from './report.ts'
import { median } from './statistics.ts'
import { type Bench, directTarget, type Target } from './target.ts'

const names = ['gw-a', 'gw-b', 'gw-c'] as const
const connections = 16
/** Of a core, for each node where their growth is measured. */
const share = 0.25
/** A node says each half second that it is there. */
const restTicks = 6
const quietMs = 60_000

const idleMs = 10_000

interface CostsTrial {
  /** CPU of a request of each gateway, in µs. */
  micros: number[]
  engines: EngineUse
}

interface NodesTrial {
  perSecond: number
  /** Into PostgreSQL, from the first request until none waits. */
  recordsPerSecond: number
}

/**
 * What a request costs a gateway that is alone and a node of a cluster, at the same time on a core that they share; and how much
 * more two and three nodes answer than one, where each gets no more than a part of that core. The load, both servers and the proxies
 * to them have the other cores.
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
  const shares = new CoreShares()
  try {
    for (const { processId } of [alone, ...cluster.nodes.map(({ gateway }) => gateway)])
      moveToMeasured(machine, processId)
    const single = await furnish(alone, mock)
    const [first] = cluster.nodes
    if (first === undefined) throw new Error('there is no node')
    const { key } = await furnish(first.gateway, mock)
    await cluster.converge()
    const members = cluster.nodes.map(({ gateway }) => toTarget(gateway, key))
    for (const target of members.slice(1)) await playAll(run, [target], order.warmUpSeconds)
    const compared = [single, ...members.slice(0, 1)]
    await playAll(run, compared, 4 * order.warmUpSeconds)
    const engines = new Engines(cluster.postgres, redis)
    const costs: CostsTrial[] = []
    for (let round = 0; round < order.rounds; round++) {
      process.stderr.write(`cost, round ${round + 1} of ${order.rounds}\n`)
      costs.push(await measureCosts(run, compared, first, engines))
    }
    // Not before the costs: after a time without traffic V8 compiles much of the hot code again.
    for (const { pid } of compared) await untilQuiet(pid, restTicks)
    const begun = await engines.read()
    await sleep(idleMs)
    const idle = await engines.since(begun, 0)
    const isHeld = members.map(({ pid }) => shares.hold(pid, share)).every(Boolean)
    const growth: NodesTrial[][] = []
    for (let round = 0; isHeld && round < order.rounds; round++) {
      process.stderr.write(`growth, round ${round + 1} of ${order.rounds}\n`)
      const trials: NodesTrial[] = []
      for (const index of members.keys()) trials.push(await measureGrowth(run, members.slice(0, index + 1), cluster))
      growth.push(trials)
    }
    return [
      renderCosts(costs.map(({ micros }) => micros)),
      isHeld ? renderGrowth(growth) : 'Only root can hold nodes to a part of a core: no growth was measured.',
      renderEngines(
        members.length,
        idle,
        costs.map((each) => each.engines),
      ),
    ].join('\n\n')
  } finally {
    await alone.stop()
    await cluster.stop()
    await redis.remove()
    shares.remove()
  }
}

/** What this process starts begins on the cores of the load. */
function moveToMeasured({ cores }: Machine, pid: number): void {
  if (cores !== null) execFileSync('taskset', ['-a', '-p', '-c', cores.measured, String(pid)], { stdio: 'ignore' })
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

/** In turns one of them would get the better seconds of the machine. */
async function measureCosts(
  bench: Bench,
  targets: readonly Target[],
  node: ClusterNode,
  engines: Engines,
): Promise<CostsTrial> {
  for (const { pid } of targets) await untilQuiet(pid, restTicks)
  const [before, begun] = [targets.map(({ pid }) => cpuMicros(pid)), await engines.read()]
  const loads = await playAll(bench, targets, bench.seconds)
  await shipped(node)
  for (const { pid } of targets) await untilQuiet(pid, restTicks)
  const micros = targets.map(
    ({ pid }, index) => (cpuMicros(pid) - (before[index] ?? 0)) / (loads[index]?.requests ?? 0),
  )
  return { micros, engines: await engines.since(begun, loads.at(-1)?.requests ?? 0) }
}

async function measureGrowth(bench: Bench, targets: readonly Target[], cluster: TestCluster): Promise<NodesTrial> {
  for (const { pid } of targets) await untilQuiet(pid, restTicks)
  const [records, begun] = [countRecords(cluster), performance.now()]
  const loads = await playAll(bench, targets, bench.seconds)
  for (const node of cluster.nodes) await shipped(node)
  const tookMs = performance.now() - begun
  return {
    perSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0),
    recordsPerSecond: ((countRecords(cluster) - records) / tookMs) * 1000,
  }
}

function countRecords({ postgres }: TestCluster): number {
  return Number(postgres.query('select count(*) from spgw.records'))
}

async function shipped({ gateway }: ClusterNode): Promise<void> {
  for (const until = performance.now() + quietMs; performance.now() < until; await sleep(50))
    if ((await gateway.admin.cluster.status({})).outbox?.records === 0) return
  throw new Error('a node does not get its records to PostgreSQL')
}

function renderCosts(rounds: readonly number[][]): string {
  const of = (index: number) => median(rounds.map((costs) => costs[index] ?? Number.NaN)).toFixed(0)
  // Within a round: from one to the next the machine changes more than the cluster costs.
  const ratios = rounds.map(([alone = Number.NaN, node = Number.NaN]) => node / alone)
  return renderTable(
    ['gateway', 'CPU µs a request', '÷ alone', 'each round'],
    [
      ['alone', of(0), '1.00', ''],
      ['a node of three', of(1), median(ratios).toFixed(2), ratios.map((ratio) => ratio.toFixed(2)).join(' ')],
    ],
  )
}

function renderGrowth(rounds: readonly NodesTrial[][]): string {
  const of = (index: number, read: (trial: NodesTrial) => number) =>
    median(rounds.flatMap((trials) => trials.slice(index, index + 1).map(read)))
  const rate = ({ perSecond }: NodesTrial) => perSecond
  const rows = names.map((_, index) => [
    `${index + 1}`,
    of(index, rate).toFixed(0),
    (of(index, rate) / of(0, rate)).toFixed(2),
    of(index, ({ recordsPerSecond }) => recordsPerSecond).toFixed(0),
  ])
  return renderTable([`nodes of ${share} cores each`, 'requests/s', '÷ one node', 'records/s into PostgreSQL'], rows)
}
