import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { getEnvironmentData, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { armThread, reachFaultPoint } from '../../core/fault-point.ts'
import { lockDatabase } from '../sqlite/lock.ts'
import { openStore } from '../sqlite/open.ts'
import { toPlainError, translateSqliteError } from '../store-error.ts'
import { type OpenCopy, openCopy, renewTriggers, takeCopy } from './backup-copy.ts'
import type { BackupContents, BackupMessage, BackupRequest, BackupThreadData } from './backup-protocol.ts'

/** A thread of its own: copying and checking a large database takes long, and would hold up the store. */
async function run(port: MessagePort, data: BackupThreadData): Promise<void> {
  const { nativeBinding } = data
  const lock = data.task === 'receive' ? await lockDatabase({ path: data.databasePath, nativeBinding }) : null
  try {
    await ask(port, { kind: 'ready' })
    const contents = await work(port, data)
    await ask(port, { kind: 'done', contents })
  } finally {
    lock?.release()
  }
}

/** The copy is closed when this resolves, and all of it in its file. */
async function work(port: MessagePort, data: BackupThreadData): Promise<BackupContents> {
  const copy = await (data.task === 'take' ? take(data) : receive(data))
  try {
    const request = await ask(port, { kind: 'sealed', values: await copy.sealed() })
    if (request.kind === 'reseal') await copy.reseal(request.changes, request.leave)
    reachFaultPoint(data.task === 'take' ? 'backup.resealed' : 'restore.resealed')
    copy.check()
    return await copy.describe()
  } finally {
    await copy.close()
  }
}

async function take(data: Extract<BackupThreadData, { task: 'take' }>): Promise<OpenCopy> {
  const { nativeBinding } = data
  takeCopy({ path: data.databasePath, nativeBinding }, data.copyPath)
  reachFaultPoint('backup.snapshot-taken')
  const copy = openCopy({ path: data.copyPath, nativeBinding })
  await copy.leaveBehind({ records: !data.records, credentials: !data.credentials })
  return copy
}

/** Checked before anything reads it, then brought to the schema of this spgw, with its own triggers and no others. */
async function receive(data: Extract<BackupThreadData, { task: 'receive' }>): Promise<OpenCopy> {
  const file = { path: data.copyPath, nativeBinding: data.nativeBinding }
  const raw = openCopy(file)
  try {
    raw.check()
  } finally {
    await raw.close()
  }
  const fresh = { ...file, path: `${file.path}.fresh` }
  for (const each of [file, fresh]) {
    const store = await openStore(each)
    await store.close()
  }
  renewTriggers(file, fresh)
  rmSync(fresh.path)
  return openCopy(file)
}

async function ask(port: MessagePort, message: BackupMessage): Promise<BackupRequest> {
  const answer = once(port, 'message')
  port.postMessage(message)
  const [request] = (await answer) as [BackupRequest]
  return request
}

armThread(getEnvironmentData, () => process.kill(process.pid, 'SIGKILL'))
const port = parentPort
if (!port) throw new Error('src/store/backup/backup-thread.ts is the entry of a worker thread')
run(port, workerData as BackupThreadData)
  .catch((error: unknown) =>
    port.postMessage({ kind: 'failed', error: toPlainError(translateSqliteError(error)) } satisfies BackupMessage),
  )
  .finally(() => port.close())
