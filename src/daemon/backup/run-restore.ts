import { Secret } from '../../core/secrets/secret.ts'
import type { Keyring } from '../../sealing/keyring.ts'
import { type Backup, verifyBackup } from '../../store/backup/backup-file.ts'
import { readSettings } from '../commands/commands.ts'
import type { CommandIo } from '../commands/local-command.ts'
import { openBackup, type Restored, refuseOccupied, refuseUnsealed, restoreBackup } from './restore.ts'

/** How a long task shows how far it is; the command line has one. */
export interface ProgressBar {
  show(stage: string, bytes: number, total: number | null): void
  end(): Promise<void>
}

/** Wrong usage. `hint` says what is right. */
class RestoreMisused extends Error {
  override readonly name = 'RestoreMisused'
  readonly hint: string
  readonly exitStatus = 2

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}

type RestoreAnswer = ReturnType<typeof describe>

/** What `spgw restore` does; loaded by that command alone. */
export async function restore(
  given: Record<string, unknown>,
  io: CommandIo,
  { dataDir, yes }: { dataDir: string | null; yes: boolean },
  progress: ProgressBar,
): Promise<RestoreAnswer> {
  const source = readSource(given)
  const settings = await readSettings(given, io, dataDir)
  const file = String(given.file)
  const force = given.force === true
  refuseOccupied(settings.dataDirectory, force)
  const backup = await verifyBackup(file, (done, total) => progress.show('verifying', done, total))
  await progress.end()
  const withoutCredentials = source.from === 'nowhere'
  const keyring = withoutCredentials ? null : await openSealed(backup, source, io)
  if (keyring === null && !yes) await confirmUnproved(io)
  const credentialsDirectory = io.environment.CREDENTIALS_DIRECTORY ?? null
  const show = (done: number, total: number) => progress.show('restoring', done, total)
  const opened = { file, backup, keyring, withoutCredentials }
  const restored = await restoreBackup({ ...opened, settings, credentialsDirectory, force, progress: show })
  return describe(settings.dataDirectory, backup, restored)
}

/** Nothing is asked for where nothing is sealed; a key that is given all the same would prove nothing, and is refused. */
async function openSealed(backup: Backup, source: PassphraseSource, io: CommandIo): Promise<Keyring | null> {
  refuseUnsealed(backup)
  if (backup.header.seal === null && source.from === 'terminal') return null
  return openBackup(backup, await readKey(source, io))
}

/** Its checksums tell a damaged file; that nobody has written another with checksums of its own, only the recovery key tells. */
async function confirmUnproved(io: CommandIo): Promise<void> {
  const unproved = 'Without the recovery key nothing proves that this backup is unchanged since it was created'
  if (!(io.stdin.isTerminal && io.stderr.isTerminal))
    throw new RestoreMisused(
      `Confirmation required: ${unproved}.`,
      'Give the key with --recovery-key-stdin or --recovery-key-env VAR, or add --yes if you trust the file.',
    )
  if (await io.prompter.confirm(`${unproved}. Restore it?`)) return
  throw new RestoreMisused('Nothing was restored.', 'Run the command again to confirm it.')
}

type PassphraseSource = { from: 'nowhere' | 'stdin' | 'terminal' } | { from: 'variable'; name: string }

function readSource(given: Record<string, unknown>): PassphraseSource {
  const variable = given.recoveryKeyEnv
  const ways = [given.withoutCredentials === true, given.recoveryKeyStdin === true, typeof variable === 'string']
  if (ways.filter((way) => way).length > 1)
    throw new RestoreMisused(
      '--recovery-key-stdin, --recovery-key-env and --without-credentials exclude each other.',
      'Give only one of them.',
    )
  if (typeof variable === 'string') return { from: 'variable', name: variable }
  if (given.withoutCredentials === true) return { from: 'nowhere' }
  return { from: given.recoveryKeyStdin === true ? 'stdin' : 'terminal' }
}

async function readKey(source: PassphraseSource, io: CommandIo): Promise<Secret> {
  const text = (await readText(source, io)).trim()
  if (text === '')
    throw new RestoreMisused(
      'This backup requires the recovery key, which opens its credentials and proves that it is unchanged.',
      'Give it with --recovery-key-stdin or --recovery-key-env VAR, or restore without it: --without-credentials.',
    )
  return new Secret(text)
}

async function readText(source: PassphraseSource, io: CommandIo): Promise<string> {
  const canAsk = io.stdin.isTerminal && io.stderr.isTerminal
  if (source.from === 'variable') return io.environment[source.name] ?? ''
  if (source.from === 'stdin' && !io.stdin.isTerminal) return io.stdin.readAll()
  return canAsk ? io.prompter.askHidden('Recovery key') : ''
}

function describe(dataDirectory: string, { header }: Backup, { contents, credentials, aside }: Restored) {
  const { created_at } = header
  return { data_directory: dataDirectory, created_at, ...contents, credentials, set_aside: aside }
}

export function reportRestored({
  data_directory,
  created_at,
  providers,
  keys,
  records,
  credentials,
  set_aside,
}: RestoreAnswer): string {
  const lines = [
    `Restored into ${data_directory} as of ${created_at}:`,
    `${count(providers, 'provider')}, ${count(credentials, 'credential')}, ${count(keys, 'key')}, ${count(records, 'record')}.`,
    ...(set_aside === null ? [] : [`The previous data is kept in ${set_aside}.`]),
    `Settings (config.yaml) are not part of a backup. Start it: spgw serve --data-dir ${data_directory}`,
  ]
  return `${lines.join('\n')}\n`
}

const count = (amount: number, noun: string) => `${amount} ${noun}${amount === 1 ? '' : 's'}`
