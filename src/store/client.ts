import type { MessagePort } from 'node:worker_threads'
import { errorText } from '../core/caught.ts'
import type { SettledHold } from '../core/journal-format.ts'
import type { RequestRecord } from '../core/record.ts'
import type { LongTurn } from '../core/threads/turn-watch.ts'
import type { TrafficTally } from '../core/traffic-tally.ts'
import type {
  AuditLine,
  PurgeSlice,
  SchemaUpgrade,
  StoreClient,
  StoredSnapshot,
  StoreHealth,
  StoreWitness,
  Tables,
} from './api.ts'
import { storeAccess } from './operators/access.ts'
import type { StoreNews, StoreRequest } from './protocol.ts'
import { readRecord } from './records/record-json.ts'
import type { ReplicaAnswers, ReplicaRequest, SharedRead, SharedWrite } from './replica/replica-types.ts'
import { StoreDegraded, StoreStopped } from './store-error.ts'
import { type AskStore, firstLine, StoreLife, type StoreWorker } from './store-life.ts'

/**
 * Opens the store; resolves when the database is open and migrated. Awaits `onLocked` once this process has locked the data directory,
 * before anything in it is touched. Rejects with `StoreRefused`, or if the thread ends first. `start` is called again after each crash of
 * the thread.
 */
export async function startStore(start: () => StoreWorker, onLocked = async () => {}): Promise<StoreClient> {
  const calls = new Calls(start)
  return clientOf(calls, await calls.open(onLocked))
}

function clientOf(calls: Calls, upgrade: SchemaUpgrade | null): StoreClient {
  const { ask } = calls
  return {
    upgrade,
    ...proxyTables(calls, null),
    audited: (event) => proxyTables(calls, event),
    until: (signal) => {
      const { changes, reader } = calls
      return proxyTables({ ask: (make) => calls.askUntil(make, signal), changes, writer: null, reader }, null, signal)
    },
    snapshot: async (keysSince = 0) => (await ask((id) => ({ kind: 'snapshot', id, keysSince }))) as StoredSnapshot,
    ingest: async () => (await ask((id) => ({ kind: 'ingest', id }))) as number,
    health: async () => (await ask((id) => ({ kind: 'health', id }))) as StoreHealth,
    keepTraces: (wanted) => calls.send({ kind: 'traces', wanted }),
    purge: async (question) => (await ask((id) => ({ kind: 'purge', id, question }))) as PurgeSlice,
    keepRecords: (retention) => calls.send({ kind: 'retention', retention }),
    onRecords: (listener, allStates = false) => calls.followRecords(listener, allStates),
    onChange: (listener) => calls.changes.add(listener),
    onTraffic: (listener) => calls.traffic.add(listener),
    onSettledHolds: (listener) => calls.holds.add(listener),
    onLongTurn: (listener) => calls.longTurns.add(listener),
    serveObjects: (port) => calls.serve('objects', port),
    serveOutbox: (port) => calls.serve('outbox', port),
    setWriters: (writers) => calls.send({ kind: 'writers', writers }),
    watchThread: (witness) => calls.watch(witness),
    replica: async <Request extends ReplicaRequest>(request: Request) => {
      const answer = await ask((id) => ({ kind: 'replica', id, request }))
      if (request.act === 'apply' || request.act === 'enter') calls.changes.notify(undefined)
      // The thread answers each request with what `ReplicaAnswers` says of it.
      return answer as ReplicaAnswers[Request['act']]
    },
    share: (writer) => {
      calls.writer = writer
    },
    readRecords: (reader) => {
      calls.reader = reader
    },
    alone: (call) => ask((id) => ({ kind: 'table', id, ...call })),
    close: () => calls.close(),
  }
}

/** Methods that change the configuration without an audit line of their own. */
const unaudited = new Set(['providers.setReadiness', 'configuration.write'])

