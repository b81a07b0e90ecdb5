import type { MessagePort } from 'node:worker_threads'
import { errorText } from '../core/caught.ts'
import type { NodeCondition } from '../core/node-condition.ts'
import type { RequestRecord } from '../core/record.ts'
import type { LimitWant } from '../policy/limits/limit-counters.ts'
import { StoreConflict, StoreReadOnly, StoreStopped } from '../store/store-error.ts'
import type {
  ClusterMessage,
  ClusterPeer,
  ClusterQuestion,
  ClusterRequest,
  KeepTimes,
  LimitsStart,
  OutboxReport,
  Questions,
} from './protocol.ts'
import type { Self } from './self.ts'

/** What the link needs of a `Worker`. */
export interface ClusterWorker {
  postMessage(message: ClusterRequest, transfer?: readonly MessagePort[]): void
  on(event: 'message', listener: (message: ClusterMessage) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
}

export interface LinkEvents {
  /** Why PostgreSQL is not reached; null: it is. */
  onLink(trouble: string | null): void
  onHead(sequence: number, isMember: boolean): void
  /** `conditions`: of those that are heard of, by their ids. */
  onMembers(members: ClusterPeer[], conditions: Record<string, NodeCondition>): void
  /** Of this budget some node has no room. */
  onRecall(counter: string, period: string): void
  /** Why limits that nodes share cannot be granted; null: they can. */
  onValkey(trouble: string | null): void
  /** Records of other nodes, while they are followed. */
  onEnded?(records: RequestRecord[]): void
  onHeard?(texts: string[]): void
  /** Why nodes do not hear each other over Valkey; null: they do. */
  onChannel?(trouble: string | null): void
  /** Only where records are shared. */
  onOutbox?(report: OutboxReport): void
  /** A thread has begun, the first or a later one: it knows nothing yet of what the one before was given. */
  onThread?(): void
}

const pauseMs = 500
const ended = 'the cluster thread has ended'

/** The cluster's thread as the main thread sees it; one that dies is started again. */
export class ClusterLink {
  readonly #start: () => ClusterWorker
  readonly #events: LinkEvents
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #worker: ClusterWorker
  /** Between the end of a thread and the start of the next there is none. */
  #isThere = false
  #self: Self | null = null
  #limits: LimitsStart | null = null
  #lastId = 0
  #reason = ended
  #closing = false
  readonly #ended = Promise.withResolvers<void>()

  constructor(start: () => ClusterWorker, events: LinkEvents) {
    this.#start = start
    this.#events = events
    this.#worker = this.#begin()
  }

  /**
   * Throws `StoreReadOnly` where PostgreSQL was not reached or serves this node not at all, and `StoreConflict` with what it
   * refuses. When the signal fires a reading is ended in PostgreSQL, and throws.
   */
  async ask<Name extends ClusterQuestion>(
    name: Name,
    input: Questions[Name]['input'],
    signal: AbortSignal | null = null,
  ): Promise<Questions[Name]['output']> {
    if (signal?.aborted) throw new StoreStopped('the read was cancelled')
    // Nobody would ever answer.
    if (!this.#isThere) throw new StoreReadOnly(this.#reason)
    const id = ++this.#lastId
    const pending = Promise.withResolvers<unknown>()
    this.#pending.set(id, pending)
    // The name and its input come together; so does what the thread answers.
    this.#worker.postMessage({ kind: 'ask', id, name, input } as ClusterRequest)
    const stop = () => this.#worker.postMessage({ kind: 'stop', id })
    signal?.addEventListener('abort', stop)
    try {
      return (await pending.promise) as Questions[Name]['output']
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  /** As whom the thread says every few seconds that it is there. */
  be(self: Self | null): void {
    this.#self = self
    this.#worker.postMessage({ kind: 'self', self })
  }

  shareLimits(start: LimitsStart): void {
    this.#limits = start
    this.#worker.postMessage({ kind: 'limits', start })
  }

  wantLimit(want: LimitWant): void {
    this.#worker.postMessage({ kind: 'limit-wanted', want })
  }

  /** What the others are to be shown of this node. */
  describe(condition: NodeCondition): void {
    this.#worker.postMessage({ kind: 'condition', condition })
  }

  /** A thread that is started later is started with it. */
  keep(keeps: KeepTimes): void {
    this.#worker.postMessage({ kind: 'keep', keeps })
  }

  /** Whether records of other nodes are wanted as they end. */
  follow(wanted: boolean): void {
    this.#worker.postMessage({ kind: 'follow', wanted })
  }

  /** Lost where Valkey is not reached. */
  notify(text: string, keeps: boolean): void {
    this.#worker.postMessage({ kind: 'notify', text, keeps })
  }

  /** What the thread asks of the store comes over this port. */
  giveOutbox(port: MessagePort): void {
    this.#worker.postMessage({ kind: 'outbox', port }, [port])
  }

  async close(): Promise<void> {
    this.#closing = true
    this.#worker.postMessage({ kind: 'close' })
    await this.#ended.promise
  }

  #begin(): ClusterWorker {
    const worker = this.#start()
    this.#isThere = true
    this.#reason = ended
    worker.on('message', (message) => this.#receive(message))
    worker.on('error', (error) => {
      this.#reason = `the cluster thread crashed: ${errorText(error)}`
    })
    worker.on('exit', () => this.#end())
    return worker
  }

  #receive(message: ClusterMessage): void {
    if (message.kind === 'link') this.#events.onLink(message.trouble)
    else if (message.kind === 'head') this.#events.onHead(message.sequence, message.member)
    else if (message.kind === 'members') this.#events.onMembers(message.members, message.conditions)
    else if (message.kind === 'recall') this.#events.onRecall(message.counter, message.period)
    else if (message.kind === 'valkey') this.#events.onValkey(message.trouble)
    else if (message.kind === 'ended') this.#events.onEnded?.(message.records)
    else if (message.kind === 'heard') this.#events.onHeard?.(message.texts)
    else if (message.kind === 'channel') this.#events.onChannel?.(message.trouble)
    else if (message.kind === 'outbox') this.#events.onOutbox?.(message.report)
    else if (message.kind === 'crashing') this.#reason = `the cluster thread crashed: ${message.reason.split('\n')[0]}`
    else this.#settle(message)
  }

  #settle(message: Extract<ClusterMessage, { id: number }>): void {
    const pending = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if (message.kind === 'answer') pending?.resolve(message.output)
    else if (message.cause === 'away')
      pending?.reject(new StoreReadOnly(`PostgreSQL was not reached: ${message.message}`))
    else {
      const reason = `PostgreSQL refused it: ${message.message}`
      const isUnusable = message.cause === 'unusable'
      pending?.reject(isUnusable ? new StoreReadOnly(reason) : new StoreConflict(reason, message.hint))
    }
  }

  #end(): void {
    this.#isThere = false
    for (const pending of this.#pending.values()) pending.reject(new StoreReadOnly(this.#reason))
    this.#pending.clear()
    if (this.#closing) return this.#ended.resolve()
    this.#events.onLink(this.#reason)
    setTimeout(() => {
      if (this.#closing) return this.#ended.resolve()
      this.#worker = this.#begin()
      this.be(this.#self)
      // What the one before used counts, and nobody knows it any more.
      if (this.#limits !== null) this.shareLimits({ ...this.#limits, quiet: false })
      this.#events.onThread?.()
    }, pauseMs)
  }
}
