import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { DegradedPart } from '../core/degraded.ts'
import type { Writers } from '../core/journal-format.ts'
import type { GatewaySettings, TrafficEvent } from '../gateway/gateway.ts'
import type { FromThread, ServerCertificate, ThreadStart, ToThread } from '../gateway/thread/messages.ts'
import { attachHealth } from '../routing/health.ts'
import type { ConfigurationSnapshot, KeyDelta } from '../store/configuration/snapshot.ts'
import { Member } from './member.ts'
import { attachShared, columnsOf, type SharedMemory } from './memory.ts'
import type { SnapshotAudience } from './publisher.ts'
import { ReplacementPace } from './replacement.ts'

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
  /** The store's thread answers what comes over it. */
  serveObjects(port: MessagePort): void
  onTraffic(event: TrafficEvent, thread: number): void
  onDeath(thread: number, reason: string): void
  /** Why there are fewer threads than there should be; null: there are not. */
  onDegraded(reason: string | null): void
  /** Which threads write to the journal; those from `next` on are yet to come. */
  onWriters(writers: Writers): void
}

/** A thread that is too busy to stop listening within this time is not waited for. */
const stopMs = 2000
/** Beyond the limit of draining, until a thread that has not ended by itself is ended. */
const graceMs = 3000

/** The data-plane threads: started, told every snapshot, replaced when one dies, drained at the end. */
export class Fleet implements SnapshotAudience {
  readonly #options: FleetOptions
  #members: Member[] = []
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

  constructor(options: FleetOptions) {
    this.#options = options
    this.#settings = options.settings
    this.#certificate = options.certificate
  }

  /** How many threads take requests. */
  get size(): number {
    return this.#members.filter(({ counts, listening }) => counts && listening).length
  }

