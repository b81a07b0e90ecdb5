import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BackupEvent } from '../../admin/contract/backup.ts'
import { backupFolder } from '../places.ts'
import type { BackupOptions, BackupSources, BackupTaker } from './take-backup.ts'

/** Backups of the running gateway. What makes one is loaded with the first. */
export class Backups {
  readonly #sources: BackupSources
  #taker: Promise<BackupTaker> | null = null

  constructor(sources: BackupSources) {
    this.#sources = sources
    // Of a gateway that ended in the middle of one.
    rmSync(join(sources.dataDirectory, backupFolder), { recursive: true, force: true })
  }

  /** Refuses at once what cannot be done; the rest happens as the events are asked for. */
  async take(options: BackupOptions): Promise<AsyncIterable<BackupEvent>> {
    this.#taker ??= import('./take-backup.ts').then(({ BackupTaker }) => new BackupTaker(this.#sources))
    return await (await this.#taker).take(options)
  }
}
