import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bundle } from '../../bundle.ts'
import { packageExecutable } from '../../package.ts'
import { readFlags } from '../../read-flags.ts'
import { endChildrenWithUs, untilQuiet } from '../children.ts'
import { newAgent } from '../client.ts'
import { writeDocument } from '../document.ts'
import { readMachine } from '../machine.ts'
import { startMock } from '../mock.ts'
import { compile } from '../native.ts'
import { prepareSpgw, type SpgwTarget } from '../spgw.ts'
import { type Bench, directTarget } from '../target.ts'
import { checkedBefore, gatherActors } from './actors.ts'
import { requestsPerChange, startOperator } from './changes.ts'
import { Crowd } from './crowd.ts'
import { HeapWatch } from './heap-watch.ts'
import { listGrowing, renderPace, renderTallies, renderWatched } from './report.ts'
import { readMetrics, type Sample, takeSample } from './sample.ts'

const place = join(import.meta.dirname, '../../../.build/bench')
const everyMs = 10_000
/** So short that the store must remove records while we watch. */
const retention = '5m'
/** What a client's connection, a cache or a heap needs to be given back. */
const restMs = 20_000

const help = `npm run soak [-- FLAGS]

Puts one gateway under mixed load for a while, with an operator who changes things meanwhile, and prints what grew under it.
Needs a C compiler.

  --minutes N        length of the load (30)
  --threads N        data-plane threads (1)
  --executable FILE  soak this one instead of packaging the tree
  --heap             soak the bundle instead, under Node, and look at the heap of each thread after full collections
  --write            put the result into docs/performance.md
`

async function main(): Promise<number> {
  const { values } = readFlags(help, {
    options: {
      minutes: { type: 'string', default: '30' },
      threads: { type: 'string', default: '1' },
      executable: { type: 'string' },
      heap: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  })
  endChildrenWithUs()
  const machine = readMachine()
  await mkdir(place, { recursive: true })
  const directory = await mkdtemp(join(place, 'soak-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  const mock = await startMock(machine, directory)
  const bench: Bench = {
    machine,
    mock,
    directory,
    tls: null,
    loadProgram: await compile(machine, directory, 'load'),
    direct: directTarget(mock),
    executable: resolve(values.executable ?? (await packageExecutable(join(place, 'spgw-measured')))),
    starters: {},
    seconds: 0,
    warmUpSeconds: 0,
  }
  const heaps = new HeapWatch()
  const begin = await prepareSpgw({
    ...bench,
    name: 'spgw',
    command: [bench.executable],
    ...(values.heap && { serveCommand: await traceCollections(directory) }),
    onLine: (line) => heaps.read(line),
  })
  const target = await begin({ threads: Number(values.threads), settings: { SPGW_RECORDS_RETENTION: retention } })
  const title = `${new Date().toISOString().slice(0, 10)}, ${machine.description}; ${values.minutes} minutes, ${values.threads} data-plane thread(s), records kept for ${retention}`
  const { tables, good } = await soak(bench, target, heaps, Number(values.minutes) * 60_000)
  process.stdout.write(`\n${title}\n\n${tables.join('\n\n')}\n`)
  if (values.write) await writeDocument('soak', title, tables)
  await target.stop()
  return good ? 0 : 1
}

async function traceCollections(directory: string): Promise<string[]> {
  const output = join(directory, 'bundle')
  await bundle(output)
  return [process.execPath, '--trace-gc', join(output, 'main.js')]
}

async function soak(
  bench: Bench,
  target: SpgwTarget,
  heaps: HeapWatch,
  lengthMs: number,
): Promise<{ tables: string[]; good: boolean }> {
  const begun = performance.now()
  const before = await takeSample(bench, target, heaps, begun, 2000)
  const agent = newAgent()
  const crowd = new Crowd(await gatherActors(agent, target))
  const operator = startOperator(target)
  const samples: Sample[] = []
  const loadBegun = performance.now()
  while (performance.now() - loadBegun < lengthMs) {
    const sample = await takeSample(bench, target, heaps, begun, everyMs)
    samples.push(sample)
    showProgress(sample, crowd, operator.rounds)
    await writeFile(join(place, 'soak.json'), JSON.stringify({ before, samples, tallies: crowd.tallies }))
  }
  await operator.stop()
  await crowd.stop()
  agent.destroy()
  const loadSeconds = (performance.now() - loadBegun) / 1000
  await untilQuiet(target.pid)
  await sleep(restMs)
  const after = await takeSample(bench, target, heaps, begun, 2000)
  const metrics = await readMetrics(target)
  const growing = listGrowing(samples)
  // The checks before the load, and a key that was made and revoked in each round of changes, are requests too.
  const sent = crowd.done + crowd.wrong + checkedBefore + operator.rounds * requestsPerChange
  const counted = metrics('spgw_requests_total')
  const tables = [
    renderWatched(before, samples, after),
    renderPace(samples, sent / loadSeconds),
    renderTallies(crowd.tallies),
    `${show(sent)} requests sent, ${show(counted)} counted by the gateway. ${operator.rounds} rounds of changes through the command ` +
      `line; ${show(operator.linesRead)} lines read by who follows the requests. Grows: ${growing.join(', ') || 'nothing'}.`,
  ]
  const faults = [
    ...crowd.tallies.flatMap(({ name, firstFault }) => (firstFault ? [`${name}: ${firstFault}`] : [])),
    ...operator.faults,
    ...(sent === counted ? [] : [`the gateway counted ${counted} requests of ${sent}`]),
  ]
  for (const fault of faults) process.stdout.write(`\nfault: ${fault}\n`)
  return { tables, good: growing.length === 0 && faults.length === 0 }
}

function show(count: number): string {
  return count.toLocaleString('en-US')
}

function showProgress(sample: Sample, crowd: Crowd, rounds: number): void {
  const figures = [
    `${(sample.atMs / 1000).toFixed(0).padStart(5)} s`,
    `${(sample.residentBytes / 1e6).toFixed(0)} MB`,
    `heap ${(sample.heapBytes / 1e6).toFixed(0)} MB`,
    `${sample.descriptors} fds`,
    `journal ${(sample.journalBytes / 1e6).toFixed(1)} MB`,
    `db ${(sample.databaseBytes / 1e6).toFixed(1)} + ${(sample.walBytes / 1e6).toFixed(1)} MB`,
    `lag ${sample.lagMs.toFixed(0)} ms`,
    `loop p99 ${sample.probeP99Ms.toFixed(1)} ms`,
    `${crowd.done} done, ${crowd.wrong} wrong, ${crowd.open} open, ${rounds} changes`,
  ]
  process.stderr.write(`${figures.join('  ')}\n`)
}

process.exit(await main())
