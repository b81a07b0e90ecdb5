import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chatCall } from './calls.ts'
import { threadTimes, untilQuiet } from './children.ts'
import { drive } from './load.ts'
import type { Machine } from './machine.ts'
import type { Mock } from './mock.ts'
import { playStreams } from './parts/streams.ts'
import { type CpuProfile, nameThread, renderProfile, renderThreads } from './profile-report.ts'
import { prepareSpgw } from './spgw.ts'
import type { Bench, Target } from './target.ts'

const root = join(import.meta.dirname, '../..')
/** What the profiler itself uses in 300 ms. */
const profilerTicks = 10

interface ProfileOptions {
  machine: Machine
  mock: Mock
  directory: string
  seconds: number
}

/** Runs two loads, each on a gateway of its own under V8's profiler, and prints for each thread where its time went. */
export async function profile(options: ProfileOptions): Promise<number> {
  const { machine, mock, directory, seconds } = options
  const direct = { name: 'direct' as const, port: mock.port, headers: {}, pid: 0, readyMs: 0, stop: async () => {} }
  const bench: Bench = { machine, mock, directory, seconds, direct, tlsPort: null, starters: {} }
  await profileLoad(options, 'small requests', 'request', async (target) => {
    return (await drive(bench, target, chatCall('bench-small'), 32, seconds)).requests
  })
  await profileLoad(options, '300 streams', 'chunk', async (target) => {
    await playStreams(target, 300, 100, 50)
    return 30_000
  })
  return 0
}

async function profileLoad(
  { machine, mock, directory }: ProfileOptions,
  title: string,
  unit: string,
  load: (target: Target) => Promise<number>,
): Promise<void> {
  const output = await mkdtemp(join(directory, 'profile-'))
  const nodeOptions = `--cpu-prof --cpu-prof-dir=${output} --cpu-prof-interval=500`
  // From source, not from the bundle: the same code, and every function has its file and line.
  const command = [process.execPath, join(root, 'src/main.ts')]
  const begin = await prepareSpgw({ machine, mock, tls: null, directory, command, nodeOptions, name: 'spgw' })
  const target = await begin()
  // What starting costs, type stripping above all, is left out.
  const from = Number(process.hrtime.bigint() / 1000n)
  const before = threadTimes(target.pid)
  const count = await load(target)
  await untilQuiet(target.pid, profilerTicks)
  process.stdout.write(`\n# ${title}\n\n${renderThreads(before, threadTimes(target.pid), count, unit)}\n`)
  await target.stop()
  for (const file of await readdir(output)) {
    const read: CpuProfile = JSON.parse(await readFile(join(output, file), 'utf8'))
    process.stdout.write(`\n## ${title}: ${nameThread(read)}\n\n${renderProfile(read, from, count, unit)}\n`)
  }
}
