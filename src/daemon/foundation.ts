import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { KeepTimes } from '../cluster/protocol.ts'
import type { Settings } from '../config/settings.ts'
import { newId } from '../core/ids.ts'
import type { Secret } from '../core/secrets/secret.ts'
import { type Keyring, sealWitness } from '../sealing/keyring.ts'
import {
  createMachineKey,
  loadMachineKey,
  type MachineKey,
  type MachineKeySources,
  machineKeyFile,
} from '../sealing/machine-key.ts'
import { settleKeyring } from '../sealing/next-key.ts'
import { MachineKeyMissing } from '../sealing/seal-error.ts'
import type { AuditEvent, AuditLine, StoreClient } from '../store/api.ts'
import { startStore } from '../store/client.ts'
import type { Retention } from '../store/records/record-tables.ts'
import { makeDirectory } from './make-directory.ts'
import { extractNativeBinding } from './native-binding.ts'
import { databaseFile, journalFolder, restoreFolder } from './places.ts'
import { startThread } from './threads/threads.ts'

/** What everything else stands on: the data directory, the machine key, the store, and the first resources. */
export interface Foundation {
  keyring: Keyring
  store: StoreClient
  databasePath: string
  /** The SQLite addon's path in the packaged executable. */
  nativeBinding: string | undefined
  journalDirectory: string
  /** What was made because it was not there, in words; empty on every later start. */
  made: string[]
  /** Whether the database is new. */
  fresh: boolean
}

export interface FoundationSources {
  settings: Settings
  /** systemd's `$CREDENTIALS_DIRECTORY`. */
  credentialsDirectory: string | null
  boot: string
  /** Waited for when this process has the data directory to itself, before the database is opened. */
  onLocked?: () => Promise<void>
}

/** Opens what is there and makes what is not. A key is made only where no database needs one that is missing. */
export async function layFoundation(sources: FoundationSources): Promise<Foundation> {
  const { settings, credentialsDirectory, boot } = sources
  const { dataDirectory, machineKeyFile: explicitPath } = settings
  const made: string[] = []
  if (!existsSync(dataDirectory)) made.push(`data directory ${dataDirectory}`)
  makeDirectory(dataDirectory)
  const databasePath = join(dataDirectory, databaseFile)
  const keySources = { explicitPath, credentialsDirectory, dataDirectory }
  const journalDirectory = join(dataDirectory, journalFolder)
  makeDirectory(journalDirectory)
  const nativeBinding = extractNativeBinding(dataDirectory)
  const storeData = {
    retention: retentionOf(settings),
    traces: settings.telemetry !== null,
    ...(settings.cluster === null ? {} : { sharesRecords: settings.cluster.records === 'shared' }),
    databasePath,
    journalDirectory,
    boot,
    ...(nativeBinding ? { nativeBinding } : {}),
  }
  let store: StoreClient | null = null
  try {
    // From here on nobody else is in the middle of anything there: what was interrupted is brought to its end.
    const openKey = async () => {
      await sources.onLocked?.()
      if (existsSync(join(dataDirectory, restoreFolder)))
        (await import('./backup/finish-restore.ts')).finishRestore(dataDirectory)
      return openMachineKey(keySources, existsSync(databasePath), made)
    }
    const key = Promise.withResolvers<MachineKey>()
    store = await startStore(
      () => startThread('store', storeData),
      async () => key.resolve(await openKey()),
    )
    const witness = await store.seal.witness()
    const keyring = settleKeyring(await key.promise, witness, dataDirectory)
    if (witness === null) await store.seal.setWitness(sealWitness(keyring))
    // Nodes of an earlier version could not open what all of them share: there the next change of a provider seals its own.
    if (settings.cluster === null) await (await import('./seal-headers.ts')).sealHeaders(store, keyring)
    await makeFirstResources(store, made)
    return { keyring, store, databasePath, nativeBinding, journalDirectory, made, fresh: witness === null }
  } catch (error) {
    // Its thread would keep the process alive after the refusal.
    await store?.close()
    throw error
  }
}

/** As the store is told. */
export function retentionOf({ records }: Settings): Retention {
  return { recordsMs: records.retentionMs, bodiesMs: records.bodiesRetentionMs, mostBytes: records.mostBytes }
}

/** As the others of a cluster are told. Bodies are never kept for longer than their records. */
export function keepsOf({ records }: Settings): KeepTimes {
  const { retentionMs, bodiesRetentionMs } = records
  return { keepMs: retentionMs, keepBodiesMs: Math.min(bodiesRetentionMs, retentionMs) }
}

function openMachineKey(sources: MachineKeySources, hasDatabase: boolean, made: string[]): MachineKey {
  try {
    return loadMachineKey(sources)
  } catch (error) {
    const missing = error instanceof MachineKeyMissing
    // A new key beside an old database would only hide that the right one is lost.
    if (!missing || hasDatabase || sources.explicitPath !== null) throw error
  }
  const key = createMachineKey(join(sources.dataDirectory, machineKeyFile))
  made.push(`machine key ${key.source}: keep a copy where the backups are not; without it no credential opens`)
  return key
}

/** The store keeps its public half; whoever calls this shows the rest, once. */
export async function makeRecoveryKey({ store, keyring }: Pick<Foundation, 'store' | 'keyring'>): Promise<Secret> {
  // Only the first start of a data directory makes one.
  const { formatPublicHalf, mintRecoveryKey, readRecoveryKey } = await import('../sealing/recovery-key.ts')
  const secret = mintRecoveryKey()
  const key = readRecoveryKey(secret)
  const line = auditLine(
    'seal.recovery-key',
    { kind: 'recovery key', id: key.id, name: key.id },
    { recovery_key_id: key.id },
  )
  await store.audited(line).seal.setRecovery(keyring.seal(formatPublicHalf(key), 'recovery'))
  return secret
}

function auditLine(operation: string, resource: AuditEvent['resource'], after: unknown): AuditLine {
  return { actor: 'gateway', surface: 'gateway', operation, resource, before: null, after }
}

export const firstProject = 'default'
export const firstEnvironment = 'production'

async function makeFirstResources(store: StoreClient, made: string[]): Promise<void> {
  if ((await store.projects.list()).length > 0) return
  const createdAt = new Date().toISOString()
  const project = { id: newId('prj'), name: firstProject, createdAt }
  const audit = (kind: string, id: string, name: string) =>
    store.audited(auditLine(`${kind}s.add`, { kind, id, name }, { name }))
  await audit('project', project.id, project.name).projects.insert(project)
  const environment = {
    id: newId('env'),
    projectId: project.id,
    name: firstEnvironment,
    defaultProviders: {},
    createdAt,
  }
  await audit('environment', environment.id, environment.name).environments.insert(environment)
  made.push(`project ${firstProject} with environment ${firstEnvironment}`)
}
