import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ORPCError } from '@orpc/client'
import { type AdminClient, createAdminClient } from '../../src/admin/client.ts'
import { openSocketTransport } from '../../src/admin/socket-transport.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { createMachineKey } from '../../src/sealing/machine-key.ts'
import { placeEmptyDatabase } from './empty-database.ts'

export interface GatewayOptions {
  /** Text of config.yaml; the listen addresses stand on the command line and win over it. */
  config?: string
  environment?: Record<string, string>
  /** An existing data directory, left in place afterwards; default: a new one, removed by `stop`. */
  dataDirectory?: string
  /** A command that runs the gateway in surroundings of its own, and leaves it the process. */
  launcher?: string[]
  /** Where the data directory is seen from outside of those. */
  seenAt?(processId: number): string
  /** Further flags of `serve`. */
  flags?: string[]
  /** Another build of the gateway than the one that is tested. */
  program?: GatewayProgram
}

export interface GatewayProgram {
  command: string
  leading: readonly string[]
}

export interface CommandResult {
  stdout: string
  stderr: string
  code: number
}

type Input<Operation> = Operation extends (input: infer Given, ...more: never[]) => unknown ? Given : never

export interface TestGateway {
  baseUrl: string
  consoleUrl: string
  dataDirectory: string
  processId: number
  stdout(): string
  stderr(): string
  /** Runs a command of the CLI against this gateway. Never throws for an exit status. */
  spgw(args: string[], input?: string): Promise<CommandResult>
  /** The typed client on the admin socket: set-up without the price of a process a command. */
  admin: AdminClient
  addRoute(model: string, targets: string[], more?: Partial<Input<AdminClient['routes']['add']>>): Promise<void>
  createKey(name: string, more?: Partial<Input<AdminClient['keys']['create']>>): Promise<{ id: string; key: string }>
  /** The settled record of a request; waits for it to settle, since an aborted one does so after its client has gone. */
  record(id: string): Promise<RequestRecord>
  /** Sends a signal that the gateway lives on after. */
  signal(signal: NodeJS.Signals): void
  /** Resolves when standard error holds the text so often. */
  said(text: string, times?: number): Promise<void>
  /** The exit status of a gateway that ends by itself. */
  ended: Promise<number | null>
  /** Sends the signal and waits for the end; gives the exit status, null when the signal itself ended it. */
  kill(signal: NodeJS.Signals): Promise<number | null>
  stop(): Promise<void>
}

/** Asks for a chat, and reads its answer to the end. `more`: further members of the body. */
export async function askChat(
  { baseUrl }: Pick<TestGateway, 'baseUrl'>,
  key: string,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const response = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }], ...more }),
  })
  await response.text()
  return response
}

const root = join(import.meta.dirname, '../..')

