import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { Settings } from '../config/settings.ts'
import { newId } from '../core/ids.ts'
import { checkWitness, type Keyring, loadKeyring, sealWitness } from '../sealing/keyring.ts'
import { createMachineKey, type MachineKeySources, machineKeyFile } from '../sealing/machine-key.ts'
import { MachineKeyMissing } from '../sealing/seal-error.ts'
import type { StoreClient } from '../store/api.ts'
import { startStore } from '../store/client.ts'
import { makeDirectory } from './make-directory.ts'
import { extractNativeBinding } from './native-binding.ts'
import { startThread } from './threads.ts'

/** What everything else stands on: the data directory, the machine key, the store, and the first resources. */
export interface Foundation {
  keyring: Keyring
  store: StoreClient
  storeWorker: Worker
  journalDirectory: string
  /** What was made because it was not there, in words; empty on every later start. */
  made: string[]
}

export interface FoundationSources {
  settings: Settings
  /** systemd's `$CREDENTIALS_DIRECTORY`. */
  credentialsDirectory: string | null
  boot: string
}

export const databaseFile = 'spgw.db'

/** Opens what is there and makes what is not. A key is made only where no database needs one that is missing. */
export async function layFoundation({ settings, credentialsDirectory, boot }: FoundationSources): Promise<Foundation> {
  const { dataDirectory, machineKeyFile: explicitPath } = settings
  const made: string[] = []
  if (!existsSync(dataDirectory)) made.push(`data directory ${dataDirectory}`)
  makeDirectory(dataDirectory)
  const databasePath = join(dataDirectory, databaseFile)
  const keySources = { explicitPath, credentialsDirectory, dataDirectory }
  const keyring = openKeyring(keySources, existsSync(databasePath), made)
  const journalDirectory = join(dataDirectory, 'journal')
  makeDirectory(journalDirectory)
  const nativeBinding = extractNativeBinding(dataDirectory)
  const storeWorker = startThread('store', {
    retentionMs: settings.records.retentionMs,
    databasePath,
    journalDirectory,
    boot,
    ...(nativeBinding ? { nativeBinding } : {}),
  })
  try {
    const store = await startStore(storeWorker)
    if (checkWitness(keyring, await store.seal.witness()) === 'absent')
      await store.seal.setWitness(sealWitness(keyring))
    await makeFirstResources(store, made)
    return { keyring, store, storeWorker, journalDirectory, made }
  } catch (error) {
    await storeWorker.terminate()
    throw error
  }
}

function openKeyring(sources: MachineKeySources, hasDatabase: boolean, made: string[]): Keyring {
  try {
    return loadKeyring(sources)
  } catch (error) {
    const missing = error instanceof MachineKeyMissing
    // A new key beside an old database would only hide that the right one is lost.
    if (!missing || hasDatabase || sources.explicitPath !== null) throw error
  }
  const { source } = createMachineKey(join(sources.dataDirectory, machineKeyFile))
  made.push(`machine key ${source}: keep a copy where the backups are not; without it no credential opens`)
  return loadKeyring(sources)
}

export const firstProject = 'default'
export const firstEnvironment = 'production'

async function makeFirstResources(store: StoreClient, made: string[]): Promise<void> {
  if ((await store.projects.list()).length > 0) return
  const createdAt = new Date().toISOString()
  const project = { id: newId('prj'), name: firstProject, createdAt }
  const audit = (kind: string, id: string, name: string) =>
    store.audited({
      actor: 'gateway',
      surface: 'gateway',
      operation: `${kind}s.add`,
      resource: { kind, id, name },
      before: null,
      after: { name },
    })
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