/** Tables that nodes read from each other, if they share their records. */
function isSharedReading(table: string): table is Parameters<SharedRead>[0]['table'] {
  return table === 'records' || table === 'objects' || table === 'bodies'
}

type TableCalls = Pick<Calls, 'ask' | 'changes' | 'writer' | 'reader'>

function proxyTables(calls: TableCalls, audit: AuditLine | null, signal: AbortSignal | null = null): Tables {
  const tables = Object.entries(storeAccess).map(([table, methods]) => {
    const entries: [string, string][] = Object.entries(methods)
    const call =
      (method: string, access: string) =>
      async (...input: unknown[]) => {
        const { ask, changes, writer, reader } = calls
        const alone = () => ask((id) => ({ kind: 'table', id, table, method, input, audit }))
        if (reader !== null && isSharedReading(table) && access !== 'write')
          return await reader({ table, method, input, signal }, alone)
        const shared = writer !== null && access === 'write'
        const output = shared ? await writer({ table, method, input, audit }) : await alone()
        if (audit !== null || unaudited.has(`${table}.${method}`)) changes.notify(undefined)
        return output
      }
    return [table, Object.fromEntries(entries.map(([method, access]) => [method, call(method, access)]))]
  })
  // `storeAccess` names every method of every table, which its type holds it to.
  return Object.fromEntries(tables) as Tables
}

/** A thread that crashes earlier than this after its start is started again only after a pause, which grows. */
const infancyMs = 10_000
const longestPauseMs = 500

/**
 * The calls of a store whose thread may crash. The thread is started again and gets the same settings as before. Calls in progress at a
 * crash fail, since it is not known whether they had an effect; later ones wait for the new thread, and fail if it does not start.
 */
class Calls {
  readonly #start: () => StoreWorker
  readonly records = new Listeners<RequestRecord[]>((wanted) => this.send({ kind: 'records', wanted }))
  readonly admitted = new Listeners<never>((wanted) => this.send({ kind: 'admitted', wanted }))
  readonly traffic = new Listeners<TrafficTally>((wanted) => this.send({ kind: 'traffic', wanted }))
  readonly holds = new Listeners<SettledHold[]>((wanted) => this.send({ kind: 'holds', wanted }))
  readonly longTurns = new Listeners<LongTurn>(ignore)
  /** Changes of the configuration that are made through this client. */
  readonly changes = new Listeners<undefined>(ignore)
  /** On a node of a cluster: makes all writes. */
  writer: SharedWrite | null = null
  /** On a node that shares its records: reads them. */
  reader: SharedRead | null = null
  readonly #witnesses = new Set<StoreWitness>()
  /** The last request of each kind, for a new thread. */
  readonly #sent = new Map<StoreRequest['kind'], StoreRequest>()
  #life: Promise<StoreLife> = Promise.reject(new StoreDegraded('the store is not open'))
  #closing: Promise<void> | null = null
  #pause: NodeJS.Timeout | null = null
  #deaths = 0
  #begun = 0

  constructor(start: () => StoreWorker) {
    this.#start = start
    this.#life.catch(ignore)
  }

  /** Starts the first thread; if that fails, the caller gets the error. */
  async open(onLocked: () => Promise<void>): Promise<SchemaUpgrade | null> {
    const { life, upgrade } = await this.#begin(onLocked)
    this.#life = Promise.resolve(life)
    return upgrade
  }

