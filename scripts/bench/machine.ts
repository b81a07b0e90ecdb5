import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'

/** Programs that the bench uses where they are, by the Debian package that brings them. */
const programs = {
  gcc: 'gcc',
  nginx: 'nginx-light',
  taskset: 'util-linux',
  openssl: 'openssl',
  perf: 'linux-perf',
  python3: 'python3-venv',
} as const

export type Program = keyof typeof programs

export interface Machine {
  has: Record<Program, boolean>
  /** Cores of what is measured, and of mock and load; null where they cannot be told apart. */
  cores: { measured: string; load: string } | null
  description: string
}

export function readMachine(): Machine {
  const names = Object.keys(programs) as Program[]
  const has = Object.fromEntries(names.map((name) => [name, isThere(name)])) as Record<Program, boolean>
  const allowed = allowedCores()
  const cores = has.taskset && allowed.length > 1 ? { measured: allowed[0]!, load: allowed.slice(1).join(',') } : null
  const description = describeMachine()
  // The bench itself is load: what it starts inherits its cores unless told otherwise.
  if (cores !== null) execFileSync('taskset', ['-a', '-p', '-c', cores.load, String(process.pid)], { stdio: 'ignore' })
  return { has, cores, description }
}

/** What is missing, and what it costs. */
export function listMissing({ has, cores }: Machine): string[] {
  const losses: Partial<Record<Program, string>> = {
    nginx: 'nothing is compared with nginx, and no provider is reached over TLS',
    openssl: 'no provider is reached over TLS',
    python3: 'LiteLLM has no column',
    perf: 'a profile does not show the kernel and the engine',
  }
  const missing = Object.entries(losses).filter(([name]) => !has[name as Program])
  const lines = missing.map(([name, loss]) => `No ${name} (Debian: ${programs[name as Program]}): ${loss}.`)
  return cores === null ? [...lines, 'One core, or no taskset: load and target share their cores.'] : lines
}

function isThere(program: string): boolean {
  const places = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`
  return spawnSync('sh', ['-c', `command -v ${program}`], { env: { ...process.env, PATH: places } }).status === 0
}

function allowedCores(): string[] {
  try {
    const list = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
    return list.split(',').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => String(first + index))
    })
  } catch {
    return ['0']
  }
}

export function describeMachine(): string {
  const cores = allowedCores().length
  const memory = (totalmem() / 2 ** 30).toFixed(0)
  return `${cores} cores of ${cpus()[0]?.model.trim() ?? 'an unknown processor'}, ${memory} GiB, ${readSystem()}`
}

function readSystem(): string {
  const { stdout } = spawnSync('uname', ['-sr'], { encoding: 'utf8' })
  return stdout?.trim() || process.platform
}
