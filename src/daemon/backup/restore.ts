import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Settings } from '../../config/settings.ts'
import { reachFaultPoint } from '../../core/fault-point.ts'
import type { Secret } from '../../core/secrets/secret.ts'
import { type Keyring, makeKeyring } from '../../sealing/keyring.ts'
import { createMachineKey, loadMachineKey, type MachineKey, machineKeyFile } from '../../sealing/machine-key.ts'
import { openEnvelope, readRecoveryKey } from '../../sealing/recovery-key.ts'
import { type Reseal, resealValues, type SealedValue } from '../../sealing/reseal.ts'
import { MachineKeyMissing, SealBroken } from '../../sealing/seal-error.ts'
import { parseSealed } from '../../sealing/seal-format.ts'
import { followBackup } from '../../store/backup/backup-client.ts'
import { type Backup, BackupRefused } from '../../store/backup/backup-file.ts'
import type { BackupContents } from '../../store/backup/backup-protocol.ts'
import { giveToOwner } from '../give-to-owner.ts'
import { makeDirectory } from '../make-directory.ts'
import { extractNativeBinding } from '../native-binding.ts'
import { databaseFile } from '../places.ts'
import { startThread } from '../threads/threads.ts'
import {
  commitRestore,
  finishRestore,
  forgetPreparing,
  listGateway,
  makePreparing,
  preparing,
} from './finish-restore.ts'
import { proofIdentity } from './take-backup.ts'

export interface RestoreOptions {
  /** Of the backup, verified. */
  file: string
  backup: Backup
  /** Opens its credentials; null: there are none, or they stay behind. */
  keyring: Keyring | null
  /** Whether they stay behind on purpose. */
  withoutCredentials: boolean
  settings: Settings
  /** systemd's `$CREDENTIALS_DIRECTORY`. */
  credentialsDirectory: string | null
  /** Whether a gateway that stands there already may be set aside. */
  force: boolean
  /** Told how many bytes have been copied. */
  progress(done: number, total: number): void
}

export interface Restored {
  contents: BackupContents
  /** That open under the machine key of this machine. */
  credentials: number
  /** Where the gateway that stood there before is kept. */
  aside: string | null
}

/** Throws `RecoveryKeyMistyped`, `RecoveryKeyWrong`, or `BackupRefused` when somebody has changed the backup since it was made. */
export function openBackup({ header }: Backup, recoveryKey: Secret): Keyring {
  const recovery = readRecoveryKey(recoveryKey)
  if (header.seal === null) throw unsealed()
  const keyring = makeKeyring(openEnvelope(recovery, header.seal))
  if (proves(keyring, header.seal.proof, header.database.sha256)) return keyring
  throw new BackupRefused(
    'The backup was changed after it was created.',
    'Do not use it. Use another copy or another backup.',
  )
}

/** Throws `BackupRefused` when there should be credentials, and nothing says what opens them. */
export function refuseUnsealed({ header }: Backup): void {
  if (header.seal === null && header.credentials > 0) throw unsealed()
}

function unsealed(): BackupRefused {
  return new BackupRefused(
    'No recovery key opens this backup: it was created without credentials, or its recovery data was removed.',
    'Restore another copy, or restore with --without-credentials and enter the credentials again.',
  )
}

function proves(keyring: Keyring, proof: string, sha256: string): boolean {
  try {
    return keyring.open(proof, proofIdentity).reveal() === sha256
  } catch (error) {
    if (error instanceof SealBroken) return false
    throw error
  }
}

/** Throws `BackupRefused` when a gateway stands there and may not be set aside. */
export function refuseOccupied(dataDirectory: string, force: boolean): void {
  if (force || !listGateway(dataDirectory).some((name) => name !== machineKeyFile)) return
  throw new BackupRefused(
    `${dataDirectory} already holds a gateway.`,
    'Restore into an empty --data-dir, or add --force to keep the present data aside.',
  )
}

/** All of the backup is in the data directory when this resolves, or, whatever fails before, nothing. */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { dataDirectory } = options.settings
  makeDirectory(dataDirectory)
  const nativeBinding = extractNativeBinding(dataDirectory)
  const folder = join(dataDirectory, preparing)
  const places = { databasePath: join(dataDirectory, databaseFile), copyPath: join(folder, databaseFile) }
  const more = nativeBinding === undefined ? {} : { nativeBinding }
  const worker = startThread('backup', { task: 'receive', ...places, ...more })
  const resealing = new Resealing(options)
  try {
    const { contents, end } = await followBackup(worker, {
      async begin() {
        finishRestore(dataDirectory)
        // Looked at again, now that nobody else is at work there.
        refuseOccupied(dataDirectory, options.force)
        makePreparing(dataDirectory)
        await copyDatabase(options, places.copyPath)
        reachFaultPoint('restore.copied')
      },
      reseal: (values) => resealing.run(values, folder),
    })
    giveToOwner(dataDirectory, [preparing, 'native', 'spgw.lock'])
    const aside = commitRestore(dataDirectory)
    await end()
    return { contents, credentials: resealing.credentials, aside }
  } catch (error) {
    forgetPreparing(dataDirectory)
    throw error
  } finally {
    await worker.terminate()
  }
}

/** From the backup's own key to the machine key of this machine. */
class Resealing {
  credentials = 0
  readonly #options: RestoreOptions

  constructor(options: RestoreOptions) {
    this.#options = options
  }

  run(values: SealedValue[], folder: string): { changes: Reseal['changes']; leave: string[] } {
    const { keyring, withoutCredentials } = this.#options
    const target = makeKeyring(this.#machineKey(folder))
    if (keyring === null) {
      // A head may say that nothing is sealed where much is.
      if (!withoutCredentials && values.some(({ sealed }) => parseSealed(sealed) !== null)) throw unsealed()
      return { changes: [], leave: values.map(({ identity }) => identity) }
    }
    const { changes } = resealValues(values, keyring, target)
    this.credentials = changes.filter(({ identity }) => identity.startsWith('credential:')).length
    return { changes, leave: [] }
  }

  /** The one that this machine has, unless it belongs to a gateway that is set aside; else a new one. */
  #machineKey(folder: string): MachineKey {
    const { settings, credentialsDirectory } = this.#options
    const { dataDirectory, machineKeyFile: explicitPath } = settings
    const sources = { explicitPath, credentialsDirectory, dataDirectory }
    const own = join(dataDirectory, machineKeyFile)
    const foreign = listGateway(dataDirectory).some((name) => name !== machineKeyFile)
    try {
      const key = loadMachineKey(sources)
      if (key.source !== own || !foreign) return key
    } catch (error) {
      if (!(error instanceof MachineKeyMissing) || explicitPath !== null) throw error
    }
    return createMachineKey(join(folder, machineKeyFile))
  }
}

/** Compared once more on its way: the file may have changed since it was verified. */
async function copyDatabase({ file, backup, progress }: RestoreOptions, copyPath: string): Promise<void> {
  const { bytes, sha256 } = backup.header.database
  const hash = createHash('sha256')
  await using copy = await open(copyPath, 'wx', 0o600)
  let done = 0
  for await (const chunk of createReadStream(file, { start: backup.offset, highWaterMark: 1024 * 1024 })) {
    hash.update(chunk as Buffer)
    await copy.writeFile(chunk as Buffer)
    done += (chunk as Buffer).length
    progress(done, bytes)
  }
  await copy.sync()
  if (hash.digest('hex') !== sha256)
    throw new BackupRefused(`${file} changed while it was read.`, 'Copy it first and restore from the copy.')
}