/** `dist/spgw` when SPGW_TEST_EXECUTABLE names it, a bundle when SPGW_TEST_BUNDLE does, else the sources under this Node. */
export function gatewayCommand(): GatewayProgram {
  const executable = process.env.SPGW_TEST_EXECUTABLE
  if (executable) return { command: executable, leading: [] }
  const bundle = process.env.SPGW_TEST_BUNDLE
  if (bundle) return { command: process.execPath, leading: [bundle] }
  return { command: process.execPath, leading: ['--disable-warning=ExperimentalWarning', join(root, 'src/main.ts')] }
}

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const dataDirectory = options.dataDirectory ?? (await mkdtemp(join(tmpdir(), 'spgw-')))
  if (options.dataDirectory === undefined && options.program === undefined) await furnish(dataDirectory)
  if (options.config !== undefined) await writeFile(join(dataDirectory, 'config.yaml'), options.config)
  // Ports that the system gives to the gateway itself: one that was asked for beforehand may be anybody's by then.
  const addresses = ['--listen', '127.0.0.1:0', '--console-listen', '127.0.0.1:0']
  const { command, leading } = options.program ?? gatewayCommand()
  const environment = bareEnvironment(options.environment)
  const [file = command, ...args] = [
    ...(options.launcher ?? []),
    command,
    ...leading,
    'serve',
    ...['--data-dir', dataDirectory],
    ...addresses,
    ...(options.flags ?? []),
  ]
  const child = spawn(file, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = collectOutput(child)
  const remove = async () => {
    if (options.dataDirectory === undefined) await rm(dataDirectory, { recursive: true, force: true })
  }
  const { baseUrl, consoleUrl } = await ready(child, output).catch(async (error: unknown) => {
    await remove()
    throw error
  })
  const processId = child.pid ?? 0
  const seen = options.seenAt?.(processId) ?? dataDirectory
  const spgw = (args: string[], input?: string) =>
    runCommand([...args, '--data-dir', seen], { input, environment: options.environment })
  const transport = openSocketTransport(join(seen, 'admin.sock'), { waitMs: 60_000 })
  const admin = createAdminClient({ transport, version: 'test', surface: 'cli' })
  return {
    baseUrl,
    consoleUrl,
    dataDirectory: seen,
    processId,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    spgw,
    admin,
    ...shortcuts(admin),
    signal: (signal) => void child.kill(signal),
    ended: once(child, 'close').then(([code]: (number | null)[]) => code ?? null),
    said: async (text, times = 1) => {
      while (output.stderr.split(text).length - 1 < times) {
        if (child.exitCode !== null) throw new Error(`spgw ended before it said ${text}\n${output.stderr}`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    async kill(signal) {
      // One that has died already answers nothing more.
      await transport.close().catch(() => {})
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const closed = once(child, 'close')
      child.kill(signal)
      const [code]: (number | null)[] = await closed
      return code ?? null
    },
    async stop() {
      await transport.close()
      await end(child)
      await remove()
    },
  }
}

/** As the first start does it, which costs more than a later one. */
async function furnish(dataDirectory: string): Promise<void> {
  const hasDatabase = await placeEmptyDatabase(join(dataDirectory, 'spgw.db'))
  if (hasDatabase) createMachineKey(join(dataDirectory, 'machine.key'))
}

type Shortcuts = Pick<TestGateway, 'addRoute' | 'createKey' | 'record'>

function shortcuts(admin: AdminClient): Shortcuts {
  return {
    async addRoute(model, targets, more = {}) {
      await admin.routes.add({ model, targets, ...more })
    },
    createKey: (name, more = {}) => admin.keys.create({ name, ...more }),
    async record(id) {
      for (let attempt = 0; attempt < 2400; attempt++) {
        const record = await admin.requests.show({ id }).catch((error: unknown) => notYet(error))
        if (record !== null && record.state !== 'admitted') return record
        await new Promise((resolve) => setTimeout(resolve, 25))
      }
      throw new Error(`request ${id} has no settled record`)
    },
  }
}

function notYet(error: unknown): null {
  if (error instanceof ORPCError && error.code === 'not_found') return null
  throw error
}

/** Of nobody's concern but the test's: however many there are, since a machine may be faster than expected, too. */
export async function listAllRequests({ admin }: TestGateway): Promise<RequestRecord[]> {
  const all: RequestRecord[] = []
  for (;;) {
    const page = await admin.requests.list({ limit: 1000, ...(all.length > 0 && { before: all.at(-1)?.id }) })
    all.push(...page)
    if (page.length < 1000) return all
  }
}

/** Runs `spgw` once, by itself. */
export async function runCommand(
  args: string[],
  options: { input?: string | undefined; environment?: Record<string, string> | undefined } = {},
): Promise<CommandResult> {
  const { command, leading } = gatewayCommand()
  // A file without a place would be written where it runs, which must not be the repository.
  const child = spawn(command, [...leading, ...args], { env: bareEnvironment(options.environment), cwd: tmpdir() })
  const output = collectOutput(child)
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const [code] = await once(child, 'close')
  return { ...output, code: Number(code ?? -1) }
}

/** Nothing of the developer's own set-up reaches the gateway. */
function bareEnvironment(more: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...compileCache(), ...more }
}

/** To read the sources takes longer than all else that a start from them does. The executable is started as it is. */
function compileCache(): Record<string, string> {
  const { SPGW_TEST_EXECUTABLE, NODE_COMPILE_CACHE } = process.env
  return SPGW_TEST_EXECUTABLE || !NODE_COMPILE_CACHE ? {} : { NODE_COMPILE_CACHE }
}

function collectOutput(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  return output
}

/** The addresses stand on the first line, which is written once everything listens. */
async function ready(
  child: ChildProcess,
  output: { stdout: string; stderr: string },
): Promise<{ baseUrl: string; consoleUrl: string }> {
  for (let attempt = 0; attempt < 2400; attempt++) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`spgw serve ended with ${child.exitCode ?? child.signalCode}\n${output.stdout}${output.stderr}`)
    const line = /^spgw .*\n/m.exec(output.stderr)?.[0]
    if (line !== undefined) return { baseUrl: addressIn(line, 'gateway'), consoleUrl: addressIn(line, 'console') }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  child.kill('SIGKILL')
  throw new Error(`spgw serve did not get ready\n${output.stdout}${output.stderr}`)
}

function addressIn(line: string, listener: 'gateway' | 'console'): string {
  return new RegExp(`${listener} (https?://\\S+)`).exec(line)?.[1] ?? ''
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  const stubborn = setTimeout(() => child.kill('SIGKILL'), 60_000)
  await closed
  clearTimeout(stubborn)
}
