import type { Worker } from 'node:worker_threads'
import type { DegradedPart } from '../core/degraded.ts'
import type { GatewaySettings, TrafficEvent } from '../gateway/gateway.ts'
import type { FromThread, ServerCertificate, ThreadStart, ToThread } from '../gateway/messages.ts'
import { attachHealth } from '../routing/health.ts'
import type { ConfigurationSnapshot, KeyDelta } from '../store/snapshot.ts'
import { attachShared, type SharedMemory } from './memory.ts'
import type { SnapshotAudience } from './publisher.ts'
import { startThread } from './threads.ts'

export interface FleetOptions {
  workers: number
  settings: GatewaySettings
  certificate: ServerCertificate | null
  journalDirectory: string
  boot: string
  memory: SharedMemory
  /** What a thread that has just started must be told. */
  whole(): { snapshot: ConfigurationSnapshot; delta: KeyDelta }
  degraded(): readonly DegradedPart[]
  onTraffic(event: TrafficEvent, thread: number): void
  onDeath(thread: number, reason: string): void
}

interface Member {
  worker: Worker
  thread: number
  configuration: number
  keys: number
  settings: number
  alive: boolean
  startedAt: number
}

/** A thread that dies younger than this is replaced only after as long, so that a fault at start is no busy loop. */
const infancyMs = 1000

/** The data-plane threads: started, told every snapshot, replaced when one dies, drained at the end. */
export class Fleet implements SnapshotAudience {
  readonly #options: FleetOptions
  #members: Member[] = []
  #waiting: (() => void)[] = []
  #nextThread = 0
  #draining = false
  #listening = false
  #settingsVersion = 0
  #settings: GatewaySettings
  #certificate: ServerCertificate | null

  constructor(options: FleetOptions) {
    this.#options = options
    this.#settings = options.settings
    this.#certificate = options.certificate
  }

  get size(): number {
    return this.#members.filter(({ alive }) => alive).length
  }

  /** Every thread is up and has what `whole` gives; none listens yet. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.workers }, () => this.#add()))
  }

  /** Resolves when every thread accepts connections. */
  async listen(): Promise<void> {
    this.#listening = true
    await Promise.all(this.#members.map((member) => this.#listen(member)))
  }

  async configuration(snapshot: ConfigurationSnapshot): Promise<void> {
    this.#tellAll({ type: 'configuration', snapshot })
    await this.#until(() =>
      this.#members.every(({ alive, configuration }) => !alive || configuration >= snapshot.version),
    )
  }

  async keys(delta: KeyDelta): Promise<void> {
    this.#tellAll({ type: 'keys', delta })
    await this.#until(() => this.#members.every(({ alive, keys }) => !alive || keys >= delta.version))
  }

  /** Resolves when every thread obeys them, for what begins from then on. A null certificate leaves the one in use. */
  async settings(settings: GatewaySettings, certificate: ServerCertificate | null): Promise<void> {
    this.#settings = settings
    this.#certificate = certificate ?? this.#certificate
    const version = ++this.#settingsVersion
    this.#tellAll({ type: 'settings', version, settings, certificate })
    await this.#until(() => this.#members.every((member) => !member.alive || member.settings >= version))
  }

  degraded(parts: readonly DegradedPart[]): void {
    this.#tellAll({ type: 'degraded', parts })
  }

  /** Of a key whose revocation every thread has been told. */
  closeStreams(keyId: string): void {
    this.#tellAll({ type: 'close-streams', keyId })
  }