  /** Every thread is up and has what `whole` gives; none listens yet. */
  async start(): Promise<void> {
    await Promise.all(
      Array.from({ length: this.#options.workers }, async () => {
        const member = this.#start()
        if (!(await this.#prepare(member))) throw new Error(`a data-plane thread cannot start: ${this.#lastReason}`)
      }),
    )
  }

  /** Resolves when every thread accepts connections. */
  async listen(): Promise<void> {
    this.#listening = true
    await Promise.all(this.#members.map((member) => member.listen()))
    // One may have died since it started.
    this.#replace()
  }

  async configuration(snapshot: ConfigurationSnapshot): Promise<void> {
    this.#tellAll({ type: 'configuration', snapshot })
    await this.#until(({ configuration }) => configuration >= snapshot.version)
  }

  async keys(delta: KeyDelta): Promise<void> {
    this.#tellAll({ type: 'keys', delta })
    await this.#until(({ keys }) => keys >= delta.version)
  }

  /** Resolves when every thread obeys them, for what begins from then on. A null certificate leaves the one in use. */
  async settings(settings: GatewaySettings, certificate: ServerCertificate | null): Promise<void> {
    this.#settings = settings
    this.#certificate = certificate ?? this.#certificate
    const version = ++this.#settingsVersion
    this.#tellAll({ type: 'settings', version, settings, certificate })
    await this.#until((member) => member.settings >= version)
  }

  degraded(parts: readonly DegradedPart[]): void {
    this.#tellAll({ type: 'degraded', parts })
  }

  /** Of a key whose revocation every thread has been told. */
  closeStreams(keyId: string): void {
    this.#tellAll({ type: 'close-streams', keyId })
  }

  /** The store's thread is another one: the ways to the one before have ended. */
  connectObjects(): void {
    for (const member of this.#members) this.#connectObjects(member)
  }

  forgetHealth(slot: number): void {
    attachHealth(this.#options.memory.health).markReady(slot)
  }

  /** New connections are refused, open requests end within the limit, journals are closed. */
  async drain(limitMs: number): Promise<void> {
    this.#draining = true
    for (const timer of [this.#pause, this.#second]) if (timer !== null) clearTimeout(timer)
    // All listeners first, and only then any answer that says that its connection closes: whoever reads that dials anew at
    // once, and a listener that closes under it would reset what it has taken in.
    this.#tellAll({ type: 'stop-listening' })
    await Promise.all(this.#members.map((member) => member.soon('stopped-listening', stopMs)))
    this.#tellAll({ type: 'drain', limitMs })
    await Promise.all(this.#members.map((member) => member.drained(limitMs + graceMs)))
  }

  #connectObjects(member: Member): void {
    if (!member.alive) return
    const { port1, port2 } = new MessageChannel()
    member.tell({ type: 'objects', port: port1 }, [port1])
    this.#options.serveObjects(port2)
  }

  #tellAll(message: ToThread): void {
    for (const member of this.#members) member.tell(message)
  }

  #start(): Member {
    const { journalDirectory, boot, memory } = this.#options
    // A thread's number names its journal segments and is never used twice in one boot.
    const thread = this.#nextThread++
    const start: ThreadStart = {
      settings: this.#settings,
      certificate: this.#certificate,
      journal: { directory: journalDirectory, boot, thread },
      healthMemory: memory.health,
      counterMemory: memory.counters,
      counterLayout: memory.layout,
      column: this.#freeColumns()[0] ?? 0,
    }
    const member = new Member(
      start,
      this.#settingsVersion,
      (from, message) => this.#hear(from, message),
      (ended, reason) => this.#bury(ended, reason),
    )
    this.#members.push(member)
    this.#tellWriters()
    return member
  }

  /** Whatever was published while it started is posted behind the whole, and so comes before its first request. False: it died. */
  async #prepare(member: Member): Promise<boolean> {
    if ((await member.heard('started')) === null) return false
    const { snapshot, delta } = this.#options.whole()
    member.tell({ type: 'configuration', snapshot })
    member.tell({ type: 'keys', delta: { ...delta, full: true } })
    member.tell({ type: 'degraded', parts: this.#options.degraded() })
    this.#connectObjects(member)
    const has = () => member.configuration >= snapshot.version && member.keys >= delta.version
    while (member.alive && !has()) await this.#news()
    return member.alive
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
      const reason = `snapshot rejected: ${message.reason}`
      this.#options.onTraffic({ type: 'fault', requestId: '', reason }, member.thread)
    } else if (message.type === 'dying') {
      member.dying = message.reason
      this.#wake()
      this.#lose(member, message.reason)
    }
  }

  /** Nothing of the thread runs any more: what it held is given back, and its journal is complete. */
  #bury(member: Member, reason: string): void {
    this.#members = this.#members.filter((each) => each !== member)
    this.#wake()
    const { counters, health } = attachShared(this.#options.memory)
    counters.reverseThread(member.column)
    health.abandonAll(member.column)
    this.#tellWriters()
    if (member.dying === null) this.#lose(member, reason)
    else this.#replace()
  }

  #lose(member: Member, reason: string): void {
    if (this.#draining) return
    this.#lastReason = reason
    this.#options.onDeath(member.thread, reason)
    const pause = this.#pace.died(Date.now() - member.startedAt, reason)
    // A gateway that has never listened ends with its first thread.
    if (!this.#listening) return
    this.#judge()
    if (this.#pause !== null) clearTimeout(this.#pause)
    this.#pause = setTimeout(() => {
      this.#pause = null
      this.#replace()
    }, pause)
  }

  /** As many as are missing; a dying one keeps its column until its end, so where columns run out that is waited for. */
  #replace(): void {
    if (this.#draining || !this.#listening || this.#pause !== null) return
    const there = this.#members.filter(({ dying }) => dying === null).length
    const room = Math.min(this.#options.workers - there, this.#freeColumns().length)
    for (let left = room; left > 0; left--) void this.#add()
  }

  async #add(): Promise<void> {
    const member = this.#start()
    try {
      // One that listened now would have the drain under way close what it took in.
      if (!(await this.#prepare(member)) || this.#draining) return
      await member.listen()
    } catch (error) {
      member.dying = error instanceof Error ? error.message : String(error)
      this.#lose(member, member.dying)
      await member.end()
      return
    }
    // It may have died before, and then the next one comes; or the gateway drains by now.
    if (!member.listening || this.#draining) return
    for (const each of this.#members) if (each.dying !== null) each.tell({ type: 'leave' })
    this.#judge()
  }

  #judge(): void {
    const youngest = Date.now() - Math.max(0, ...this.#members.map(({ startedAt }) => startedAt))
    const reason = this.#pace.judge(this.#options.workers, this.size, youngest)
    this.#options.onDegraded(reason)
    if (this.#second !== null) clearTimeout(this.#second)
    this.#second = reason === null ? null : setTimeout(() => this.#judge(), this.#pace.ripensIn(youngest) + 1)
  }

  #freeColumns(): number[] {
    const taken = new Set(this.#members.map(({ column }) => column))
    return columnsOf(this.#options.workers).filter((column) => !taken.has(column))
  }

  #tellWriters(): void {
    const running = this.#members.map(({ thread }) => thread)
    this.#options.onWriters({ boot: this.#options.boot, running, next: this.#nextThread })
  }

  /** Holds of every thread whose requests depend on it; one that dies or is replaced in the meantime keeps nobody waiting. */
  async #until(holds: (member: Member) => boolean): Promise<void> {
    while (!this.#members.every((member) => !member.counts || holds(member))) await this.#news()
  }

  #news(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
