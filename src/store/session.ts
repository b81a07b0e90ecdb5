import { reachFaultPoint } from '../core/fault-point.ts'
import type { Writers } from '../core/journal-format.ts'
import type { RequestRecord } from '../core/record.ts'
import type { StoredSnapshot, StoreHealth } from './api.ts'
import { ingestJournal } from './ingest.ts'
import type { OpenStore } from './open.ts'
import { removeRecordsBefore } from './retention.ts'
import { journalBytes, listSetAside } from './segment-files.ts'
import { readSnapshot } from './snapshot-read.ts'
import { callTable, type TableCall } from './tables.ts'

const ingestEveryMs = 200
const checkpointEveryMs = 1000
const retainEveryMs = 10 * 60_000
const checkpointAtBytes = 1024 * 1024

interface SessionData {
  journalDirectory: string
  boot: string
  retentionMs?: number
}

/** An open store at work: calls, the ingestion of the journal, and checkpoints between them. */
export class StoreSession {
  /** Whether records are pushed as ingestion brings them. */
  pushing = false
  /** Whose segments are still written. Until it is told, the session takes all threads of its boot for alive. */
  writers: Writers
  readonly #store: OpenStore
  readonly #data: SessionData
  #retentionMs: number | undefined
  readonly #push: (records: RequestRecord[]) => void
  #running: Promise<number> | null = null
  #queued: Promise<number> | null = null
  #ingestTrouble: string | null = null
  /** When the last pass that came to its end began. */
  #storedAt: number | null = null
  #checkpointTrouble: string | null = null
  #retention: Promise<void> | null = null
  #looking: Promise<void> | null = null
  #timers: NodeJS.Timeout[] = []

  constructor(store: OpenStore, data: SessionData, push: (records: RequestRecord[]) => void) {
    this.#store = store
    this.#data = data
    this.#retentionMs = data.retentionMs
    this.#push = push
    this.writers = { boot: data.boot, running: [], next: 0 }
  }

  start(): void {
    this.#timers = [
      setInterval(() => this.#ingestInBackground(), ingestEveryMs),
      setInterval(() => this.#checkpoint(), checkpointEveryMs),
      setInterval(() => this.#retain(), retainEveryMs),
    ]
  }

  /** How long records are kept, from now on. */
  keepRecords(retentionMs: number): void {
    this.#retentionMs = retentionMs
  }

  async call(call: TableCall): Promise<unknown> {
    return await callTable(this.#store.connection, call)
  }

  async snapshot(keysSince: number): Promise<StoredSnapshot> {
    return await this.#store.connection.read((db) => readSnapshot(db, keysSince))
  }

  /**
   * A pass that began after this call. While one runs, all who ask share the next: the running one may be past the
   * entries they wait for.
   */
  async ingest(): Promise<number> {
    if (!this.#running) return await this.#begin()
    this.#queued ??= this.#running.then(
      () => this.#beginQueued(),
      () => this.#beginQueued(),
    )
    return await this.#queued
  }

  async health(): Promise<StoreHealth> {
    const sizes = this.#store.sizes()
    return {
      degraded: this.#store.connection.trouble ?? this.#ingestTrouble ?? this.#checkpointTrouble,
      databaseBytes: sizes.database + sizes.log,
      journalBytes: await journalBytes(this.#data.journalDirectory),
      schemaVersion: this.#store.schemaVersion,
      setAside: await listSetAside(this.#data.journalDirectory),
      storedAt: this.#storedAt === null ? null : new Date(this.#storedAt).toISOString(),
    }
  }

  /** What runs is finished first; what the journal still holds is read at the next start. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.allSettled([this.#running, this.#queued, this.#retention, this.#looking])
    await this.#store.close()
  }

  #beginQueued(): Promise<number> {
    this.#queued = null
    return this.#begin()
  }

  #begin(): Promise<number> {
    const run = ingestJournal({
      connection: this.#store.connection,
      journalDirectory: this.#data.journalDirectory,
      writers: this.writers,
      onRecords: (records) => this.pushing && this.#push(records),
    })
    const begun = Date.now()
    this.#running = run
      .then((changed) => {
        this.#storedAt = begun
        this.#ingestTrouble = null
        return changed
      })
      .finally(() => {
        this.#running = null
      })
    return this.#running
  }

  #ingestInBackground(): void {
    if (this.#running) return
    this.#look()
    this.#begin().then(
      () => {},
      (error: unknown) => {
        // A database that cannot be written says so itself, and stops saying so by itself.
        if (this.#store.connection.trouble === null)
          this.#ingestTrouble = `the journal is not being read: ${error instanceof Error ? error.message : String(error)}`
      },
    )
  }

  /** What it finds stands in the connection's trouble. */
  #look(): void {
    this.#looking ??= this.#store.connection
      .look()
      .catch(ignore)
      .finally(() => {
        this.#looking = null
      })
  }

  #retain(): void {
    const retentionMs = this.#retentionMs
    if (retentionMs === undefined || this.#retention) return
    // A failure stands in the connection's trouble already, and the next turn tries again.
    this.#retention = removeRecordsBefore(this.#store.connection, Date.now() - retentionMs)
      .then(ignore, ignore)
      .finally(() => {
        this.#retention = null
      })
  }

  #checkpoint(): void {
    if (this.#store.sizes().log < checkpointAtBytes) return
    try {
      reachFaultPoint('checkpoint.before')
      this.#store.checkpoint()
      reachFaultPoint('checkpoint.after')
      this.#checkpointTrouble = null
    } catch (error) {
      this.#checkpointTrouble = `no checkpoint: ${error instanceof Error ? error.message : String(error)}`
    }
  }
}

function ignore(): void {}
