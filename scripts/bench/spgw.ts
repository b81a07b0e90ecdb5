import type { ChildProcess } from 'node:child_process'
import { cpSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Call } from './calls.ts'
import { type ChildOptions, run, start, stop } from './children.ts'
import type { Machine } from './machine.ts'
import type { Mock } from './mock.ts'
import type { TlsFront } from './nginx.ts'
import { freePort, type StartOptions, type Target, type TargetName, untilReady } from './target.ts'

export interface SpgwOptions {
  machine: Machine
  mock: Pick<Mock, 'port'>
  tls: TlsFront | null
  directory: string
  /** The executable, or Node and the main file. */
  command: string[]
  /** Options of Node's for `serve` alone. */
  nodeOptions?: string
  /** For `serve` alone, instead of `command`. */
  serveCommand?: string[]
  /** Each line that `serve` prints. */
  onLine?(line: string): void
  name: TargetName
}

/** A gateway of ours, and the way to what else than traffic it has. */
export interface SpgwTarget extends Target {
  data: string
  port: number
  consolePort: number
  /** Runs a command against it, as an operator would, and returns what it prints. */
  runCommand(line: string, place?: ChildOptions['place']): Promise<string>
  /** A command that runs until it is stopped. */
  follow(line: string): ChildProcess
}

/** Starts a gateway with more settings, as environment variables, than the bench's own. */
export type SpgwStarter = (start?: StartOptions & { settings?: NodeJS.ProcessEnv }) => Promise<SpgwTarget>

/**
 * Sets a gateway up once, as an operator would, with the executable alone; each start then works on a copy of that data
 * directory, so that no trial carries the records of the one before. Everything is on: key, policy, journal, records.
 */
export async function prepareSpgw(options: SpgwOptions): Promise<SpgwStarter> {
  const { directory, mock, tls } = options
  const template = await mkdtemp(join(directory, 'template-'))
  const environment = {
    BENCH_CREDENTIAL: 'sk-bench',
    ...(tls === null ? {} : { NODE_EXTRA_CA_CERTS: tls.certificate }),
  }
  const serving = await serve(options, template, environment, {}, {})
  // On all cores: nothing is measured yet.
  const runCommand = (line: string) => serving.runCommand(line, 'all')
  const addProvider = (name: string, kind: string, url: string) =>
    runCommand(`providers add ${name} --kind ${kind} --base-url ${url} --credential-env BENCH_CREDENTIAL --skip-check`)
  const origin = `http://127.0.0.1:${mock.port}`
  const front = tls === null ? [] : ['tls']
  await Promise.all([
    addProvider('openai', 'openai', `${origin}/v1`),
    addProvider('busy', 'openai', `${origin}/v1`),
    addProvider('flaky', 'openai', `${origin}/v1`),
    addProvider('anthropic', 'anthropic', origin),
    addProvider('gemini', 'gemini', origin),
    ...front.map((name) => addProvider(name, 'openai', `https://127.0.0.1:${tls?.port}/v1`)),
    runCommand(`policies add bench --allow-model bench-*,anthropic-*,gemini-*,tls-* --max-body 20MB`),
  ])
  await Promise.all([
    runCommand('routes add bench-* --provider openai'),
    runCommand('routes add bench-busy* --provider busy'),
    runCommand('routes add bench-flaky --provider flaky --retries 2'),
    ...['anthropic', 'gemini', ...front].map((name) => runCommand(`routes add ${name}-* --provider ${name}`)),
  ])
  const created = await runCommand('keys create --name bench --policy bench --json')
  const key = /sp_live_\w+/.exec(created)?.[0] ?? ''
  await serving.stop()
  return async (start) => {
    const data = await mkdtemp(join(directory, 'data-'))
    cpSync(template, data, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    const surroundings = {
      ...environment,
      ...start?.settings,
      ...(options.nodeOptions && { NODE_OPTIONS: options.nodeOptions }),
    }
    const target = await serve(options, data, surroundings, { authorization: `Bearer ${key}` }, start ?? {})
    const end = async () => {
      await target.stop()
      await rm(data, { recursive: true, force: true })
    }
    return { ...target, stop: end }
  }
}

async function serve(
  { machine, command, serveCommand = command, onLine, name }: SpgwOptions,
  data: string,
  environment: NodeJS.ProcessEnv,
  headers: Record<string, string>,
  { threads = 1, spread = false }: StartOptions,
): Promise<SpgwTarget> {
  const [port, consolePort] = [await freePort(), await freePort()]
  const begun = performance.now()
  const words = [
    'serve',
    '--data-dir',
    data,
    '--listen',
    `127.0.0.1:${port}`,
    '--console-listen',
    `127.0.0.1:${consolePort}`,
  ]
  const child = start(machine, [...serveCommand, ...words], {
    place: spread ? 'all' : 'measured',
    environment: { ...environment, SPGW_GATEWAY_WORKERS: String(threads), SPGW_LOG_LEVEL: 'warn' },
  })
  createInterface({ input: child.stdout! }).on('line', (line) => onLine?.(line))
  const readyMs = await untilReady(child, `http://127.0.0.1:${port}/readyz`, begun)
  const reach = ({ path }: Call) => ({ port, path, headers })
  const commandFor = (line: string) => [...command, ...line.split(' '), '--data-dir', data, '--yes']
  const runCommand: SpgwTarget['runCommand'] = (line, place = 'load') =>
    run(machine, commandFor(line), { place, environment })
  const follow = (line: string) => start(machine, commandFor(line), { place: 'load', environment })
  return {
    name,
    reach,
    pid: child.pid ?? 0,
    readyMs,
    data,
    port,
    consolePort,
    runCommand,
    follow,
    stop: () => stop(child),
  }
}
