import type { ChildProcess } from 'node:child_process'
import { cpSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type BenchKey, benchKeys, type Call } from './calls.ts'
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
  const keys = await createKeys(runCommand, directory)
  await serving.stop()
  return async (start) => {
    const data = await mkdtemp(join(directory, 'data-'))
    cpSync(template, data, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    const surroundings = {
      ...environment,
      ...start?.settings,
      ...(options.nodeOptions && { NODE_OPTIONS: options.nodeOptions }),
    }
    const target = await serve(options, data, surroundings, keys, start ?? {})
    const end = async () => {
      await target.stop()
      await rm(data, { recursive: true, force: true })
    }
    return { ...target, stop: end }
  }
}

type Keys = Readonly<Record<BenchKey | 'plain', string>>

/** The keys of the loads. Each has a project of its own, so that what one is limited by is none of the others'. */
async function createKeys(run: (line: string) => Promise<string>, directory: string): Promise<Keys> {
  const create = async (name: string, more: string) =>
    /sp_live_\w+/.exec(await run(`keys create --name ${name} --policy bench --json${more}`))?.[0] ?? ''
  const keys: Record<BenchKey | 'plain', string> = {
    plain: await create('bench', ''),
    limited: '',
    screened: '',
    everything: '',
  }
  // An older executable that is measured beside has none, and takes part in the loads of the plain key alone.
  const hasPrices = await run('prices list --json').then(
    () => true,
    () => false,
  )
  if (!hasPrices) return keys
  await run('prices set bench-small --input 1 --output 2 --max-output 4000')
  const screen = join(directory, 'secrets.json')
  const rules = [{ name: 'secrets', detector: 'secrets', action: 'redact', on: ['prompt', 'answer'] }]
  await writeFile(screen, JSON.stringify({ rules }))
  for (const name of benchKeys) {
    await run(`projects add ${name}`)
    await run(`environments add production --project ${name}`)
    await run(`routes add bench-* --provider openai --project ${name}`)
    keys[name] = await create(name, ` --project ${name}`)
  }
  for (const name of ['limited', 'everything']) {
    const place = `${name}/production`
    await run(
      `policies add ${name}-project --rpm ${wider} --tpm ${wider} --budget-usd-month ${wide} --attach project:${name}`,
    )
    await run(
      `policies add ${name}-environment --concurrency ${wide} --budget-usd-day ${wide} --attach environment:${place}`,
    )
    const own = `--rpm ${wider} --tpm ${wider} --concurrency ${wide}`
    await run(`policies add ${name}-key ${own} --unpriced 1 --attach key:${place}/${name}`)
  }
  for (const name of ['screened', 'everything'])
    await run(`policies add ${name}-text --content-rule ${screen} --attach project:${name}`)
  const all =
    '--address 127.0.0.0/8 --hours 00:00-24:00 --lane openai --deny-model bad-* --max-output-tokens 4000 --cap-output'
  await run(`policies add everything-else ${all} --attach project:everything`)
  return keys
}

/** So that nothing is ever refused. */
const wide = 1_000_000
const wider = 1_000_000_000

async function serve(
  { machine, command, serveCommand = command, onLine, name }: SpgwOptions,
  data: string,
  environment: NodeJS.ProcessEnv,
  keys: Partial<Keys>,
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
  const reach = ({ path, key }: Call) => ({ port, path, headers: { authorization: `Bearer ${keys[key ?? 'plain']}` } })
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
