import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { threadTimes, untilQuiet } from './children.ts'
import { loads, type PieceLoad } from './loads.ts'
import { type CpuProfile, nameThread, renderProfile, renderThreads } from './profile-report.ts'
import { prepareSpgw } from './spgw.ts'
import type { Bench } from './target.ts'

const root = join(import.meta.dirname, '../..')
/** What the profiler itself uses in 300 ms. */
const profilerTicks = 10

/** Runs each load on a gateway of its own under V8's profiler, and prints for each thread where its time went. */
export async function profile(bench: Bench, names: readonly string[]): Promise<number> {
  for (const name of names) await profileLoad(bench, name, loads[name]!)
  return 0
}

async function profileLoad(bench: Bench, title: string, { unit, play }: PieceLoad): Promise<void> {
  const output = await mkdtemp(join(bench.directory, 'profile-'))
  const nodeOptions = `--cpu-prof --cpu-prof-dir=${output} --cpu-prof-interval=500`
  // From source, not from the bundle: the same code, and every function has its file and line.
  const command = [process.execPath, join(root, 'src/main.ts')]
  const begin = await prepareSpgw({ ...bench, command, nodeOptions, name: 'spgw' })
  const target = await begin()
  await play(bench, target, bench.warmUpSeconds)
  await untilQuiet(target.pid, profilerTicks)
  // What starting costs, type stripping above all, is left out.
  const from = Number(process.hrtime.bigint() / 1000n)
  const before = threadTimes(target.pid)
  const count = await play(bench, target, bench.seconds)
  await untilQuiet(target.pid, profilerTicks)
  process.stdout.write(`\n# ${title}\n\n${renderThreads(before, threadTimes(target.pid), count, unit)}\n`)
  await target.stop()
  for (const file of await readdir(output)) {
    const read: CpuProfile = JSON.parse(await readFile(join(output, file), 'utf8'))
    process.stdout.write(`\n## ${title}: ${nameThread(read)}\n\n${renderProfile(read, from, count, unit)}\n`)
  }
}
