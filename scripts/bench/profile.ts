import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { threadTimes, untilQuiet } from './children.ts'
import { loads, type PieceLoad } from './loads.ts'
import { nameCode, sampleThreads } from './perf.ts'
import { renderSamples } from './perf-report.ts'
import { type CpuProfile, nameThread, renderProfile, renderThreads } from './profile-report.ts'
import { prepareSpgw } from './spgw.ts'
import type { Bench, Target } from './target.ts'

const root = join(import.meta.dirname, '../..')
/** What the profiler itself uses in 300 ms. */
const profilerTicks = 10

/** Runs each load on gateways of their own under profilers, and prints for each thread where its time went. */
export async function profile(bench: Bench, names: readonly string[]): Promise<number> {
  for (const name of names) {
    process.stdout.write(`\n# ${name}\n`)
    await profileLoad(bench, name, loads[name]!)
    if (bench.machine.has.perf) await sampleLoad(bench, loads[name]!)
  }
  return 0
}

async function profileLoad(bench: Bench, title: string, { unit, play }: PieceLoad): Promise<void> {
  const output = await mkdtemp(join(bench.directory, 'profile-'))
  const target = await startWarm(bench, play, `--cpu-prof --cpu-prof-dir=${output} --cpu-prof-interval=500`)
  // What starting costs, type stripping above all, is left out.
  const from = Number(process.hrtime.bigint() / 1000n)
  const before = threadTimes(target.pid)
  const count = await play(bench, target, bench.seconds)
  await untilQuiet(target.pid, profilerTicks)
  process.stdout.write(`\n${renderThreads(before, threadTimes(target.pid), count, unit)}\n`)
  await target.stop()
  const files = await readdir(output)
  if (files.length === 0) throw new Error('the gateway left no profile when it was stopped')
  for (const file of files) {
    const read: CpuProfile = JSON.parse(await readFile(join(output, file), 'utf8'))
    process.stdout.write(`\n## ${title}: ${nameThread(read)}\n\n${renderProfile(read, from, count, unit)}\n`)
  }
}

async function sampleLoad(bench: Bench, { unit, play }: PieceLoad): Promise<void> {
  const target = await startWarm(bench, play, nameCode)
  const before = threadTimes(target.pid)
  const { samples, result: count } = await sampleThreads(bench, target.pid, async () => {
    const pieces = await play(bench, target, bench.seconds)
    await untilQuiet(target.pid)
    return pieces
  })
  const after = threadTimes(target.pid)
  const total = (time = { user: 0, system: 0 }) => time.user + time.system
  const microsOf = (thread: string) => (total(after.get(thread)) - total(before.get(thread))) / count
  process.stdout.write(`\n${renderSamples(samples, microsOf, unit)}\n`)
  await target.stop()
}

async function startWarm(bench: Bench, play: PieceLoad['play'], nodeOptions: string): Promise<Target> {
  const command = bench.executable === '' ? [process.execPath, join(root, 'src/main.ts')] : [bench.executable]
  const begin = await prepareSpgw({ ...bench, command, nodeOptions, name: 'spgw' })
  const target = await begin()
  await play(bench, target, bench.warmUpSeconds)
  await untilQuiet(target.pid, profilerTicks)
  return target
}
