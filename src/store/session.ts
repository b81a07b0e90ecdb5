import type { MessagePort } from 'node:worker_threads'
import { errorText } from '../core/caught.ts'
import { reachFaultPoint } from '../core/fault-point.ts'
import type { Writers } from '../core/journal-format.ts'
import type { PurgeQuestion, PurgeSlice, StoredSnapshot, StoreHealth } from './api.ts'
import { AnswerCache } from './cache/answer-cache.ts'
import { readSnapshot } from './configuration/snapshot-read.ts'
import { type Audience, Ingestion } from './ingest/ingest.ts'
import { freeBytes, journalBytes, listSetAside } from './ingest/segment-files.ts'
import { ObjectLookup } from './objects/object-lookup.ts'
import { purge } from './records/purge.ts'
import type { Retention } from './records/record-tables.ts'
import { Upkeep } from './records/upkeep.ts'
import { Outbox } from './replica/outbox.ts'
import { Replica } from './replica/replica.ts'
import type { ReplicaRequest } from './replica/replica-types.ts'
import type { OpenStore } from './sqlite/open.ts'
import { callTable, type TableCall } from './tables.ts'

/** Between passes while there is traffic; whoever lists records asks for a pass of their own. */
const ingestEveryMs = 250
/** While there is none, and nobody follows: a journal that stands still is looked at less and less often. */
const idleEveryMs = 1000
/** A log that is moved seldom is moved cheaply: most of its pages have changed several times by then. */
const checkpointAtBytes = 16 * 1024 * 1024
/** While there is time, so that a start after a crash has little to go through. */
const idleCheckpointAtBytes = 1024 * 1024

interface SessionData {
  journalDirectory: string
  boot: string
  retention?: Retention
  traces?: boolean
  sharesRecords?: boolean
}

/** An open store at work: calls, the ingestion of the journal, and checkpoints between them. */
export class StoreSession {
  /** Who is told of what ingestion brings in. */
  readonly audience: Audience = { ended: null, admitted: false, traffic: null, holds: null, traces: false }
  /** Whose segments are still written. Until it is told, the session takes all threads of its boot for alive. */
  writers: Writers
  readonly #store: OpenStore
  readonly #data: SessionData
  #mostBytes: number | null
  readonly #upkeep: Upkeep
  readonly #ingestion: Ingestion
  readonly #objects: ObjectLookup
  readonly #cache: AnswerCache
  #replica: Replica | null = null
  #outbox: Outbox | null = null
  #running: Promise<number> | null = null
  #queued: Promise<number> | null = null
  #ingestTrouble: string | null = null
  /** When the last pass that came to its end began. */
  #storedAt: number | null = null
  #checkpointTrouble: string | null = null
  #looking: Promise<void> | null = null
  #polling: NodeJS.Timeout | undefined
  #closing = false

