import { type CpuTime, cpuTime, threadTimes, untilQuiet } from './children.ts'
import { loads, type PieceLoad } from './loads.ts'
import { renderTable } from './report.ts'
import { median } from './statistics.ts'
import type { Bench, Target, TargetName } from './target.ts'

/** A program in C needs no warming up, and a second of it is some ten thousand requests. */
const rivalSeconds = 1

/** Microseconds a piece: of the whole process, split in two ways. */
interface Cost {
  total: number
  user: number
  system: number
  perSecond: number
  threads: Map<string, number>
}

interface Contestant {
  title: string
  target: Target
  load: PieceLoad
}

/**
 * The loop of daily work: one load on the gateway and its rivals in turns, `rounds` times within seconds of one another, and
 * what each thread used. Each target is started once, so that its code is warm. A load that is compared with the same load without
 * something goes to the same process, in turns that change their order: of two processes one has compiled more than the other
 * when the rounds begin, and both fight for the caches of one core. Returns the text to print.
 */
export async function measureCpu(bench: Bench, name: string, rounds: number): Promise<string> {
  const load = loads[name]
  if (load === undefined) throw new Error(`no load ${name}: ${Object.keys(loads).join(', ')}`)
  const contestants: Contestant[] = []
  const costs = new Map<string, Cost[]>()
  const other = load.against === undefined ? undefined : loads[load.against]
  try {
    for (const [each, begin] of Object.entries(bench.starters) as [TargetName, () => Promise<Target>][]) {
      if (load.without?.includes(each) || (other !== undefined && isRival(each))) continue
      const target = await begin()
      contestants.push({ title: each, target, load })
      if (other !== undefined) contestants.push({ title: each + without, target, load: other })
    }
    for (const { target, load } of contestants)
      await load.play(bench, target, isRival(target.name) ? rivalSeconds : bench.warmUpSeconds)
    for (let round = 0; round < rounds; round++)
      for (const each of round % 2 === 0 ? contestants : contestants.toReversed())
        costs.set(each.title, [...(costs.get(each.title) ?? []), await measureOnce(bench, each)])
  } finally {
    for (const target of new Set(contestants.map(({ target }) => target))) await target.stop()
  }
  return render(name, load.unit, costs)
}

const without = ' without'

async function measureOnce(bench: Bench, { target, load }: Contestant): Promise<Cost> {
  await untilQuiet(target.pid)
  const cost = startMeter(target.pid)
  const begun = performance.now()
  const isShort = target.name === 'nginx' && load.unit === 'request'
  const pieces = await load.play(bench, target, isShort ? rivalSeconds : bench.seconds)
  const tookMs = performance.now() - begun
  await untilQuiet(target.pid)
  return cost(pieces, tookMs)
}

/** Returns what tells the cost of so many pieces since then. */
function startMeter(pid: number): (pieces: number, tookMs: number) => Cost {
  const [before, threadsBefore] = [cpuTime(pid), threadTimes(pid)]
  return (pieces, tookMs) => {
    const after = cpuTime(pid)
    const user = (after.user - before.user) / pieces
    const system = (after.system - before.system) / pieces
    const threads = [...threadTimes(pid)].map(([name, time]): [string, number] => {
      return [name, (sum(time) - sum(threadsBefore.get(name))) / pieces]
    })
    return { total: user + system, user, system, perSecond: (pieces / tookMs) * 1000, threads: new Map(threads) }
  }
}

function isRival(name: string): boolean {
  return name === 'nginx' || name === 'portkey'
}

function sum(time: CpuTime = { user: 0, system: 0 }): number {
  return time.user + time.system
}

function render(name: string, unit: string, costs: ReadonlyMap<string, Cost[]>): string {
  const targets = [...costs.keys()]
  const of = (target: string, read: (cost: Cost) => number) => median((costs.get(target) ?? []).map(read))
  const floor = of('nginx', ({ total }) => total)
  const row = (title: string, read: (cost: Cost) => number, digits: number) => [
    title,
    ...targets.map((target) => show(of(target, read), digits)),
  ]
  const rows = [
    row(`CPU µs a ${unit}`, ({ total }) => total, 1),
    row('  of it in user code', ({ user }) => user, 1),
    row('  of it in the kernel', ({ system }) => system, 1),
    row(`${unit}s a second`, ({ perSecond }) => perSecond, 0),
    ...(Number.isNaN(floor) ? [] : [row('CPU ÷ nginx', ({ total }) => total / floor, 2)]),
    ...(targets.some((target) => target.endsWith(without)) ? [ratios(targets, costs)] : []),
    ['CPU of each round', ...targets.map((target) => showAll(costs.get(target)))],
    ...threadNames(costs).map((thread) =>
      row(`thread ${thread}`, ({ threads }) => threads.get(thread) ?? Number.NaN, 1),
    ),
  ]
  return renderTable([name, ...targets], rows)
}

/** Median over the rounds. */
function ratios(targets: readonly string[], costs: ReadonlyMap<string, Cost[]>): string[] {
  const ratio = (target: string) => {
    const plain = costs.get(target + without)
    const each = (costs.get(target) ?? []).map(({ total }, round) => total / (plain?.[round]?.total ?? Number.NaN))
    return plain === undefined ? '' : median(each).toFixed(3)
  }
  return ['CPU ÷ without', ...targets.map(ratio)]
}

function threadNames(costs: ReadonlyMap<string, Cost[]>): string[] {
  const used = new Map<string, number>()
  for (const { threads } of [...costs.values()].flat())
    for (const [name, micros] of threads) used.set(name, Math.max(micros, used.get(name) ?? 0))
  return [...used]
    .filter(([, micros]) => micros >= 0.05)
    .sort(([, a], [, b]) => b - a)
    .map(([name]) => name)
}

function showAll(costs: Cost[] = []): string {
  return costs.map(({ total }) => total.toFixed(1)).join(' ')
}

function show(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–'
}
