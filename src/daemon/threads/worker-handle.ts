import type { MessagePort, Worker } from 'node:worker_threads'
import { errorStack } from '../../core/caught.ts'
import { stallAwareTimeout } from '../../core/threads/stall-aware-timeout.ts'
import type { FromThread, ThreadStart, ToThread } from '../../gateway/thread/messages.ts'
import { needsPatterns } from '../../gateway/thread/pattern-engine.ts'
import type { ConfigurationSnapshot } from '../../store/configuration/snapshot.ts'
import { readPatternScript } from './threads.ts'

/** One data-plane thread, as the main thread sees it, from its start to its end. */
export class WorkerHandle {
  readonly thread: number
  readonly column: number
  readonly startedAt = Date.now()
  /** The versions that it serves; -1: none yet. */
  configuration = -1
  keys = -1
  prices = -1
  settings: number
  /** It was sent `listen`. What was posted before that arrives before its first request. */
  serving = false
  listening = false
  /** Why it crashes, if it could report that itself; it accepts no more requests. */
  crashing: string | null = null
  alive = true
  readonly #worker: Worker
  /** The last error of the thread. */
  #error: string | null = null

  /** `onEnd` is called once, after the thread has ended. */
  constructor(
    start: ThreadStart,
    worker: Worker,
    settings: number,
    onMessage: (worker: WorkerHandle, message: FromThread) => void,
    onEnd: (worker: WorkerHandle, reason: string) => void,
  ) {
    this.thread = start.journal.thread
    this.column = start.column
    this.settings = settings
    this.#worker = worker
    this.#worker.on('message', (message: FromThread) => onMessage(this, message))
    this.#worker.on('error', (error) => {
      this.#error = errorStack(error)
    })
    this.#worker.once('exit', (code) => {
      this.alive = false
      onEnd(this, this.crashing ?? this.#error ?? `it ended with ${code}`)
    })
  }

  /** Whether its requests depend on what is published. */
  get counts(): boolean {
    return this.alive && this.serving && this.crashing === null
  }

  send(message: ToThread, transfer: readonly MessagePort[] = []): void {
    if (this.alive) this.#worker.postMessage(message, transfer)
  }

  /** With the engine for patterns where it is needed: a thread that has it ignores it. */
  configure(snapshot: ConfigurationSnapshot): void {
    this.send({ type: 'configuration', snapshot, patternScript: needsPatterns(snapshot) ? readPatternScript() : null })
  }

  /** The next message of one of these types; null when the thread ends first. */
  received(...types: FromThread['type'][]): Promise<FromThread | null> {
    return new Promise((resolve) => {
      const onMessage = (message: FromThread) => types.includes(message.type) && finish(message)
      const exit = () => finish(null)
      const finish = (message: FromThread | null) => {
        this.#worker.off('message', onMessage).off('exit', exit)
        resolve(message)
      }
      this.#worker.on('message', onMessage).on('exit', exit)
      if (!this.alive) finish(null)
    })
  }

  async listen(): Promise<void> {
    this.serving = true
    this.send({ type: 'listen' })
    const answer = await this.received('listening', 'failed')
    if (answer?.type === 'failed') throw new Error(answer.reason)
    this.listening = answer !== null
  }

  /** Resolves on that message, when the thread ends, or after the limit. */
  async receivedWithin(type: FromThread['type'], limitMs: number): Promise<void> {
    if (!this.alive) return
    const overdue = Promise.withResolvers<null>()
    const timeout = stallAwareTimeout(limitMs, () => overdue.resolve(null))
    await Promise.race([this.received(type), overdue.promise])
    timeout.cancel()
  }

  async drain(limitMs: number): Promise<void> {
    if (!this.alive) return
    await this.receivedWithin('drained', limitMs)
    await this.end()
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}
