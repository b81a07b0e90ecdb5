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

/** The part of `Worker` that the link uses. */
export interface ClusterWorker {
  postMessage(message: ClusterRequest, transfer?: readonly MessagePort[]): void
  on(event: 'message', listener: (message: ClusterMessage) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
}

export interface LinkEvents {
  /** Why PostgreSQL cannot be reached; null: it can. */
  onLink(trouble: string | null): void
  onHead(sequence: number, isMember: boolean): void
  /** `conditions`: of the nodes that are heard from, by id. */
  onMembers(members: ClusterPeer[], conditions: Record<string, NodeCondition>): void
  /** Another node has no room in this budget. */
  onRecall(counter: string, period: string): void
  /** Why limits that nodes share cannot be granted; null: they can. */
  onValkey(trouble: string | null): void
  /** Records of other nodes, while they are followed. */
  onEnded?(records: RequestRecord[]): void
  onHeard?(texts: string[]): void
  /** Why nodes cannot notify each other over Valkey; null: they can. */
  onChannel?(trouble: string | null): void
  /** Only called if records are shared. */
  onOutbox?(report: OutboxReport): void
  /** A thread has started, the first or a later one: it does not know earlier grants. */
  onThread?(): void
}

const pauseMs = 500
const ended = 'the cluster thread has ended'

/** The cluster thread, as the main thread uses it. It is restarted if it dies. */
export class ClusterLink {
  readonly #start: () => ClusterWorker
  readonly #events: LinkEvents
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #worker: ClusterWorker
  /** False between the end of a thread and the start of the next. */
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
   * Throws `StoreReadOnly` if PostgreSQL cannot be reached or does not serve this node, and `StoreConflict` for a refusal. If the signal
   * fires, a reading is cancelled in PostgreSQL, and this throws.
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
    // The types of name and input belong together, and so do those of the answer.
    this.#worker.postMessage({ kind: 'ask', id, name, input } as ClusterRequest)
    const stop = () => this.#worker.postMessage({ kind: 'stop', id })
    signal?.addEventListener('abort', stop)
    try {
      return (await pending.promise) as Questions[Name]['output']
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  /** The identity in whose name the thread reports every few seconds. */
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

  /** This node's condition, for the other nodes. */
  describe(condition: NodeCondition): void {
    this.#worker.postMessage({ kind: 'condition', condition })
  }

  /** A restarted thread begins with the same settings. */
  keep(keeps: KeepTimes): void {
    this.#worker.postMessage({ kind: 'keep', keeps })
  }

  /** Whether records of other nodes are wanted as they end. */
  follow(wanted: boolean): void {
    this.#worker.postMessage({ kind: 'follow', wanted })
  }

  /** The message is lost if Valkey cannot be reached. */
  notify(text: string, keeps: boolean): void {
    this.#worker.postMessage({ kind: 'notify', text, keeps })
  }

  /** The thread asks the store over this port. */
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
      // Use granted to the previous thread still counts, but nobody knows it any more.
      if (this.#limits !== null) this.shareLimits({ ...this.#limits, quiet: false })
      this.#events.onThread?.()
    }, pauseMs)
  }
}
