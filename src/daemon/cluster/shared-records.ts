import { MessageChannel } from 'node:worker_threads'
import type { PurgeProgress, SharedCosts } from '../../admin/handlers/context.ts'
import type { ClusterLink } from '../../cluster/link.ts'
import type { KeepTimes, OutboxReport, RecordsPlace } from '../../cluster/protocol.ts'
import type { RequestRecord } from '../../core/record.ts'
import type { PurgeQuestion, StoreClient } from '../../store/api.ts'
import { RecordReader, type RecordReaderParts } from '../records/read-records.ts'
import { sharedCosts } from './shared-costs.ts'
import { purgeNodes } from './shared-purge.ts'

/** Older than any batch takes, and any standby to take over. */
const oldMs = 60_000
/** Reports come several times a second. */
const silentMs = 30_000

/** How the store and the cluster's thread bring the records of this node to PostgreSQL, past the main thread. */
export class SharedRecords {
  /** For each thread that starts. */
  place: RecordsPlace
  readonly #store: StoreClient
  #report: OutboxReport | null = null
  /** When the last came, also by a clock that nobody sets; null: none has. */
  #heard: { time: string; at: number } | null = null
  /** null: this gateway is alone. */
  #link: ClusterLink | null = null
  readonly #followers = new Set<(records: RequestRecord[]) => void>()

  constructor(place: RecordsPlace, store: StoreClient) {
    this.place = place
    this.#store = store
  }

  /** What waits; null: nobody has said yet. */
  get report(): OutboxReport | null {
    return this.#report
  }

  /**
   * Returns why the cluster lacks records of this node; null: it lacks none that are older than a minute, or wait for what
   * somebody has to put right.
   */
  hear(report: OutboxReport, now: number): string | null {
    this.#report = report
    this.#heard = { time: new Date(now).toISOString(), at: performance.now() }
    const { depth, since, usage, usageSince, trouble, isRefused } = report
    const isOld = (time: string | null): time is string =>
      time !== null && (isRefused || now - Date.parse(time) >= oldMs)
    const ofUsage = `usage of ${usage} ${usage === 1 ? 'batch or response' : 'batches or responses'}`
    if (isOld(since)) {
      const reason = trouble === null ? 'more comes in than PostgreSQL takes' : trouble
      // Bodies stand in the outbox before their records.
      const what = depth === 0 ? 'captured bodies' : `${depth} records`
      const more = usage === 0 ? '' : `, and the ${ofUsage}`
      return `${what}${more} wait for PostgreSQL, the oldest since ${since}: ${reason}`
    }
    // Where nothing is wrong it waits for another node, or for the record of the request that began the work.
    if (trouble === null || !isOld(usageSince)) return null
    return `the ${ofUsage} waits to be counted, the oldest since ${usageSince}: ${trouble}`
  }

  /** Why nobody knows what the cluster lacks; null: it is known. A thread that is stuck says nothing of itself. */
  findSilence(at = performance.now()): string | null {
    if (this.#heard === null || at - this.#heard.at < silentMs) return null
    return `what waits for PostgreSQL is not known since ${this.#heard.time}: PostgreSQL is very slow, or the cluster thread is stuck`
  }

  /** For both threads, and whichever takes the place of one. */
  start(link: ClusterLink): void {
    this.connect(link)
    this.#store.watchThread({ onDeath() {}, onRevival: () => this.connect(link) })
  }

  /** From now on records are read from PostgreSQL; null: from here, by a gateway that is alone. */
  read(link: ClusterLink | null, said: Pick<RecordReaderParts, 'out' | 'onApart'>): void {
    const { node } = this.place
    const store = this.#store
    // A node that is alone has nobody to ask for the records of others.
    if (link === null) this.#link?.follow(false)
    this.#link = link
    // What it said of another time, as nobody's node, is no silence of this one.
    this.#heard = null
    link?.follow(this.#followers.size > 0)
    store.readRecords(link === null ? null : new RecordReader({ link, store, node, ...said }).read)
  }

  /** How long they are kept from now on. */
  keep(keeps: KeepTimes, link: ClusterLink): void {
    this.place = { ...this.place, ...keeps }
    link.keep(keeps)
  }

  /** Null: this gateway is alone with its records. */
  purge(question: PurgeQuestion): AsyncGenerator<PurgeProgress> | null {
    return this.#link === null ? null : purgeNodes(this.#link, question)
  }

  /** Null: this gateway is alone with its records. */
  costs(): SharedCosts | null {
    return this.#link === null ? null : sharedCosts(this.#link)
  }

  /** Records of all nodes as they end, and of this one also as they begin. The result ends it. */
  readonly onRecords: StoreClient['onRecords'] = (listener, allStates) => {
    const { node } = this.place
    const name = (records: RequestRecord[]) =>
      listener(this.#link === null ? records : records.map((record) => ({ ...record, node })))
    const stop = this.#store.onRecords(name, allStates)
    const hear = (records: RequestRecord[]) => listener(records)
    this.#followers.add(hear)
    if (this.#followers.size === 1) this.#link?.follow(true)
    return () => {
      stop()
      this.#followers.delete(hear)
      if (this.#followers.size === 0) this.#link?.follow(false)
    }
  }

  /** Of other nodes. */
  hearEnded(records: RequestRecord[]): void {
    for (const listener of this.#followers) listener(records)
  }

  /** Whenever one of the two threads has begun. */
  connect(link: ClusterLink): void {
    if (this.#followers.size > 0) link.follow(true)
    const { port1, port2 } = new MessageChannel()
    this.#store.serveOutbox(port1)
    link.giveOutbox(port2)
  }
}
