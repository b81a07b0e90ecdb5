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
  /** The thread has what it needs to itself, and has touched nothing yet. */
  begin(): Promise<void>
  /** Holds the keys, which the thread does not. */
  reseal(values: SealedValue[]): Omit<Extract<BackupRequest, { kind: 'reseal' }>, 'kind'>
}

/**
 * Sees a backup thread through its task; `end` lets it go. Rejects with what failed, in the thread or in a step, and the
 * thread is then gone or to be ended by whoever started it.
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
