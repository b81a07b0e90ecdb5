import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { BackupEvent } from '../../admin/contract/backup.ts'
import { reachFaultPoint } from '../../core/fault-point.ts'
import { type Keyring, makeKeyring } from '../../sealing/keyring.ts'
import { makeBackupKey } from '../../sealing/recovery-key.ts'
import { resealValues, type SealedValue } from '../../sealing/reseal.ts'
import type { StoreClient } from '../../store/api.ts'
import { followBackup } from '../../store/backup/backup-client.ts'
import { type BackupHeader, formatHead } from '../../store/backup/backup-file.ts'
import { makeDirectory } from '../make-directory.ts'
import { backupFolder } from '../places.ts'
import { startThread } from '../threads/threads.ts'

export interface BackupOptions {
  credentials: boolean
  records: boolean
}

export interface BackupSources {
  store: StoreClient
  keyring: Keyring
  databasePath: string
  nativeBinding: string | undefined
  dataDirectory: string
  version: string
}

const chunkBytes = 192 * 1024
const lookEveryMs = 200
/** What the proof in a backup's head is sealed as. */
export const proofIdentity = 'backup'

/** Makes backups, one at a time: each takes the room of a database while it is made. */
export class BackupTaker {
  readonly #sources: BackupSources
  readonly #directory: string
  #running = false

  constructor(sources: BackupSources) {
    this.#sources = sources
    this.#directory = join(sources.dataDirectory, backupFolder)
  }

  /** Refuses at once what cannot be done; the rest happens as the events are asked for. */
  async take(options: BackupOptions): Promise<AsyncIterable<BackupEvent>> {
    const target = await this.#prepareSeal(options)
    if (this.#running) throw await anotherRuns()
    return this.#events(options, target)
  }

  /** Without credentials, too, the head is proved by the recovery key, as long as there is one. */
  async #prepareSeal({ credentials }: BackupOptions): Promise<BackupSeal | null> {
    const { store, keyring } = this.#sources
    const sealed = await store.seal.recovery()
    // The key's public half travels too, so that the restored gateway goes on making backups for it.
    if (sealed === null && (!credentials || (await store.seal.sealed()).length === 0)) return null
    if (sealed === null)
      throw await refused(
        'There is no recovery key to seal the credentials with.',
        'Create one: spgw seal recovery-key. Or leave the credentials out: --without-credentials.',
      )
    const { key, envelope } = makeBackupKey(keyring.open(sealed, 'recovery').reveal())
    return { keyring: makeKeyring(key), envelope, credentials, resealed: 0, broken: [] }
  }

  async *#events(options: BackupOptions, seal: BackupSeal | null): AsyncGenerator<BackupEvent> {
    // Not before somebody asks for the first event: who never does would keep all others from theirs.
    if (this.#running) throw await anotherRuns()
    this.#running = true
    const copyPath = join(this.#directory, `${randomUUID()}.db`)
    try {
      makeDirectory(this.#directory)
      await this.#sources.store.ingest()
      const contents = yield* this.#copy(copyPath, options, seal)
      yield* this.#send(copyPath, contents, seal)
    } finally {
      rmSync(this.#directory, { recursive: true, force: true })
      this.#running = false
    }
  }

  async *#copy(copyPath: string, options: BackupOptions, seal: BackupSeal | null) {
    const { databasePath, nativeBinding, keyring } = this.#sources
    const task = {
      task: 'take',
      databasePath,
      copyPath,
      records: options.records,
      credentials: seal?.credentials ?? false,
    }
    const worker = startThread('backup', { ...task, ...(nativeBinding === undefined ? {} : { nativeBinding }) })
    try {
      const following = followBackup(worker, {
        begin: async () => {},
        reseal: (values) => resealFor(seal, values, keyring),
      })
      yield* watch(databasePath, copyPath, following)
      const { contents, end } = await following
      await end()
      return contents
    } finally {
      await worker.terminate()
    }
  }

  async *#send(copyPath: string, contents: Contents, seal: BackupSeal | null): AsyncGenerator<BackupEvent> {
    const bytes = statSync(copyPath).size
    const sha256 = await hashFile(copyPath)
    const about = {
      created_at: new Date().toISOString(),
      version: this.#sources.version,
      ...contents,
      credentials: seal?.resealed ?? 0,
    }
    const proof = seal?.keyring.seal(sha256, proofIdentity) ?? ''
    const header: BackupHeader = {
      ...about,
      database: { bytes, sha256 },
      seal: seal === null ? null : { ...seal.envelope, proof },
    }
    const head = formatHead(header)
    const hash = createHash('sha256').update(head)
    const recovery_key_id = seal?.envelope.recovery_key_id ?? null
    const summary = { ...about, recovery_key_id, broken: seal?.broken ?? [] }
    yield { kind: 'begin', bytes: head.length + bytes, summary }
    yield { kind: 'bytes', base64: head.toString('base64') }
    for await (const chunk of createReadStream(copyPath, { highWaterMark: chunkBytes })) {
      hash.update(chunk as Buffer)
      yield { kind: 'bytes', base64: (chunk as Buffer).toString('base64') }
      reachFaultPoint('backup.half-sent')
    }
    yield { kind: 'end', sha256: hash.digest('hex') }
  }
}

type Contents = Awaited<ReturnType<typeof followBackup>>['contents']

interface BackupSeal {
  keyring: Keyring
  /** Whether they are in it. */
  credentials: boolean
  envelope: ReturnType<typeof makeBackupKey>['envelope']
  /** Credentials under the backup's key. */
  resealed: number
  broken: string[]
}

/** What no key of ours opens, no key of theirs should: it is left behind, whatever it was. */
function resealFor(seal: BackupSeal | null, values: SealedValue[], from: Keyring) {
  if (seal === null || !seal.credentials) return { changes: [], leave: [] }
  const { changes, broken } = resealValues(values, from, seal.keyring)
  seal.resealed = changes.filter(({ identity }) => identity.startsWith('credential:')).length
  seal.broken = broken
  return { changes, leave: broken }
}

/** SQLite does not say how far it is, and the copy grows towards the size of what it copies. */
async function* watch(
  databasePath: string,
  copyPath: string,
  following: Promise<unknown>,
): AsyncGenerator<BackupEvent> {
  const over = following.then(
    () => true,
    () => true,
  )
  const total = sizeOf(databasePath)
  while (!(await Promise.race([over, wait(lookEveryMs, false)])))
    yield { kind: 'progress', stage: 'copying', done: Math.min(sizeOf(copyPath), total), total }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

function anotherRuns(): Promise<Error> {
  return refused('Another backup is in progress.', 'Wait until it is finished.')
}

/** What makes an operation's error is loaded by whoever has one. */
async function refused(cause: string, hint: string): Promise<Error> {
  return (await import('../../admin/handlers/fault.ts')).refused(cause, hint)
}