  forgetHealth(slot: number): void {
    attachHealth(this.#options.memory.health).markReady(slot)
  }

  /** New connections are refused, open requests end within the limit, journals are closed. */
  async drain(limitMs: number): Promise<void> {
    this.#draining = true
    this.#tellAll({ type: 'drain', limitMs })
    await Promise.all(this.#members.map((member) => this.#drained(member, limitMs)))
  }

  #tellAll(message: ToThread): void {
    for (const { alive, worker } of this.#members) if (alive) worker.postMessage(message)
  }

  async #add(): Promise<void> {
    const { journalDirectory, boot, memory } = this.#options
    // A thread's number names its journal segments and is never used twice in one boot; its counter column is reused.
    const thread = this.#nextThread++
    const start: ThreadStart = {
      settings: this.#settings,
      certificate: this.#certificate,
      journal: { directory: journalDirectory, boot, thread },
      healthMemory: memory.health,
      counterMemory: memory.counters,
      counterLayout: memory.layout,
      column: thread % this.#options.workers,
    }
    const member: Member = {
      worker: startThread('gateway', start),
      thread,
      configuration: -1,
      keys: -1,
      settings: this.#settingsVersion,
      alive: true,
      startedAt: Date.now(),
    }
    this.#members.push(member)
    member.worker.on('error', (error) =>
      this.#buried(member, error instanceof Error ? (error.stack ?? error.message) : String(error)),
    )
    member.worker.on('exit', (code) => this.#buried(member, `exit ${code}`))
    member.worker.on('message', (message: FromThread) => this.#hear(member, message))
    await this.#heard(member, 'started')
    const { snapshot, delta } = this.#options.whole()
    member.worker.postMessage({ type: 'configuration', snapshot } satisfies ToThread)
    member.worker.postMessage({ type: 'keys', delta: { ...delta, full: true } } satisfies ToThread)
    member.worker.postMessage({ type: 'degraded', parts: this.#options.degraded() } satisfies ToThread)
    await this.#until(() => !member.alive || (member.configuration >= snapshot.version && member.keys >= delta.version))
    if (this.#listening) await this.#listen(member)
  }

  async #listen(member: Member): Promise<void> {
    member.worker.postMessage({ type: 'listen' } satisfies ToThread)
    const heard = await this.#heard(member, 'listening', 'failed')
    if (heard?.type === 'failed') throw new Error(heard.reason)
  }

  #hear(member: Member, message: FromThread): void {
    if (message.type === 'has') {
      member.configuration = message.configuration
      member.keys = message.keys
      this.#wake()
    } else if (message.type === 'has-settings') {
      member.settings = message.version
      this.#wake()
    } else if (message.type === 'traffic') {
      this.#options.onTraffic(message.event, member.thread)
    } else if (message.type === 'refused') {
      this.#options.onTraffic(
        { type: 'fault', requestId: '', reason: `snapshot refused: ${message.reason}` },
        member.thread,
      )
    }
  }

  /** The next message of one of these types; null when the thread ends first. */
  #heard(member: Member, ...types: FromThread['type'][]): Promise<FromThread | null> {
    return new Promise((resolve) => {
      const hear = (message: FromThread) => types.includes(message.type) && finish(message)
      const exit = () => finish(null)
      const finish = (message: FromThread | null) => {
        member.worker.off('message', hear).off('exit', exit)
        resolve(message)
      }
      member.worker.on('message', hear).on('exit', exit)
      if (!member.alive) finish(null)
    })
  }

  async #drained(member: Member, limitMs: number): Promise<void> {
    if (!member.alive) return
    const overdue = Promise.withResolvers<null>()
    const timer = setTimeout(() => overdue.resolve(null), limitMs + 2000)
    await Promise.race([this.#heard(member, 'drained'), overdue.promise])
    clearTimeout(timer)
    await member.worker.terminate()
  }

  #buried(member: Member, reason: string): void {
    if (!member.alive) return
    member.alive = false
    this.#members = this.#members.filter((each) => each !== member)
    this.#wake()
    if (this.#draining) return
    attachShared(this.#options.memory).counters.reverseThread(member.thread % this.#options.workers)
    this.#options.onDeath(member.thread, reason)
    const pause = Date.now() - member.startedAt < infancyMs ? infancyMs : 0
    const replace = () => this.#add().catch((error: unknown) => this.#options.onDeath(member.thread, String(error)))
    setTimeout(() => void replace(), pause)
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
