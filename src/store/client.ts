import type { RequestRecord } from '../core/record.ts'
import { storeAccess } from './access.ts'
import type { AuditEvent, StoreClient, StoredSnapshot, StoreHealth, Tables, Upgrade } from './api.ts'
import type { StoreMessage, StoreRequest } from './protocol.ts'
import { fromPlainError, StoreDegraded } from './store-error.ts'

/** What the client needs of a `Worker`. */
export interface StoreWorker {
  postMessage(message: StoreRequest): void
  on(event: 'message', listener: (message: StoreMessage) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
}

type Audit = Omit<AuditEvent, 'id' | 'time'>
type Ask = (make: (id: number) => StoreRequest) => Promise<unknown>

/**
 * Resolves when the database is open and migrated. `onLocked` is waited for in between: this process has the data
 * directory to itself then, and nothing in it has been touched. Rejects with `StoreRefused`, or when the thread ends first.
 */
export async function startStore(worker: StoreWorker, onLocked = async () => {}): Promise<StoreClient> {
  const calls = new Calls(worker)
  await calls.locked
  await onLocked()
  worker.postMessage({ kind: 'open' })
  return clientOf(calls, await calls.ready)
}

function clientOf(calls: Calls, upgrade: Upgrade | null): StoreClient {
  const { ask } = calls
  return {
    upgrade,
    ...proxyTables(ask, null),
    audited: (event) => proxyTables(ask, event),
    snapshot: async (keysSince = 0) => (await ask((id) => ({ kind: 'snapshot', id, keysSince }))) as StoredSnapshot,
    ingest: async () => (await ask((id) => ({ kind: 'ingest', id }))) as number,
    health: async () => (await ask((id) => ({ kind: 'health', id }))) as StoreHealth,
    keepRecords: (retentionMs) => calls.tell({ kind: 'retention', retentionMs }),
    onRecords: (listener) => calls.listen(listener),
    close: () => calls.close(),
  }
}

function proxyTables(ask: Ask, audit: Audit | null): Tables {
  const tables = Object.entries(storeAccess).map(([table, methods]) => {
    const names = Object.keys(methods)
    const call =
      (method: string) =>
      async (...input: unknown[]) =>
        await ask((id) => ({ kind: 'table', id, table, method, input, audit }))
    return [table, Object.fromEntries(names.map((method) => [method, call(method)]))]
  })
  // `storeAccess` names every method of every table, which its type holds it to.
  return Object.fromEntries(tables) as Tables
}

/** Calls under way, each to be answered by its number. When the thread ends, all of them fail, and all later ones. */
class Calls {
  readonly locked: Promise<void>
  readonly ready: Promise<Upgrade | null>
  readonly #worker: StoreWorker
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #listeners = new Set<(records: RequestRecord[]) => void>()
  readonly #locking = Promise.withResolvers<void>()
  readonly #opening = Promise.withResolvers<Upgrade | null>()
  readonly #exited = Promise.withResolvers<void>()
  #lastId = 0
  #ended: Error | null = null
  #closing = false

  constructor(worker: StoreWorker) {
    this.#worker = worker
    this.locked = this.#locking.promise
    this.ready = this.#opening.promise
    // Whoever waits for the lock first hears of a failure there.
    this.ready.catch(() => {})
    worker.on('message', (message) => this.#receive(message))
    worker.on('error', (error) =>
      this.#end(`the store thread failed: ${error instanceof Error ? error.message : error}`),
    )
    worker.on('exit', () => {
      this.#end('the store thread has ended')
      this.#exited.resolve()
    })
  }

  readonly ask: Ask = async (make) => {
    if (this.#ended) throw this.#ended
    const id = ++this.#lastId
    const pending = Promise.withResolvers<unknown>()
    this.#pending.set(id, pending)
    try {
      this.#worker.postMessage(make(id))
    } catch (error) {
      // An input that cannot cross threads: nothing was sent, nothing will be answered.
      this.#pending.delete(id)
      throw error
    }
    return await pending.promise
  }

  /** What has no answer. */
  tell(message: StoreRequest): void {
    this.#worker.postMessage(message)
  }

  listen(listener: (records: RequestRecord[]) => void): () => void {
    this.#listeners.add(listener)
    this.#worker.postMessage({ kind: 'records', wanted: true })
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#worker.postMessage({ kind: 'records', wanted: false })
    }
  }

  /** Resolves when the thread is gone; closing twice is closing once. */
  async close(): Promise<void> {
    if (!this.#closing && !this.#ended) {
      this.#closing = true
      await this.ask((id) => ({ kind: 'close', id }))
    }
    await this.#exited.promise
  }

  #receive(message: StoreMessage): void {
    if (message.kind === 'locked') this.#locking.resolve()
    else if (message.kind === 'ready') this.#opening.resolve(message.upgrade)
    else if (message.kind === 'refused') this.#refuse(fromPlainError(message.error))
    else if (message.kind === 'records') for (const listener of this.#listeners) listener(message.records)
    else this.#settle(message)
  }

  #settle(message: Extract<StoreMessage, { id: number }>): void {
    const pending = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if (message.kind === 'answer') pending?.resolve(message.output)
    else pending?.reject(fromPlainError(message.error))
  }

  #refuse(reason: Error): void {
    this.#locking.reject(reason)
    this.#opening.reject(reason)
  }

  #end(reason: string): void {
    this.#ended ??= new StoreDegraded(reason)
    this.#refuse(this.#ended)
    for (const pending of this.#pending.values()) pending.reject(this.#ended)
    this.#pending.clear()
  }
}
