import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Machine } from './machine.ts'

const running = new Set<ChildProcess>()

export interface ChildOptions {
  /** On the cores of what is measured, on the load's, or on all of them. */
  place: 'measured' | 'load' | 'all'
  directory?: string
  environment?: NodeJS.ProcessEnv
}

/** Starts a program on its cores; it ends with the bench, however that ends. */
export function start(machine: Machine, command: string[], options: ChildOptions): ChildProcess {
  const { cores } = machine
  const list = cores && { measured: cores.measured, load: cores.load, all: `${cores.measured},${cores.load}` }
  // taskset becomes the program, so that the child's pid is the program's.
  const [program = '', ...words] = list ? ['taskset', '-c', list[options.place], ...command] : command
  const child = spawn(program, words, {
    cwd: options.directory,
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin`, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  child.once('error', () => running.delete(child))
  return child
}

/** Everything that it prints until it ends. Throws when it fails. */
export async function run(machine: Machine, command: string[], options: ChildOptions): Promise<string> {
  const child = start(machine, command, options)
  let output = ''
  child.stdout?.on('data', (bytes) => (output += bytes))
  child.stderr?.on('data', (bytes) => (output += bytes))
  const status = await new Promise((resolve) => child.once('close', resolve).once('error', resolve))
  if (status !== 0) throw new Error(`${command.slice(0, 3).join(' ')} failed (${status}): ${output.slice(-600)}`)
  return output
}

export async function stop(child: ChildProcess, graceMs = 10_000): Promise<void> {
  if (!running.has(child)) return
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await exited
  clearTimeout(timer)
}

/** No child outlives the bench: not after a fault, not after Ctrl-C. */
export function endChildrenWithUs(): void {
  process.on('exit', () => {
    for (const child of running) child.kill('SIGKILL')
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
}

const tickMicros = 10_000
const quietLimitMs = 20_000

/** Processor time in microseconds, as the operating system counts it. */
export interface CpuTime {
  user: number
  system: number
}

/** What the whole process has used, all threads, those that have ended too. */
export function cpuTime(pid: number): CpuTime {
  return readStat(`/proc/${pid}/stat`)
}

export function cpuMicros(pid: number): number {
  const { user, system } = cpuTime(pid)
  return user + system
}

/** What each living thread has used, by its name; those of one name together. */
export function threadTimes(pid: number): Map<string, CpuTime> {
  const times = new Map<string, CpuTime>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const place = `/proc/${pid}/task/${thread}`
    // Newer Nodes put their name before that of V8's threads.
    const name = readFileSync(`${place}/comm`, 'utf8')
      .trim()
      .replace(/^node-/, '')
    const before = times.get(name) ?? { user: 0, system: 0 }
    const more = readStat(`${place}/stat`)
    times.set(name, { user: before.user + more.user, system: before.system + more.system })
  }
  return times
}

/** For how long threads of this name have been ready to run without a core to run on, in milliseconds. */
export function waitedMs(pid: number, thread: string): number {
  let nanoseconds = 0
  for (const each of readdirSync(`/proc/${pid}/task`)) {
    const place = `/proc/${pid}/task/${each}`
    if (readFileSync(`${place}/comm`, 'utf8').trim() !== thread) continue
    nanoseconds += Number(readFileSync(`${place}/schedstat`, 'utf8').split(' ')[1])
  }
  return nanoseconds / 1e6
}

function readStat(path: string): CpuTime {
  const stat = readFileSync(path, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { user: Number(fields[11]) * tickMicros, system: Number(fields[12]) * tickMicros }
}

/** Resident memory in bytes. */
export function residentBytes(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

/**
 * Waits until work that was put off, as records on their way into the store, is done too: it belongs to the cost.
 * `restTicks`: what the process uses in 300 ms when it has nothing to do.
 */
export async function untilQuiet(pid: number, restTicks = 1): Promise<void> {
  const end = performance.now() + quietLimitMs
  for (let before = cpuMicros(pid); ; ) {
    await sleep(300)
    const now = cpuMicros(pid)
    if (now - before <= restTicks * tickMicros) return
    if (performance.now() > end) throw new Error(`still busy ${quietLimitMs / 1000} s after the load`)
    before = now
  }
}
