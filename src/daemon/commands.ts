import type { Settings } from '../config/settings.ts'
import type { CommandIo, LocalCommand } from './local-command.ts'
import { createLog, type Log } from './log.ts'
import type { Serving } from './serve.ts'
import { version } from './version.ts'

/** The parts of the gateway are loaded by the command that needs them: every other command of spgw reads this file too. */
const dataDirectoryFlag = {
  flags: '--config <file>',
  description: 'Settings file (default: config.yaml in the data directory)',
}

export const initCommand: LocalCommand = {
  name: 'init',
  summary: 'Make the data directory, the machine key and the first project',
  options: [dataDirectoryFlag],
  examples: ['init', 'init --data-dir /var/lib/spgw'],
  async run(options, io, { dataDir }) {
    const settings = await readSettings(options, io, dataDir)
    const { initialise } = await import('./init.ts')
    const { made } = await initialise(settings, io.environment.CREDENTIALS_DIRECTORY ?? null)
    await io.stderr.write(made.length === 0 ? `Nothing to do: ${settings.dataDirectory} is set up.\n` : listMade(made))
    return 0
  },
}

export const serveCommand: LocalCommand = {
  name: 'serve',
  summary: 'Run the gateway',
  options: [
    dataDirectoryFlag,
    { flags: '--listen <host:port>', description: 'Address of the gateway (default: 127.0.0.1:8787)' },
    { flags: '--console-listen <host:port>', description: 'Address of the console (default: 127.0.0.1:8788)' },
    {
      flags: '--demo',
      description: 'Also make a demo provider, its route and a fresh key, and print a call that works',
    },
  ],
  examples: ['serve', 'serve --demo', 'serve --listen 0.0.0.0:8787 --data-dir /var/lib/spgw'],
  async run(options, io, { dataDir }) {
    const settings = await readSettings(options, io, dataDir)
    const log = createLog(
      settings.log.level,
      settings.log.format ?? (io.stderr.isTerminal ? 'text' : 'json'),
      (line) => void io.stderr.write(line),
    )
    const demo = options.demo === true
    const credentialsDirectory = io.environment.CREDENTIALS_DIRECTORY ?? null
    const { startServing } = await import('./serve.ts')
    const serving = await startServing({ settings, version, credentialsDirectory, demo, log })
    // Whoever has read the greeting may stop the gateway at once.
    const told = hearSignal()
    await io.stderr.write(greet(settings, serving))
    if (serving.demoKey !== null) await io.stdout.write(demoCall(serving.gatewayUrl, serving.demoKey))
    return await serveUntilTold(serving, told, log)
  },
}

export const versionCommand: LocalCommand = {
  name: 'version',
  summary: 'Show the version',
  options: [],
  examples: ['version'],
  async run(_options, io) {
    await io.stdout.write(`spgw ${version}\n`)
    return 0
  },
}

async function readSettings(
  options: Record<string, unknown>,
  io: CommandIo,
  dataDir: string | null,
): Promise<Settings> {
  const { loadSettings } = await import('../config/load.ts')
  const text = (name: string) => (typeof options[name] === 'string' ? options[name] : undefined)
  const flags = { dataDir: dataDir ?? undefined, listen: text('listen'), consoleListen: text('consoleListen') }
  return loadSettings({ file: text('config'), environment: io.environment, flags })
}

function greet(settings: Settings, { gatewayUrl, consoleUrl, made }: Serving): string {
  const addresses = `gateway ${gatewayUrl}   console ${consoleUrl}   data ${settings.dataDirectory}`
  return `spgw ${version}  ${addresses}\n${listMade(made)}`
}

function listMade(made: readonly string[]): string {
  return made.map((each) => `Made ${each}.\n`).join('')
}

function demoCall(gatewayUrl: string, key: string): string {
  return [
    'Try it:',
    `  curl -s ${gatewayUrl}/v1/chat/completions -H 'Authorization: Bearer ${key}' \\`,
    `    -H 'Content-Type: application/json' -d '{"model":"demo","messages":[{"role":"user","content":"hello"}]}'`,
    '',
  ].join('\n')
}

function hearSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal))
  })
}

/** Runs until a signal or a fault; SIGTERM and SIGINT drain, a second one ends at once. */
async function serveUntilTold(serving: Serving, told: Promise<string>, log: Log): Promise<number> {
  const ended = await Promise.race([told.then((signal) => ({ signal })), serving.failed.then((reason) => ({ reason }))])
  if ('reason' in ended) {
    log.error('the gateway cannot go on', { reason: ended.reason })
    return 1
  }
  log.info('draining', { signal: ended.signal })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
  await serving.stop()
  return 0
}
