import type { Settings } from '../../config/settings.ts'
import { createLog, type Log } from '../log.ts'
import type { Serving } from '../serve.ts'
import { hearSignals } from '../signals.ts'
import { version } from '../version.ts'
import type { CommandIo, DaemonCommand } from './local-command.ts'

/** The parts of the gateway are loaded by the command that needs them: every other command of spgw reads this file too. */
const dataDirectoryFlag = {
  flags: '--config <file>',
  description: 'Settings file (default: config.yaml in the data directory)',
}

export const initCommand: DaemonCommand = {
  name: 'init',
  summary: 'Create the data directory, the machine key, the recovery key and the first project',
  options: [
    dataDirectoryFlag,
    { flags: '--no-recovery-key', description: 'Do not create a recovery key now (later: seal recovery-key)' },
  ],
  examples: ['init', 'init --data-dir /var/lib/spgw'],
  async run(options, io, { dataDir, output }) {
    const settings = await readSettings(options, io, dataDir)
    const { initialise } = await import('./init.ts')
    const credentialsDirectory = io.environment.CREDENTIALS_DIRECTORY ?? null
    const { made, recoveryKey } = await initialise(settings, credentialsDirectory, options.recoveryKey !== false)
    await io.stderr.write(made.length === 0 ? `Nothing to do: ${settings.dataDirectory} is set up.\n` : listMade(made))
    if (recoveryKey !== null) await io.stderr.write(recoveryNote)
    const recovery_key = recoveryKey?.reveal() ?? null
    const { printRecords } = await import('../records/print-records.ts')
    const document = { data_directory: settings.dataDirectory, made, recovery_key }
    await io.stdout.write((await printRecords(output, document)) ?? (recovery_key === null ? '' : `${recovery_key}\n`))
    return 0
  },
}

export const serveCommand: DaemonCommand = {
  name: 'serve',
  summary: 'Run the gateway',
  options: [
    dataDirectoryFlag,
    { flags: '--listen <host:port>', description: 'Address of the gateway (default: 127.0.0.1:8787)' },
    { flags: '--console-listen <host:port>', description: 'Address of the console (default: 127.0.0.1:8788)' },
    {
      flags: '--demo',
      description: 'Also create a demo provider, its route and a new key, and print a request to try',
    },
  ],
  examples: ['serve', 'serve --demo', 'serve --listen 0.0.0.0:8787 --data-dir /var/lib/spgw'],
  async run(options, io, { dataDir }) {
    const read = () => readSettings(options, io, dataDir)
    const settings = await read()
    const signals = hearSignals(io.stderr.isTerminal)
    const logSettings = ({ log: { level, format } }: Settings) => ({
      level,
      format: format ?? (io.stderr.isTerminal ? ('text' as const) : ('json' as const)),
    })
    // A log that nobody takes any more, or whose disk is full, stops nothing: neither the start nor the end.
    const say = (text: string, output = io.stderr) => output.write(text).catch(() => {})
    const writeLog = (line: string) => void say(line)
    const log = createLog(logSettings(settings), writeLog)
    const changeLog = (next: Settings) => log.change(logSettings(next))
    const demo = options.demo === true
    const credentialsDirectory = io.environment.CREDENTIALS_DIRECTORY ?? null
    const { startServing } = await import('../serve.ts')
    // Elsewhere standard error is a log, which must never hold a key: `seal recovery-key` makes one when it is wanted.
    const wantsRecoveryKey = io.stderr.isTerminal && !demo
    const more = { credentialsDirectory, demo, wantsRecoveryKey, changeLog }
    const serving = await startServing({ settings, version, log, writeLog, ...more })
    signals.onHangUp(() => void serving.reload(read))
    await say(greet(settings, serving))
    await writeSignIn(serving, io, demo).catch(() => {})
    if (serving.recoveryKey !== null) await say(`${recoveryNote}${serving.recoveryKey.reveal()}\n`)
    if (serving.needsRecoveryKey && !demo) await say(noRecoveryKeyNote)
    if (serving.demoCall !== null) await say(serving.demoCall, io.stdout)
    const { trimHeapAfterStart } = await import('../../store/trim-heap.ts')
    trimHeapAfterStart()
    return await serveUntilSignal(serving, signals.signalled, log)
  },
}

export const versionCommand: DaemonCommand = {
  name: 'version',
  summary: 'Show the version',
  options: [],
  examples: ['version', 'version --json'],
  async run(_options, io, { output }) {
    const document = { version, node: process.versions.node, platform: `${process.platform}-${process.arch}` }
    const { printRecords } = await import('../records/print-records.ts')
    await io.stdout.write((await printRecords(output, document)) ?? `spgw ${version}\n`)
    return 0
  },
}

const recoveryNote =
  'Print the recovery key, shown only now, and keep it where neither this machine nor the backups are.\n' +
  'It opens the credentials in every backup (spgw backup, spgw restore):\n'

const noRecoveryKeyNote =
  'Made no recovery key, since this is not a terminal. Backups with credentials need one: spgw seal recovery-key\n'

export async function readSettings(
  options: Record<string, unknown>,
  io: CommandIo,
  dataDir: string | null,
): Promise<Settings> {
  const { loadSettings } = await import('../../config/load.ts')
  const text = (name: string) => (typeof options[name] === 'string' ? options[name] : undefined)
  const flags = { dataDir: dataDir ?? undefined, listen: text('listen'), consoleListen: text('consoleListen') }
  return loadSettings({ file: text('config'), environment: io.environment, flags })
}

function greet(settings: Settings, { gatewayUrl, consoleUrl, made }: Serving): string {
  const addresses = `gateway ${gatewayUrl}   console ${consoleUrl}   data ${settings.dataDirectory}`
  return `spgw ${version}  ${addresses}\n${listMade(made)}`
}

/**
 * On a terminal, the link. Standard error that goes elsewhere is a log, which must not hold what lets anybody in; the
 * demo, whose key stands on standard output too, shows it there.
 */
async function writeSignIn({ signInLine }: Serving, io: CommandIo, demo: boolean): Promise<void> {
  if (signInLine === null) return
  if (io.stderr.isTerminal) await io.stderr.write(signInLine)
  else if (demo) await io.stdout.write(signInLine)
  else await io.stderr.write('Nobody has signed in to the console yet. Create a sign-in link: spgw console link\n')
}

function listMade(made: readonly string[]): string {
  return made.map((each) => `Made ${each}.\n`).join('')
}

/** How long requests may go on after a fault of the main thread. */
const faultDrainMs = 10_000

/** Runs until a signal or a fault; SIGTERM and SIGINT drain, a second one ends at once. */
async function serveUntilSignal(serving: Serving, signalled: Promise<string>, log: Log): Promise<number> {
  const ended = await Promise.race([
    signalled.then((signal) => ({ signal })),
    serving.failed.then((reason) => ({ reason })),
  ])
  if ('reason' in ended) {
    log.error('the main thread had an internal error; the gateway finishes its requests and stops', {
      reason: ended.reason,
    })
    // The data plane is well and ends its requests. But of this thread nobody can tell, so its end is not left to it.
    setTimeout(() => process.exit(1), faultDrainMs)
    await serving.stop().catch(() => {})
    process.exit(1)
  }
  log.info('draining', { signal: ended.signal })
  await serving.stop()
  return 0
}
