import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'

/*
 * `npm run check:clients [-- --directory DIR] [NAME…]`: asks the packaged gateway's demo provider one question with each
 * real client, in its current version, after `connect --write` has made its settings. Installs what is missing below the
 * directory, which takes gigabytes and the network: so it is no part of `npm test`.
 */

interface TriedClient {
  /** npm's name, or `pip:` and PyPI's. */
  package: string
  command: readonly string[]
  environment?: Readonly<Record<string, string>>
}

/** Those whose settings hold a key are asked with another one exported, which must not win. */
const clients: Readonly<Record<string, TriedClient>> = {
  'claude-code': {
    package: '@anthropic-ai/claude-code',
    command: ['claude', '-p', 'hello'],
    environment: { ANTHROPIC_API_KEY: 'sk-ant-exported' },
  },
  codex: { package: '@openai/codex', command: ['codex', 'exec', '--skip-git-repo-check', 'hello'] },
  'gemini-cli': {
    package: '@google/gemini-cli',
    command: ['gemini', '-p', 'hello'],
    environment: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
  opencode: { package: 'opencode-ai', command: ['opencode', 'run', 'hello'] },
  'qwen-code': { package: '@qwen-code/qwen-code', command: ['qwen', '-p', 'hello'] },
  pi: { package: '@mariozechner/pi-coding-agent', command: ['pi', '-p', 'hello'] },
  aider: {
    package: 'pip:aider-chat',
    command: [
      ...['aider', '--message', 'hello', '--yes-always', '--no-git', '--no-stream', '--map-tokens', '0'],
      ...['--no-check-update', '--no-show-model-warnings', '--no-show-release-notes', '--no-analytics'],
    ],
  },
  continue: { package: '@continuedev/cli', command: ['cn', '-p', 'hello'] },
  llm: { package: 'pip:llm', command: ['llm', 'hello'] },
}

const run = promisify(execFile)
const { values, positionals } = parseArgs({ options: { directory: { type: 'string' } }, allowPositionals: true })
const directory = resolve(values.directory ?? '.build/clients')
const executable = resolve('dist/spgw')
const longestMs = 180_000

/** Where the client's programs are, once it is installed. */
async function install(name: string, { package: wanted }: TriedClient): Promise<string> {
  const place = join(directory, name)
  const programs = join(place, wanted.startsWith('pip:') ? 'bin' : 'node_modules/.bin')
  if (existsSync(programs)) return programs
  mkdirSync(place, { recursive: true })
  process.stdout.write(`Installing ${wanted} …\n`)
  if (wanted.startsWith('pip:')) {
    await run('python3', ['-m', 'venv', place])
    await run(join(programs, 'pip'), ['install', '--quiet', wanted.slice(4)])
  } else await run('npm', ['install', '--prefix', place, '--no-audit', '--no-fund', '--loglevel=error', wanted])
  return programs
}

async function versionOf(name: string, programs: string, wanted: string): Promise<string> {
  if (wanted.startsWith('pip:')) {
    const { stdout } = await run(join(programs, 'pip'), ['show', wanted.slice(4)])
    return /^Version: (.*)$/m.exec(stdout)?.[1] ?? 'unknown'
  }
  const manifest: unknown = JSON.parse(
    readFileSync(join(directory, name, 'node_modules', wanted, 'package.json'), 'utf8'),
  )
  return String(Reflect.get(Object(manifest), 'version'))
}

interface Stage {
  home: string
  environment: NodeJS.ProcessEnv
  gateway: ChildProcess
}

async function startGateway(): Promise<Stage> {
  const home = mkdtempSync(join(tmpdir(), 'spgw-clients-'))
  const environment = {
    PATH: process.env.PATH,
    HOME: home,
    SPGW_DATA_DIR: join(home, 'data'),
    SPGW_GATEWAY_LISTEN: '127.0.0.1:0',
    SPGW_CONSOLE_LISTEN: '127.0.0.1:0',
    SPGW_CONSOLE_URL: 'http://localhost:1',
  }
  const gateway = spawn(executable, ['serve'], { env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
  // It says where it listens once it does.
  await once(gateway.stderr, 'data')
  const stage = { home, environment, gateway }
  await spgw(stage, 'providers', 'add', 'demo', '--kind', 'demo')
  await spgw(stage, 'routes', 'add', 'demo*', '--provider', 'demo')
  return stage
}

async function spgw({ environment }: Stage, ...argv: string[]): Promise<string> {
  return (await run(executable, argv, { env: environment })).stdout
}

/** What the demo provider's answer begins with. */
const answerText = 'built-in demo provider'

async function tryClient(name: string, client: TriedClient, stage: Stage): Promise<boolean> {
  const programs = await install(name, client)
  const work = join(stage.home, 'work', name)
  mkdirSync(work, { recursive: true })
  await spgw(stage, 'connect', name, '--create-key', name, '--model', 'demo', '--write', '--yes')
  const [program = '', ...argv] = client.command
  const started = Date.now()
  const asked = run(join(programs, program), argv, {
    cwd: work,
    env: { ...stage.environment, ...client.environment },
    timeout: longestMs,
  })
  // Many wait for what a pipe may still bring.
  asked.child.stdin?.end()
  const output = await asked.then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: { stdout?: string }) => error.stdout ?? '',
  )
  const records: unknown = JSON.parse(await spgw(stage, 'requests', 'list', '--key', name, '--json'))
  const statuses = Array.isArray(records) ? records.map((record) => String(Reflect.get(record, 'status'))) : []
  const ok = output.includes(answerText) && statuses.length > 0 && statuses.every((status) => status === '200')
  const version = await versionOf(name, programs, client.package)
  const took = ((Date.now() - started) / 1000).toFixed(1)
  process.stdout.write(`${ok ? 'ok  ' : 'FAIL'}  ${name} ${version}  ${took} s  ${statuses.join(' ')}\n`)
  if (!ok) process.stdout.write(`${output.slice(-2000)}\n`)
  return ok
}

const chosen = positionals.length === 0 ? Object.keys(clients) : positionals
const stage = await startGateway()
try {
  const outcomes: boolean[] = []
  for (const name of chosen) {
    const client = clients[name]
    if (client === undefined) throw new Error(`${name} is none of ${Object.keys(clients).join(', ')}.`)
    outcomes.push(await tryClient(name, client, stage))
  }
  process.exitCode = outcomes.every(Boolean) ? 0 : 1
} finally {
  stage.gateway.kill()
  rmSync(stage.home, { recursive: true, force: true })
}
