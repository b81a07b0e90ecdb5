import type { MessagePort } from 'node:worker_threads'
import { errorText } from '../core/caught.ts'
import type { SchemaUpgrade } from './api.ts'
import type { StoreMessage, StoreNews, StoreRequest } from './protocol.ts'
import { fromPlainError, StoreDegraded } from './store-error.ts'

/** What the client needs of a `Worker`. */
export interface StoreWorker {
  postMessage(message: StoreRequest, transfer?: readonly MessagePort[]): void
  terminate(): Promise<unknown>
  on(event: 'message', listener: (message: StoreMessage) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
}

export type AskStore = (make: (id: number) => StoreRequest) => Promise<unknown>

/** One store thread, from its start to its end. Each call is answered by its number; those that its end finds fail. */
export class StoreLife {
  /** Resolves with the reason when nothing of the thread runs any more. */
  readonly ended: Promise<string>
  readonly #worker: StoreWorker
  readonly #onNews: (news: StoreNews) => void
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #locking = Promise.withResolvers<void>()
  readonly #opening = Promise.withResolvers<SchemaUpgrade | null>()
  #lastId = 0
  #reason = 'the store thread has ended'
  #over = false

  constructor(worker: StoreWorker, onNews: (news: StoreNews) => void) {
    this.#worker = worker
    this.#onNews = onNews
    const ended = Promise.withResolvers<string>()
    this.ended = ended.promise
    // Whoever waits for the lock first hears of a failure there.
    this.#opening.promise.catch(() => {})
    worker.on('message', (message) => this.#receive(message))
    worker.on('error', (error) => {
      this.#reason = `the store thread crashed: ${errorText(error)}`
    })
    worker.on('exit', () => {
      this.#end()
      ended.resolve(this.#reason)
    })
  }

  /** `onLocked` is waited for between the lock and the opening of the database. Where this rejects, the thread is gone. */
  async open(onLocked: () => Promise<void>): Promise<SchemaUpgrade | null> {
    try {
      await this.#locking.promise
      await onLocked()
      this.send({ kind: 'open' })
      return await this.#opening.promise
    } catch (error) {
      // It would wait for ever to be asked, and keep the process alive.
      await this.#worker.terminate()
      throw error
    }
  }

  readonly ask: AskStore = async (make) => {
    if (this.#over) throw new StoreDegraded(firstLine(this.#reason))
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

  send(message: StoreRequest): void {
    if (!this.#over) this.#worker.postMessage(message)
  }

  /** Where nobody is left to serve it, it is closed: whoever holds its other end hears of that. */
  serve(kind: 'objects' | 'outbox', port: MessagePort): void {
    if (this.#over) port.close()
    else this.#worker.postMessage({ kind, port }, [port])
  }

  #receive(message: StoreMessage): void {
    if (message.kind === 'locked') this.#locking.resolve()
    else if (message.kind === 'ready') this.#opening.resolve(message.upgrade)
    else if (message.kind === 'refused') this.#refuse(fromPlainError(message.error))
    else if (message.kind === 'crashing') this.#reason = `the store thread crashed: ${message.reason}`
    else if (isNews(message)) this.#onNews(message)
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

  #end(): void {
    this.#over = true
    this.#refuse(new StoreDegraded(firstLine(this.#reason)))
    const what = firstLine(this.#reason)
    const unknown = `${what}, before it answered; check whether the change was made before you repeat it`
    for (const pending of this.#pending.values()) pending.reject(new StoreDegraded(unknown))
    this.#pending.clear()
  }
}

const news: readonly string[] = ['records', 'traffic', 'holds', 'long-turn'] satisfies StoreNews['kind'][]
const isNews = (message: StoreMessage): message is StoreNews => news.includes(message.kind)

/** Without the stack, which is for the log. */
export function firstLine(reason: string): string {
  return reason.split('\n')[0] ?? ''
}