  readonly ask: AskStore = async (make) => {
    if (this.#closing !== null) throw new StoreDegraded('the store is closed')
    return await (await this.#life).ask(make)
  }

  /** The same; when the signal fires, a reading in pieces ends with `StoreStopped`. */
  async askUntil(make: Parameters<AskStore>[0], signal: AbortSignal): Promise<unknown> {
    if (signal.aborted) throw new StoreStopped('the read was cancelled')
    const life = await this.#life
    let stop: () => void = ignore
    const asked = life.ask((id) => {
      stop = () => life.send({ kind: 'stop', id })
      return make(id)
    })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    try {
      return await asked
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  send(message: StoreRequest): void {
    this.#sent.set(message.kind, message)
    this.#life.then((life) => life.send(message), ignore)
  }

  serve(kind: 'objects' | 'outbox', port: MessagePort): void {
    this.#life.then(
      (life) => life.serve(kind, port),
      () => port.close(),
    )
  }

  /** Calls the listener with records as they end, with `allStates` also as they are admitted. Call the result to stop. */
  followRecords(listener: (records: RequestRecord[]) => void, allStates: boolean): () => void {
    const ended = (records: RequestRecord[]) => {
      const wanted = records.filter(({ state }) => state !== 'admitted')
      if (wanted.length > 0) listener(wanted)
    }
    const endAdmitted = allStates ? this.admitted.add(() => {}) : ignore
    const endRecords = this.records.add(allStates ? listener : ended)
    return () => {
      endRecords()
      endAdmitted()
    }
  }

  watch(witness: StoreWitness): void {
    this.#witnesses.add(witness)
  }

  /** Resolves when the thread is gone; closing twice is closing once. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    if (this.#pause !== null) clearTimeout(this.#pause)
    const life = await this.#life.catch(() => null)
    if (life === null) return
    // A thread that dies of it is gone as well.
    await life.ask((id) => ({ kind: 'close', id })).catch(ignore)
    await life.ended
  }

  async #begin(onLocked: () => Promise<void>): Promise<{ life: StoreLife; upgrade: SchemaUpgrade | null }> {
    this.#begun = Date.now()
    const life = new StoreLife(this.#start(), (news) => this.#hear(news))
    const upgrade = await life.open(onLocked)
    void life.ended.then((reason) => this.#died(reason))
    return { life, upgrade }
  }

  #hear(news: StoreNews): void {
    if (news.kind === 'traffic') this.traffic.notify(news.tally)
    else if (news.kind === 'holds') this.holds.notify(news.settled)
    else if (news.kind === 'long-turn') this.longTurns.notify(news.turn)
    else this.records.notify(news.records.map((text) => readRecord(text, '')))
  }

  #died(reason: string): void {
    if (this.#closing !== null) return
    this.#deaths = Date.now() - this.#begun < infancyMs ? this.#deaths + 1 : 1
    for (const { onDeath } of this.#witnesses) onDeath(reason)
    this.#reviveAfter(this.#deaths === 1 ? 0 : Math.min(longestPauseMs, 50 * 2 ** (this.#deaths - 2)), reason)
  }

  #reviveAfter(pauseMs: number, reason: string): void {
    if (pauseMs === 0) return this.#revive()
    this.#life = Promise.reject(new StoreDegraded(`${firstLine(reason)}; it is being restarted`))
    this.#life.catch(ignore)
    this.#pause = setTimeout(() => this.#revive(), pauseMs)
  }

  #revive(): void {
    this.#pause = null
    this.#life = this.#begin(async () => {}).then(
      ({ life }) => {
        for (const message of this.#sent.values()) life.send(message)
        for (const { onRevival } of this.#witnesses) onRevival()
        return life
      },
      (error: unknown) => {
        const reason = `the store cannot restart: ${errorText(error)}`
        if (this.#closing === null) this.#pause = setTimeout(() => this.#revive(), longestPauseMs)
        throw new StoreDegraded(reason)
      },
    )
    this.#life.catch(ignore)
  }
}

/** Those who listen to one thing; the thread is told when the first comes and when the last has gone. */
class Listeners<News> {
  readonly #listeners = new Set<(news: News) => void>()
  readonly #want: (wanted: boolean) => void

  constructor(want: (wanted: boolean) => void) {
    this.#want = want
  }

  add(listener: (news: News) => void): () => void {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#want(true)
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#want(false)
    }
  }

  notify(news: News): void {
    for (const listener of this.#listeners) listener(news)
  }
}

function ignore(): void {}
