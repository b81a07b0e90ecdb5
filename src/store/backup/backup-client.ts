import type { SealedValue } from '../../sealing/reseal.ts'
import { fromPlainError, StoreDegraded } from '../store-error.ts'
import type { BackupContents, BackupMessage, BackupRequest } from './backup-protocol.ts'

/** What the client needs of a `Worker`. */
export interface BackupWorker {
  postMessage(message: BackupRequest): void
  on(event: 'message', listener: (message: BackupMessage) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'exit', listener: () => void): unknown
}

export interface BackupSteps {
  /** Called when the thread holds the locks it needs, before it changes anything. */
  begin(): Promise<void>
  /** Called for work that needs the keys: the thread does not have them. */
  reseal(values: SealedValue[]): Omit<Extract<BackupRequest, { kind: 'reseal' }>, 'kind'>
}

/**
 * Takes a backup thread through its task; `end` lets it exit. Rejects when the thread or a step fails; the caller then
 * ends the thread, if it is still there.
 */
export function followBackup(
  worker: BackupWorker,
  steps: BackupSteps,
): Promise<{ contents: BackupContents; end(): Promise<void> }> {
  const ended = new Promise<void>((resolve) => worker.on('exit', () => resolve()))
  return new Promise((resolve, reject) => {
    const end = async () => {
      worker.postMessage({ kind: 'end' })
      await ended
    }
    const hear = async (message: BackupMessage) => {
      if (message.kind === 'failed') throw fromPlainError(message.error)
      if (message.kind === 'done') return resolve({ contents: message.contents, end })
      if (message.kind === 'sealed') return worker.postMessage({ kind: 'reseal', ...steps.reseal(message.values) })
      await steps.begin()
      worker.postMessage({ kind: 'begin' })
    }
    worker.on('message', (message) => void hear(message).catch(reject))
    worker.on('error', reject)
    void ended.then(() => reject(new StoreDegraded('the backup thread has ended')))
  })
}
