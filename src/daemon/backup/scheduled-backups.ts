import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BackupEvent } from '../../admin/contract/backup.ts'
import type { BackupSchedule, Settings } from '../../config/settings.ts'
import { errorText } from '../../core/caught.ts'
import type { Log } from '../log.ts'
import { makeDirectory } from '../make-directory.ts'

const lookEveryMs = 30_000
const retryMs = 10 * 60_000
const dayMs = 24 * 60 * 60_000
/** Nothing else in the directory is ever removed. */
const nameForm = /^spgw-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/
/** Of one that was being written when the gateway ended. */
const partForm = /^spgw-\d{8}T\d{6}Z\.backup\.part$/

export interface ScheduledBackupsOptions {
  /** Starts one, refuses where that cannot be done. */
  take(): Promise<AsyncIterable<BackupEvent>>
  /** Why backups are not made; null: they are. */
  onDegraded(reason: string | null): void
  log: Log
  now?(): number
}

/**
 * `backup.schedule`: the gateway makes backups by itself, into files that are there whole or not at all. When the next is due is
 * read from the names of those that are there, so that a restart neither skips one nor makes one too many.
 */
export class ScheduledBackups {
  readonly #options: ScheduledBackupsOptions
  #settings: Settings['backup'] = null
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #notBefore = 0
  /** How often the settings have changed. */
  #changes = 0
  #startedAt: number

  constructor(options: ScheduledBackupsOptions) {
    this.#options = options
    this.#startedAt = this.#now()
  }

  change(settings: Settings['backup']): void {
    this.#settings = settings
    this.#changes++
    this.#notBefore = 0
    if (settings === null) {
      this.#options.onDegraded(null)
      this.#stopTimer()
      return
    }
    this.#timer ??= setInterval(() => void this.look(), lookEveryMs).unref()
    void this.look()
  }

  /** A backup that is being made is finished first. */
  async stop(): Promise<void> {
    this.#settings = null
    this.#stopTimer()
    await this.#running
  }

  /** Makes one if it is due. Never rejects. */
  async look(): Promise<void> {
    const settings = this.#settings
    if (this.#running !== null) return this.#running
    if (settings === null || this.#isPausing()) return
    const changes = this.#changes
    this.#running = this.#makeIfDue(settings).then(
      () => this.#options.onDegraded(null),
      (error: unknown) => this.#fail(error, changes),
    )
    await this.#running
    this.#running = null
  }

  async #makeIfDue({ schedule, keep, directory }: NonNullable<Settings['backup']>): Promise<void> {
    makeDirectory(directory)
    const found = (await readdir(directory)).filter((name) => nameForm.test(name)).sort()
    // Of a clock that was ahead: until its time comes, it neither keeps the next from being made nor is one of those kept.
    const names = found.filter((name) => (timeOfName(name) ?? 0) <= this.#now())
    // The gateway may have started while the clock was ahead, too.
    this.#startedAt = Math.min(this.#startedAt, this.#now())
    if (this.#now() < nextTime(schedule, timeOfName(names.at(-1)), this.#startedAt)) return
    const name = `spgw-${nameTime(this.#now())}.backup`
    const bytes = await this.#write(directory, name)
    this.#options.log.info('backup made', { file: join(directory, name), bytes })
    const old = keep === null ? [] : [...names, name].slice(0, -keep)
    for (const each of old) await rm(join(directory, each), { force: true })
  }

  async #write(directory: string, name: string): Promise<number> {
    for (const left of await readdir(directory)) if (partForm.test(left)) await rm(join(directory, left))
    const part = join(directory, `${name}.part`)
    try {
      const bytes = await writeBackup(part, await this.#options.take())
      await rename(part, join(directory, name))
      return bytes
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }

  /** After a failure. A clock that was set back makes no pause longer. */
  #isPausing(): boolean {
    const left = this.#notBefore - this.#now()
    return left > 0 && left <= retryMs
  }

  #fail(error: unknown, changes: number): void {
    const reason = errorText(error)
    // Of settings that no longer hold, such as a directory that was corrected meanwhile.
    if (changes !== this.#changes) return this.#options.log.warn('a scheduled backup failed', { reason })
    this.#notBefore = this.#now() + retryMs
    this.#options.log.error('the scheduled backup failed; it is tried again in 10 min', { reason })
    this.#options.onDegraded(`the last scheduled backup failed: ${reason}`)
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }
}

async function writeBackup(path: string, events: AsyncIterable<BackupEvent>): Promise<number> {
  await using file = await open(path, 'w', 0o600)
  let bytes = 0
  let whole = false
  for await (const event of events) {
    if (event.kind === 'end') whole = true
    if (event.kind !== 'bytes') continue
    const chunk = Buffer.from(event.base64, 'base64')
    await file.writeFile(chunk)
    bytes += chunk.length
  }
  if (!whole) throw new Error('the backup ended early')
  await file.sync()
  return bytes
}

/** When the next is due. Without any yet: after one interval, or at the next time of day, from the start on. */
export function nextTime(schedule: BackupSchedule, newest: number | null, startedAt: number): number {
  if ('everyMs' in schedule) return newest === null ? startedAt : newest + schedule.everyMs
  const after = newest ?? startedAt
  const today = after - (after % dayMs) + schedule.minuteOfDay * 60_000
  return today > after ? today : today + dayMs
}

function timeOfName(name: string | undefined): number | null {
  const parts = nameForm.exec(name ?? '')
  if (parts === null) return null
  const [year = 0, month = 1, day = 1, hour, minute, second] = parts.slice(1).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

function nameTime(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d{3}/g, '')
}
