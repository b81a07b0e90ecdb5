import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import { errorText } from '../../core/caught.ts'
import type { DegradedPart } from '../../core/degraded.ts'
import type { Writers } from '../../core/journal-format.ts'
import type { GatewaySettings, TrafficEvent } from '../../gateway/gateway.ts'
import type { FromThread, ServerCertificate, ThreadStart, ToThread } from '../../gateway/thread/messages.ts'
import { attachHealth } from '../../routing/health.ts'
import type { ConfigurationSnapshot, KeyDelta, SnapshotPrices } from '../../store/configuration/snapshot.ts'
import { attachShared, columnsOf, type SharedMemory } from '../health/memory.ts'
import type { SnapshotAudience, WholeSnapshot } from './publisher.ts'
import { ReplacementPace } from './replacement.ts'
import { startThread } from './threads.ts'
import { WorkerHandle } from './worker-handle.ts'

export interface WorkerPoolOptions {
  workers: number
  settings: GatewaySettings
  certificate: ServerCertificate | null
  journalDirectory: string
  boot: string
  memory: SharedMemory
  /** The whole state that a thread needs at its start. */
  whole(): WholeSnapshot
  degraded(): readonly DegradedPart[]
  /** The store thread answers requests on this port. */
  serveObjects(port: MessagePort): void
  onTraffic(event: TrafficEvent, thread: number): void
  onDeath(thread: number, reason: string): void
  /** Why fewer threads run than configured; null: all run. */
  onDegraded(reason: string | null): void
  /** Which threads write to the journal; numbers from `next` on are not used yet. */
  onWriters(writers: Writers): void
  startWorker?(start: ThreadStart): Worker
}

/** How long to wait for a busy thread to stop listening. */
const stopMs = 2000
/** How long after the drain limit a thread that is still running is terminated. */
const graceMs = 3000

