import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * How long a command takes, as a ratio to `node -e 0` of the Node that is packed into the executable: on a machine that
 * others use, both get slower together. `node scripts/bench/startup.ts [EXECUTABLE] [ROUNDS]`
 */
const executable = process.argv[2] ?? join(import.meta.dirname, '../../dist/spgw')
const rounds = Number(process.argv[3] ?? 25)
const aim = 3

const data = mkdtempSync(join(tmpdir(), 'startup-'))
const gateway = await serve()
try {
  for (const name of ['a', 'b', 'c']) run([executable, 'keys', 'create', '--name', name, '--data-dir', data])
  report(measure())
} finally {
  gateway.kill()
  rmSync(data, { recursive: true, force: true })
}

async function serve(): Promise<ChildProcess> {
  const addresses = ['--listen', '127.0.0.1:0', '--console-listen', '127.0.0.1:0']
  const child = spawn(executable, ['serve', '--data-dir', data, ...addresses], { stdio: 'ignore' })
  for (let left = 200; left > 0; left--) {
    if (spawnSync(executable, ['status', '--json', '--data-dir', data]).status === 0) return child
    await pause(50)
  }
  throw new Error('the gateway did not start')
}

function measure(): Map<string, number> {
  const commands: [name: string, command: string[]][] = [
    ['node -e 0', [process.execPath, '-e', '0']],
    ['spgw version', [executable, 'version']],
    ['spgw --help', [executable, '--help']],
    ['spgw keys list', [executable, 'keys', 'list', '--data-dir', data]],
  ]
  const times = new Map(commands.map(([name]) => [name, [] as number[]]))
  // In turns, so that a slow moment of the machine is everybody's.
  for (let round = 0; round < rounds; round++) {
    for (const [name, command] of commands) times.get(name)?.push(run(command))
  }
  return new Map([...times].map(([name, each]) => [name, median(each)]))
}

function run([command = '', ...flags]: string[]): number {
  const start = performance.now()
  const { status } = spawnSync(command, flags, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`${command} ${flags.join(' ')} ended with ${status}`)
  return performance.now() - start
}

function median(times: number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0
}

function report(medians: Map<string, number>): void {
  const base = medians.get('node -e 0') ?? 1
  const lines = [...medians].map(([name, time]) => {
    const ratio = time / base
    const verdict = name === 'node -e 0' ? '' : ratio <= aim ? '  aim met' : `  over ${aim}`
    return `${name.padEnd(16)} ${time.toFixed(0).padStart(5)} ms  ${ratio.toFixed(2).padStart(5)} ×${verdict}`
  })
  const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0]
  process.stdout.write(`${lines.join('\n')}\nmedians of ${rounds} rounds; load ${load}\n`)
}
