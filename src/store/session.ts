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

/** Pause between passes while there is traffic. A list of records asks for a pass of its own. */
const ingestEveryMs = 250
/** Longest pause while there is no traffic and no follower: it grows up to this. */
const idleEveryMs = 1000
/** A large write-ahead log is cheaper to checkpoint: most of its pages have changed several times by then. */
const checkpointAtBytes = 16 * 1024 * 1024
/** While there is no traffic, so that a start after a crash has little to recover. */
const idleCheckpointAtBytes = 1024 * 1024

interface SessionData {
  journalDirectory: string
  boot: string
  retention?: Retention
  traces?: boolean
  sharesRecords?: boolean
}

/** An open store: answers calls, ingests the journal, and makes checkpoints in between. */
export class StoreSession {
  /** Gets what ingestion brings in. */
  readonly audience: Audience = { ended: null, admitted: false, traffic: null, holds: null, traces: false }
  /** Which threads still write segments. Until the control plane says so, all threads of this boot count as running. */
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
  /** When the last complete pass began. */
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

  /** Opens the outbox before the first record is stored, so that none is stored without being shipped. */
  async start(): Promise<void> {
    await this.#beginOutbox()
    this.#pollIn(ingestEveryMs)
    this.#upkeep.start()
  }

  /** Sets how long records and bodies are kept, and how much of them. */
  keepRecords(retention: Retention): void {
    this.#mostBytes = retention.mostBytes
    this.#upkeep.keep(retention)
  }

  /** Removes records or bodies; the freed space goes back to the file system soon after. */
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

  /** Only for nodes of a cluster. */
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
   * Waits for a pass that begins after this call. While one runs, all callers share the next: the running one may be past the entries that
   * they wait for.
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
    const held = this.#upkeep.heldUntil
    return {
      degraded: this.#store.connection.trouble ?? this.#ingestTrouble ?? this.#checkpointTrouble,
      databaseBytes: this.#store.bytes(),
      databaseMostBytes: this.#mostBytes,
      journalBytes: await journalBytes(this.#data.journalDirectory),
      diskFreeBytes: await freeBytes(this.#data.journalDirectory),
      schemaVersion: this.#store.schemaVersion,
      removalHeldUntil: held === null ? null : new Date(held).toISOString(),
      cache: await this.#cache.figures(),
      setAside: await listSetAside(this.#data.journalDirectory),
      storedAt: this.#storedAt === null ? null : new Date(this.#storedAt).toISOString(),
    }
  }

  /** Waits for work in progress. What the journal still holds is read at the next start. */
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
    // The connection reports by itself that the database cannot be written, and when it can again.
    if (this.#store.connection.trouble === null)
      this.#ingestTrouble = `the journal is not being read: ${errorText(error)}`
    return 0
  }

  /** Checks the database; the connection's `trouble` holds the result. */
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