/** The data-plane threads: starts them, sends them every snapshot, replaces crashed ones, drains them at the end. */
export class WorkerPool implements SnapshotAudience {
  readonly #options: WorkerPoolOptions
  #workers: WorkerHandle[] = []
  #waiting: (() => void)[] = []
  #nextThread = 0
  #lastReason = ''
  #draining = false
  #listening = false
  readonly #pace = new ReplacementPace()
  #pause: NodeJS.Timeout | null = null
  #second: NodeJS.Timeout | null = null
  #settingsVersion = 0
  #settings: GatewaySettings
  #certificate: ServerCertificate | null

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#settings = options.settings
    this.#certificate = options.certificate
  }

  /** How many threads take requests. */
  get size(): number {
    return this.#workers.filter(({ counts, listening }) => counts && listening).length
  }

  /** Every thread runs and has the state of `whole`; none listens yet. */
  async start(): Promise<void> {
    await Promise.all(
      Array.from({ length: this.#options.workers }, async () => {
        const worker = this.#start()
        if (!(await this.#prepare(worker))) throw new Error(`a data-plane thread cannot start: ${this.#lastReason}`)
      }),
    )
  }

  /** Resolves when every thread accepts connections. */
  async listen(): Promise<void> {
    this.#listening = true
    await Promise.all(this.#workers.map((worker) => worker.listen()))
    // One may have crashed since it started.
    this.#replace()
  }

  async configuration(snapshot: ConfigurationSnapshot): Promise<void> {
    for (const worker of this.#workers) worker.configure(snapshot)
    await this.#until(({ configuration }) => configuration >= snapshot.version)
  }

  async keys(delta: KeyDelta): Promise<void> {
    this.#sendAll({ type: 'keys', delta })
    await this.#until(({ keys }) => keys >= delta.version)
  }

  async prices(prices: SnapshotPrices): Promise<void> {
    this.#sendAll({ type: 'prices', prices })
    await this.#until((worker) => worker.prices >= prices.revision)
  }

  /** Resolves when every thread uses them for new requests. A null certificate keeps the current one. */
  async settings(settings: GatewaySettings, certificate: ServerCertificate | null): Promise<void> {
    this.#settings = { ...settings, leaving: this.leaving }
    this.#certificate = certificate ?? this.#certificate
    const version = ++this.#settingsVersion
    this.#sendAll({ type: 'settings', version, settings: this.#settings, certificate })
    await this.#until((worker) => worker.settings >= version)
  }

  get leaving(): boolean {
    return this.#settings.leaving
  }

  /** Whether `/readyz` tells load balancers to send no more requests. */
  async setLeaving(leaving: boolean): Promise<void> {
    this.#settings = { ...this.#settings, leaving }
    await this.settings(this.#settings, null)
  }

  degraded(parts: readonly DegradedPart[]): void {
    this.#sendAll({ type: 'degraded', parts })
  }

  /** Call it after every thread has the key's revocation. */
  closeStreams(keyId: string): void {
    this.#sendAll({ type: 'close-streams', keyId })
  }

  /** The store thread was replaced: its ports have closed. */
  connectObjects(): void {
    for (const worker of this.#workers) this.#connectObjects(worker)
  }

  forgetHealth(slot: number): void {
    attachHealth(this.#options.memory.health).markReady(slot)
  }

  /** After the notice new connections are refused, open requests end within the limit, journals are closed. */
  async drain({ drainMs: limitMs, drainNoticeMs }: { drainMs: number; drainNoticeMs: number }): Promise<void> {
    if (drainNoticeMs > 0) {
      await this.setLeaving(true)
      await new Promise((resolve) => setTimeout(resolve, drainNoticeMs))
    }
    this.#draining = true
    for (const timer of [this.#pause, this.#second]) if (timer !== null) clearTimeout(timer)
    // All listeners stop before any answer says `connection: close`: a client that reads it reconnects at once, and a
    // listener that closes then would reset that new connection.
    this.#sendAll({ type: 'stop-listening' })
    await Promise.all(this.#workers.map((worker) => worker.receivedWithin('stopped-listening', stopMs)))
    this.#sendAll({ type: 'drain', limitMs })
    await Promise.all(this.#workers.map((worker) => worker.drain(limitMs + graceMs)))
  }

  #connectObjects(worker: WorkerHandle): void {
    if (!worker.alive) return
    const { port1, port2 } = new MessageChannel()
    worker.send({ type: 'objects', port: port1 }, [port1])
    this.#options.serveObjects(port2)
  }

  #sendAll(message: ToThread): void {
    for (const worker of this.#workers) worker.send(message)
  }

  #start(): WorkerHandle {
    const { journalDirectory, boot, memory } = this.#options
    // A thread's number names its journal segments and is never used twice in one boot.
    const thread = this.#nextThread++
    const start: ThreadStart = {
      settings: this.#settings,
      certificate: this.#certificate,
      journal: { directory: journalDirectory, boot, thread },
      healthMemory: memory.health,
      routingMemory: memory.routing,
      counterMemory: memory.counters,
      counterLayout: memory.layout,
      limitMemory: memory.limits,
      liveness: memory.liveness,
      column: this.#freeColumns()[0] ?? 0,
    }
    const { startWorker = (given: ThreadStart) => startThread('gateway', given) } = this.#options
    const worker = new WorkerHandle(
      start,
      startWorker(start),
      this.#settingsVersion,
      (from, message) => this.#onMessage(from, message),
      (ended, reason) => this.#remove(ended, reason),
    )
    this.#workers.push(worker)
    this.#setWriters()
    return worker
  }

  /** What is published meanwhile is posted after the whole state, so it arrives before the first request. False: it crashed. */
  async #prepare(worker: WorkerHandle): Promise<boolean> {
    if ((await worker.received('started')) === null) return false
    const { snapshot, delta, prices } = this.#options.whole()
    worker.configure(snapshot)
    worker.send({ type: 'keys', delta: { ...delta, full: true } })
    worker.send({ type: 'prices', prices })
    worker.send({ type: 'degraded', parts: this.#options.degraded() })
    this.#connectObjects(worker)
    const has = () =>
      worker.configuration >= snapshot.version && worker.keys >= delta.version && worker.prices >= prices.revision
    while (worker.alive && !has()) await this.#change()
    return worker.alive
  }

  #onMessage(worker: WorkerHandle, message: FromThread): void {
    if (message.type === 'has') {
      worker.configuration = message.configuration
      worker.keys = message.keys
      worker.prices = message.prices
      this.#wake()
    } else if (message.type === 'has-settings') {
      worker.settings = message.version
      this.#wake()
    } else if (message.type === 'traffic') {
      this.#options.onTraffic(message.event, worker.thread)
    } else if (message.type === 'refused') {
      const reason = `snapshot rejected: ${message.reason}`
      this.#options.onTraffic({ type: 'fault', requestId: '', reason }, worker.thread)
    } else if (message.type === 'crashing') {
      worker.crashing = message.reason
      this.#wake()
      this.#lose(worker, message.reason)
    }
  }

  /** The thread has ended: its holds are released, and its journal is complete. */
  #remove(worker: WorkerHandle, reason: string): void {
    this.#workers = this.#workers.filter((each) => each !== worker)
    this.#wake()
    const { counters, health, limits } = attachShared(this.#options.memory)
    counters.reverseThread(worker.column)
    limits.reverseThread(worker.column)
    health.abandonAll(worker.column)
    this.#setWriters()
    if (worker.crashing === null) this.#lose(worker, reason)
    else this.#replace()
  }

  #lose({ thread, startedAt }: Pick<WorkerHandle, 'thread' | 'startedAt'>, reason: string): void {
    if (this.#draining) return
    this.#lastReason = reason
    this.#options.onDeath(thread, reason)
    const pause = this.#pace.died(Date.now() - startedAt, reason)
    // A gateway that has never listened ends with its first thread.
    if (!this.#listening) return
    this.#evaluate()
    if (this.#pause !== null) clearTimeout(this.#pause)
    this.#pause = setTimeout(() => {
      this.#pause = null
      this.#replace()
    }, pause)
  }

  /** Starts the missing threads. A crashing one keeps its column until it ends, so this may have to wait for a column. */
  #replace(): void {
    if (this.#draining || !this.#listening || this.#pause !== null) return
    const there = this.#workers.filter(({ crashing }) => crashing === null).length
    const room = Math.min(this.#options.workers - there, this.#freeColumns().length)
    for (let left = room; left > 0; left--) void this.#add()
  }

  async #add(): Promise<void> {
    let worker: WorkerHandle
    try {
      worker = this.#start()
    } catch (error) {
      // The machine has no resources for another thread now; the running ones go on.
      return this.#lose({ thread: this.#nextThread - 1, startedAt: Date.now() }, errorText(error))
    }
    try {
      // A drain in progress would close the connections that this thread accepts now.
      if (!(await this.#prepare(worker)) || this.#draining) return
      await worker.listen()
    } catch (error) {
      worker.crashing = errorText(error)
      this.#lose(worker, worker.crashing)
      await worker.end()
      return
    }
    // It may have crashed, and then another replaces it; or the gateway is draining by now.
    if (!worker.listening || this.#draining) return
    for (const each of this.#workers) if (each.crashing !== null) each.send({ type: 'leave' })
    this.#evaluate()
  }

  #evaluate(): void {
    const youngest = Date.now() - Math.max(0, ...this.#workers.map(({ startedAt }) => startedAt))
    const reason = this.#pace.evaluate(this.#options.workers, this.size, youngest)
    this.#options.onDegraded(reason)
    if (this.#second !== null) clearTimeout(this.#second)
    this.#second = reason === null ? null : setTimeout(() => this.#evaluate(), this.#pace.ripensIn(youngest) + 1)
  }

  #freeColumns(): number[] {
    const taken = new Set(this.#workers.map(({ column }) => column))
    return columnsOf(this.#options.workers).filter((column) => !taken.has(column))
  }

  #setWriters(): void {
    const running = this.#workers.map(({ thread }) => thread)
    this.#options.onWriters({ boot: this.#options.boot, running, next: this.#nextThread })
  }

  /** Resolves when `holds` is true of every thread that counts. One that crashes or is replaced is not waited for. */
  async #until(holds: (worker: WorkerHandle) => boolean): Promise<void> {
    while (!this.#workers.every((worker) => !worker.counts || holds(worker))) await this.#change()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
