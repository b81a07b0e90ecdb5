import type { MessagePort, Worker } from 'node:worker_threads'
import { afterRunning } from '../core/running-time.ts'
import type { FromThread, ThreadStart, ToThread } from '../gateway/thread/messages.ts'
import { startThread } from './threads.ts'

/** One data-plane thread, as the main thread sees it, from its start to its end. */
export class Member {
  readonly thread: number
  readonly column: number
  readonly startedAt = Date.now()
  /** The versions that it serves; -1: none yet. */
  configuration = -1
  keys = -1
  settings: number
  /** It was told to listen: whatever was posted before that, it has by the time a request reaches it. */
  serving = false
  listening = false
  /** Why it ends, where it could say so itself; it takes no requests any more. */
  dying: string | null = null
  alive = true
  readonly #worker: Worker
  /** The last error of the thread. */
  #error: string | null = null

  /** `onEnd` comes once, when nothing of the thread runs any more. */
  constructor(
    start: ThreadStart,
    settings: number,
    hear: (member: Member, message: FromThread) => void,
    onEnd: (member: Member, reason: string) => void,
  ) {
    this.thread = start.journal.thread
    this.column = start.column
    this.settings = settings
    this.#worker = startThread('gateway', start)
    this.#worker.on('message', (message: FromThread) => hear(this, message))
    this.#worker.on('error', (error) => {
      this.#error = error instanceof Error ? (error.stack ?? error.message) : String(error)
    })
    this.#worker.once('exit', (code) => {
      this.alive = false
      onEnd(this, this.dying ?? this.#error ?? `it ended with ${code}`)
    })
  }

  /** Of those whose requests depend on what is published. */
  get counts(): boolean {
    return this.alive && this.serving && this.dying === null
  }

  tell(message: ToThread, transfer: readonly MessagePort[] = []): void {
    if (this.alive) this.#worker.postMessage(message, transfer)
  }

  /** The next message of one of these types; null when the thread ends first. */
  heard(...types: FromThread['type'][]): Promise<FromThread | null> {
    return new Promise((resolve) => {
      const hear = (message: FromThread) => types.includes(message.type) && finish(message)
      const exit = () => finish(null)
      const finish = (message: FromThread | null) => {
        this.#worker.off('message', hear).off('exit', exit)
        resolve(message)
      }
      this.#worker.on('message', hear).on('exit', exit)
      if (!this.alive) finish(null)
    })
  }

  async listen(): Promise<void> {
    this.serving = true
    this.tell({ type: 'listen' })
    const heard = await this.heard('listening', 'failed')
    if (heard?.type === 'failed') throw new Error(heard.reason)
    this.listening = heard !== null
  }

  /** Resolves when it says so, when it ends, or when the limit is over. */
  async soon(type: FromThread['type'], limitMs: number): Promise<void> {
    if (!this.alive) return
    const overdue = Promise.withResolvers<null>()
    const patience = afterRunning(limitMs, () => overdue.resolve(null))
    await Promise.race([this.heard(type), overdue.promise])
    patience.cancel()
  }

  async drained(limitMs: number): Promise<void> {
    if (!this.alive) return
    await this.soon('drained', limitMs)
    await this.end()
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}