  constructor(store: OpenStore, data: SessionData) {
    this.#store = store
    this.#data = data
    this.#mostBytes = data.retention?.mostBytes ?? null
    this.audience.traces = data.traces ?? false
    const { connection } = store
    const { journalDirectory } = data
    this.#ingestion = new Ingestion({ connection, journalDirectory, audience: this.audience })
    this.#objects = new ObjectLookup(
      connection,
      () => this.ingest(),
      () => this.#outbox?.others ?? null,
    )
    this.#cache = new AnswerCache(connection)
    const expire = (now: number) => this.#cache.removeExpired(now)
    this.#upkeep = new Upkeep({ connection, audience: this.audience, expire }, data.retention)
    this.writers = { boot: data.boot, running: [], next: 0 }
  }

  /** Before the first record is stored it stands fast whether it is to be shipped. */
  async start(): Promise<void> {
    await this.#beginOutbox()
    this.#pollIn(ingestEveryMs)
    this.#upkeep.start()
  }

  /** How long records and bodies are kept, and how much, from now on. */
  keepRecords(retention: Retention): void {
    this.#mostBytes = retention.mostBytes
    this.#upkeep.keep(retention)
  }

  /** What becomes free goes back to the file system soon. */
  async purge(question: PurgeQuestion, countBelow?: string): Promise<PurgeSlice> {
    const slice = await purge(this.#store.connection, question, countBelow)
    if (slice.before === null) this.#upkeep.soon()
    return slice
  }

  serveObjects(port: MessagePort): void {
    this.#objects.serve(port)
    this.#cache.serve(port)
  }

  async call(call: TableCall): Promise<unknown> {
    return await callTable(this.#store.connection, call)
  }

  /** A node alone never asks. */
  async replica(request: ReplicaRequest): Promise<unknown> {
    this.#replica ??= new Replica(this.#store.connection, this.#store.schemaVersion)
    const answer = await this.#replica.answer(request)
    if (request.act === 'enter' || request.act === 'leave') await this.#beginOutbox()
    return answer
  }

  serveOutbox(port: MessagePort): void {
    if (this.#outbox === null) port.close()
    else this.#outbox.serve(port)
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
    return {
      degraded: this.#store.connection.trouble ?? this.#ingestTrouble ?? this.#checkpointTrouble,
      databaseBytes: this.#store.bytes(),
      databaseMostBytes: this.#mostBytes,
      journalBytes: await journalBytes(this.#data.journalDirectory),
      diskFreeBytes: await freeBytes(this.#data.journalDirectory),
      schemaVersion: this.#store.schemaVersion,
      cache: await this.#cache.figures(),
      setAside: await listSetAside(this.#data.journalDirectory),
      storedAt: this.#storedAt === null ? null : new Date(this.#storedAt).toISOString(),
    }
  }

  /** What runs is finished first; what the journal still holds is read at the next start. */
  async close(): Promise<void> {
    this.#closing = true
    clearTimeout(this.#polling)
    await Promise.allSettled([this.#running, this.#queued, this.#upkeep.close(), this.#looking])
    await this.#store.close()
  }

  async #beginOutbox(): Promise<void> {
    const { sharesRecords, journalDirectory } = this.#data
    if (sharesRecords === undefined) return
    const { connection } = this.#store
    const state = await connection.read((db) => db.selectFrom('replica').select('member').executeTakeFirst())
    this.#outbox ??= new Outbox(connection, journalDirectory, this)
    await this.#outbox.begin(sharesRecords ? (state?.member ?? null) : null)
  }

  #beginQueued(): Promise<number> {
    this.#queued = null
    return this.#begin()
  }

  #begin(): Promise<number> {
    const begun = Date.now()
    this.#running = this.#ingestion
      .pass(this.writers)
      .then((changed) => {
        this.#storedAt = begun
        this.#ingestTrouble = null
        void this.#checkpoint(changed > 0 ? checkpointAtBytes : idleCheckpointAtBytes)
        return changed
      })
      .finally(() => {
        this.#running = null
      })
    return this.#running
  }

  #pollIn(pauseMs: number): void {
    this.#polling = setTimeout(() => void this.#poll(pauseMs), pauseMs)
  }

  async #poll(pauseMs: number): Promise<void> {
    this.#look()
    const changed = await (this.#running ?? this.#begin()).catch((error: unknown) => this.#noteUnread(error))
    if (this.#closing) return
    const busy = changed > 0 || this.audience.ended !== null
    this.#pollIn(busy ? ingestEveryMs : Math.min(pauseMs * 2, idleEveryMs))
  }

  #noteUnread(error: unknown): number {
    // A database that cannot be written says so itself, and stops saying so by itself.
    if (this.#store.connection.trouble === null)
      this.#ingestTrouble = `the journal is not being read: ${errorText(error)}`
    return 0
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

  async #checkpoint(atBytes: number): Promise<void> {
    if (this.#closing) return
    try {
      reachFaultPoint('checkpoint.before')
      await this.#store.connection.checkpoint(atBytes)
      reachFaultPoint('checkpoint.after')
      this.#checkpointTrouble = null
    } catch (error) {
      this.#checkpointTrouble = `no checkpoint: ${errorText(error)}`
    }
  }
}

function ignore(): void {}
