import { BucketClock } from '../../policy/limits/bucket-clock.ts'
import { type LimitMemory, LimitRows } from '../../policy/limits/limit-memory.ts'
import type { LimitsStart } from '../protocol.ts'
import { Script, timedOut, type Valkey } from '../valkey.ts'
import { bucketMs, type LimitReply, readReply } from './call.ts'
import { limitScript } from './script.ts'
import { SharedCell, sharedName } from './shared-cell.ts'
import { SharedWindows, type WithoutServer } from './windows.ts'

const tickMs = 50
/** How long a waiting request counts as waiting. */
const waitingMs = 1000
/** How long a refusal lasts while nothing can be granted. */
const pauseMs = 250

const script = new Script(limitScript())

export interface DriverOptions {
  memory: LimitMemory
  /** Keys contain the cluster's id; null: the gateway is not in a cluster. */
  member: LimitsStart['member']
  newLife(): string
  /** Earlier runs of this node have used nothing recently. */
  quiet: boolean
  without: WithoutServer
  /** null: the gateway is not in a cluster. */
  valkey: Pick<Valkey, 'run' | 'evaluate'> | null
  /** Milliseconds of the clock that the threads of this process share. */
  now(): number
  /** Called with each answer while limits are granted. */
  onGranting?(): void
}

/** Runs this node's part of the shared limits: fills the data plane's cells, sends calls, and processes replies. */
export class LimitDriver {
  readonly #options: DriverOptions
  readonly #rows: LimitRows
  readonly #clock: BucketClock | null
  readonly #windows: SharedWindows
  readonly #cells = new Map<string, SharedCell>()
  #timer: NodeJS.Timeout | null = null
  #calling = false
  /** The number of nodes; null: unknown. */
  #nodes: number | null = null
  /** The last call was refused, or could not be sent. */
  #refused = false
  #bucket = -1

  constructor(options: DriverOptions) {
    this.#options = options
    this.#rows = new LimitRows(options.memory)
    const { windows } = options.memory.shared
    this.#clock = windows === null ? null : new BucketClock(windows)
    const { member, newLife, quiet, without } = options
    this.#windows = new SharedWindows({ node: member?.id ?? null, newLife, quiet, without, now: options.now() })
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), tickMs)
    this.#tick()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    // Lets waiting requests look again, until another driver runs.
    for (const cell of this.#cells.values()) cell.answer(cell.limit(), 0, 0)
  }

  /** Empty: another gateway has taken this node's place, and nothing will be granted. */
  setMembers(members: readonly string[], cameAlone = false): void {
    this.#nodes = members.length
    this.#windows.setMembers(members, cameAlone)
  }

  /** The data plane needs more of a limit; a request may be waiting for it. */
  want({ row, slots, need }: { row: number; slots: boolean; need: number }): void {
    const now = this.#options.now()
    this.#rows.follow()
    const name = sharedName(this.#rows, row)
    let cell = this.#cells.get(name)
    if (cell === undefined || this.#windows.find(name) === undefined) {
      cell ??= new SharedCell(this.#rows, row, slots)
      this.#cells.set(name, cell)
      this.#windows.add({ id: name, slots }, cell)
    }
    if (this.#asksNobody) {
      this.#publishClock(now)
      return cell.answer(0, cell.free() >= need ? 0 : now + pauseMs, 0)
    }
    cell.wait(need, now + waitingMs)
    this.#call()
  }

  #tick(): void {
    const now = this.#options.now()
    for (const cell of this.#cells.values()) cell.forgetWaiting(now)
    this.#windows.tick(now)
    this.#publishClock(now)
    if (this.#asksNobody) this.#letGo(now)
    if (this.#windows.bucket !== this.#bucket) {
      this.#bucket = this.#windows.bucket
      for (const [name, cell] of this.#cells) {
        const row = this.#windows.find(name)
        cell.answer(row?.room ?? cell.limit(), 0, row?.freesAt ?? 0)
        if (row === undefined) this.#cells.delete(name)
      }
    }
    this.#call()
  }

  /** Includes a node that started without PostgreSQL: it does not know the other nodes, so it sends no calls. */
  get #asksNobody(): boolean {
    const isAlone = this.#nodes === 0 || (this.#nodes === null && this.#windows.isAbsent())
    return isAlone || this.#options.valkey?.run == null
  }

  /** There is nobody to ask: tells the requests that wait. */
  #letGo(now: number): void {
    for (const [name, cell] of this.#cells) {
      const { all } = cell.waiting()
      if (all > 0) cell.answer(0, now + pauseMs, this.#windows.find(name)?.freesAt ?? 0)
    }
  }

  #publishClock(now: number): void {
    const { clock, bucket } = this.#windows
    // The windows do not yet know that the server was just lost.
    const isLost = this.#options.valkey !== null && (this.#options.valkey.run === null || this.#refused)
    const apart = this.#windows.apart ?? (isLost && !this.#windows.isAbsent() ? this.#windows.ofLost : null)
    const { low, high } = clock.span(now)
    const from = now + bucket * bucketMs - low
    const until = now + ((bucket + 1) * bucketMs - high) * 0.9998
    this.#clock?.publish(bucket, Math.max(now - tickMs, from), until, apart)
  }

  #call(): void {
    const { valkey, now } = this.#options
    if (this.#calling || valkey?.run == null) return
    const call = this.#windows.nextCall(now(), valkey.run)
    if (call === null) return
    this.#calling = true
    const names = this.#windows.namesOf(call)
    const keys = [this.#key('state'), ...names.map((name) => this.#key(name))]
    valkey.evaluate(script, keys, JSON.stringify(call), readReply).then(
      (reply) => this.#receive(call.number, names, reply),
      (error: unknown) => this.#fail(error),
    )
  }

  /** The next call waits for the next tick: a closing connection fails at once, and this thread would do nothing else. */
  #fail(error: unknown): void {
    this.#calling = false
    // A single unanswered call means nothing: the next tick asks again.
    if (error instanceof Error && error.message === timedOut) return
    this.#refused = true
    const now = this.#options.now()
    this.#publishClock(now)
    this.#letGo(now)
  }

  #receive(number: number, names: readonly string[], reply: LimitReply): void {
    const now = this.#options.now()
    this.#refused = false
    this.#windows.accept(number, reply, now)
    if (this.#windows.isOpen) this.#options.onGranting?.()
    this.#publishClock(now)
    for (const name of names) {
      const row = this.#windows.find(name)
      const cell = this.#cells.get(name)
      // For a limit that was given back because it is unused, all of it counts as available.
      cell?.answer(row?.room ?? cell.limit(), row?.refusedUntil ?? 0, row?.freesAt ?? 0)
    }
    this.#calling = false
    // Asks at once for what was wanted in the meantime.
    if ([...this.#cells.values()].some((cell) => cell.waiting().all > 0)) this.#call()
  }

  /** All keys are in one hash slot, so that one script can use them. */
  #key(name: string): string {
    return `spgw:{${this.#options.member?.cluster}}:limits:${name}`
  }
}
