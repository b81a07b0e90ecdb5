import type { Apart } from '../../policy/limits/bucket-clock.ts'
import { bucketMs, type LimitCall, type LimitReply, type StatedRow, silentMs, windowBuckets } from './call.ts'
import { type AllowanceCell, GrantedRow, type SharedLimit } from './granted-row.ts'
import { ServerClock } from './server-clock.ts'

/** How long a refusal is remembered, and how often unused amounts near the limit are given back. */
const pauseMs = 250
/** How often an idle node reports that it is alive. */
const aliveMs = 1000
/** Bounds one call, so that it takes Valkey only a few milliseconds. */
const mostRows = 300
/** What an earlier run of this node used no longer counts after this time, whatever the clocks say. */
const historyMs = (windowBuckets + 1) * bucketMs

/**
 * What a node may use while it is absent: an even part of each limit, nothing, or the whole limit, which all nodes together may then
 * exceed.
 */
export type WithoutServer = 'share' | 'refuse' | 'local'

const withoutServer = { share: 'cut off', refuse: 'closed', local: null } as const satisfies Record<
  WithoutServer,
  Apart
>

export interface WindowOptions {
  /** null: the gateway is alone, and has the whole of each limit. */
  node: string | null
  /** Returns a name that no earlier run of a node has had. */
  newLife(): string
  /** Earlier runs of this node used nothing in the last 80 seconds. */
  quiet: boolean
  without: WithoutServer
  /** Milliseconds of a monotonic clock. */
  now: number
}

interface PendingCall {
  call: LimitCall
  rows: GrantedRow[]
  sentAt: number
}

/**
 * A node's part of the limits that nodes share. It uses its grants, each in its own bucket; its share while nothing can be granted; and its
 * even part of the limit from the seventh bucket of its absence. Nothing here waits or reads a clock: the caller supplies the time, sends
 * the calls and passes on the replies. Decision 0066.
 */
export class SharedWindows {
  readonly #options: WindowOptions
  readonly #clock: ServerClock
  readonly #rows = new Map<string, GrantedRow>()
  /** Rows not stated since the node was absent, or in this epoch. */
  readonly #unstated = new Set<GrantedRow>()
  #life: string
  #number = 0
  #epoch = 0
  #tag = ''
  #run = ''
  #doubt = false
  #open = false
  #members: readonly string[] = []
  /** Earlier runs used nothing that still counts. */
  #quiet: boolean
  /** The even part is the limit divided by this: the largest number of nodes named since the last complete reply. */
  #divisor = 0
  #bucket: number
  /** Server time of the last reply; before that, of the start of this run. */
  #heard: number
  #heardAt: number
  #sent: PendingCall | null = null
  #tickedAt: number

  constructor(options: WindowOptions) {
    this.#options = options
    this.#quiet = options.quiet
    this.#clock = new ServerClock(options.now)
    this.#life = options.newLife()
    this.#bucket = Math.floor(options.now / bucketMs)
    this.#heard = options.now
    this.#heardAt = Number.NEGATIVE_INFINITY
    this.#tickedAt = options.now
  }

  /**
   * The nodes that count together; empty: unknown, and no even part is used. `cameAlone`: earlier runs of this node counted for
   * themselves, and what they let pass counts no more than what a node alone let pass before its restart.
   */
  setMembers(members: readonly string[], cameAlone = false): void {
    this.#members = members
    this.#quiet ||= cameAlone
  }

  get clock(): ServerClock {
    return this.#clock
  }

  /** The bucket that the cells' allowances are for. */
  get bucket(): number {
    return this.#bucket
  }

  /** Valkey cannot be reached, so the node uses its share. */
  isAbsent(): boolean {
    return this.#bucket >= this.#absentFrom
  }

  /** Grants are given: all nodes have told this server what they hold. */
  get isOpen(): boolean {
    return this.#open
  }

  /** Why this node cannot be granted anything now, for the error message. */
  get apart(): Apart {
    const { node, without } = this.#options
    if (node === null) return null
    if (this.isAbsent()) return withoutServer[without]
    // Whoever knows no nodes asks nobody; and a server that has said nothing yet is not reached.
    if (this.#members.length === 0 || this.#heardAt === Number.NEGATIVE_INFINITY) return this.ofLost
    return this.#open ? null : 'opening'
  }

  /** The same where the server has just stopped answering. */
  get ofLost(): Apart {
    return withoutServer[this.#options.without] ?? 'cut off'
  }

  get heardAt(): number {
    return this.#heardAt
  }

  find(id: string): GrantedRow | undefined {
    return this.#rows.get(id)
  }

  add(limit: SharedLimit, cell: AllowanceCell): GrantedRow {
    const row = new GrantedRow(limit, cell)
    this.#rows.set(limit.id, row)
    if (this.isAbsent()) this.#unstated.add(row)
    this.#settle(row)
    return row
  }

  /** Follows the clock: at the start of each bucket, cells get what may be used in it. */
  tick(now: number): void {
    const bucket = Math.max(this.#bucket, Math.floor(this.#clock.span(now).low / bucketMs))
    const passed = now - this.#tickedAt
    this.#tickedAt = now
    const by = bucket - this.#bucket
    this.#bucket = bucket
    for (const row of this.#rows.values()) {
      if (by === 0) row.estimate(bucket, passed)
      row.roll(by, bucket)
      if (this.isAbsent()) this.#unstated.add(row)
      // If a reply is still expected, the row must stay, or its grant would be lost.
      if (by > 0 && !row.known && !row.unanswered && row.isIdle(bucket)) this.#remove(row)
      else this.#settle(row)
    }
  }

  /** The next call; null: there is nothing to say. It replaces a call that was not answered. */
  nextCall(now: number, run: string): LimitCall | null {
    if (run !== this.#run) this.#run = run
    const { node } = this.#options
    if (node === null || this.#members.length === 0) return null
    const rows = this.#epoch === 0 ? [] : this.#choose(now)
    // Grants wait until all nodes have reported, including this one.
    if (rows.length === 0 && now - this.#heardAt < (this.#open ? aliveMs : pauseMs)) return null
    const whole = this.#epoch > 0 && [...this.#unstated].every((row) => rows.includes(row))
    this.#divisor = Math.max(this.#divisor, this.#members.length)
    const call: LimitCall = {
      ...{ run, epoch: this.#epoch, tag: this.#tag, doubt: this.#doubt },
      ...{ node, life: this.#life, number: ++this.#number, members: this.#members, whole },
      known: this.#quiet || now - this.#options.now >= historyMs,
      ack: whole && this.#heardAt > Number.NEGATIVE_INFINITY ? this.#heard : 0,
      bucket: this.#bucket,
      rows: rows.map((row) => this.#state(row, now)),
    }
    this.#sent = { call, rows, sentAt: now }
    return call
  }

  /** The limits that a call covers. */
  namesOf(call: LimitCall): string[] {
    return this.#sent?.call === call ? this.#sent.rows.map(({ limit }) => limit.id) : []
  }

  /** Only the reply to the latest call counts. */
  accept(number: number, reply: LimitReply, now: number): void {
    const sent = this.#sent
    if (sent === null || sent.call.number !== number) return
    this.#sent = null
    if (reply.epoch !== this.#epoch || reply.tag !== this.#tag) return this.#begin(reply, sent.sentAt, now)
    if (!this.#clock.hear(reply.time, sent.sentAt, now)) {
      this.#doubt = true
      return
    }
    if (reply.code === 'dead') return this.#beginLife()
    if (reply.code !== 'ok') return
    this.#open = reply.open
    this.#heard = Math.max(this.#heard, reply.time)
    this.#heardAt = now
    if (sent.call.whole) this.#divisor = sent.call.members.length
    this.tick(now)
    const given = Math.floor(reply.time / bucketMs)
    for (const [index, row] of sent.rows.entries()) {
      this.#take(row, reply.rows[index], this.#bucket - given, now, sent)
      const frees = reply.rows[index]?.frees ?? 0
      row.freesAt = frees === 0 ? 0 : now + (given + frees) * bucketMs - this.#clock.span(now).low
    }
  }

  #take(row: GrantedRow, figures: LimitReply['rows'][number] | undefined, age: number, now: number, sent: PendingCall) {
    this.#unstated.delete(row)
    row.unanswered = false
    if (figures === undefined) return
    const { given, share, room } = figures
    row.grant(given, row.limit.slots ? 0 : Math.max(0, age))
    row.share = share
    row.room = room
    row.known = row.holdsAny
    const [, , wanted = 0, needed = 0] = sent.call.rows[sent.rows.indexOf(row)] ?? []
    if (needed > 0 && given < needed) row.refusedUntil = now + pauseMs
    // Near the limit, what no request waits for is not asked for again and again.
    if (needed === 0 && wanted > given * 2) row.asksAt = now + aliveMs
    this.#settle(row)
    // It was given back; a new use adds it again.
    if (!row.known && row.isIdle(this.#bucket)) this.#remove(row)
  }

  #remove(row: GrantedRow): void {
    row.cell.takeBack()
    this.#unstated.delete(row)
    this.#rows.delete(row.limit.id)
  }

  /** Another server, or another data set: its grants do not continue the earlier ones. */
  #begin(reply: LimitReply, sentAt: number, now: number): void {
    // The time may be in either of two buckets, so it is not used to begin with.
    if (Math.floor(reply.time / bucketMs) !== Math.floor((reply.time + 2 + now - sentAt) / bucketMs)) return
    this.#doubt = false
    this.#open = false
    this.tick(now)
    const from = this.#bucket
    const shift = Math.ceil(this.#clock.change(reply.time, sentAt, now) / bucketMs)
    const to = Math.floor(reply.time / bucketMs)
    for (const row of this.#rows.values()) {
      row.forget(from, true)
      row.move(shift, from, to)
      this.#unstated.add(row)
    }
    this.#epoch = reply.epoch
    this.#tag = reply.tag
    this.#bucket = to
    this.#heard = reply.time
    this.#heardAt = now
    for (const row of this.#rows.values()) this.#settle(row)
  }

  #beginLife(): void {
    this.#life = this.#options.newLife()
    for (const row of this.#rows.values()) {
      row.forget(this.#bucket, false)
      this.#unstated.add(row)
    }
  }

  get #absentFrom(): number {
    return Math.floor((this.#heard + silentMs) / bucketMs) + 1
  }

  #settle(row: GrantedRow): void {
    row.settle(this.#bucket, this.#evenOf(row), this.#options.without !== 'refuse' || !this.isAbsent())
  }

  /** Null: before the seventh bucket of its absence, other nodes may still be using what Valkey has not reserved for this one yet. */
  #evenOf(row: GrantedRow): number | null {
    const { without, node } = this.#options
    if (node === null) return row.most
    if (this.isAbsent() && without !== 'share') return without === 'local' ? row.most : null
    if (this.#bucket < this.#absentFrom + windowBuckets - 1 || this.#members.length === 0) return null
    return Math.floor(row.most / Math.max(this.#divisor, this.#members.length))
  }

  #choose(now: number): GrantedRow[] {
    const chosen = new Set<GrantedRow>()
    for (const row of this.#rows.values()) {
      if (this.#needsCall(row, now)) chosen.add(row)
      if (chosen.size === mostRows) return [...chosen]
    }
    for (const row of this.#unstated) {
      if (chosen.size === mostRows) break
      chosen.add(row)
    }
    return [...chosen]
  }

  #needsCall(row: GrantedRow, now: number): boolean {
    if (row.rolled || row.hasOver(this.#bucket)) return true
    if ((row.known || row.unanswered) && row.isIdle(this.#bucket)) return true
    // Other nodes may need the unused share.
    if (row.share > 0 && now - row.statedAt >= aliveMs) return true
    if (this.#wantOf(row, now).want > 0) return true
    return this.#returns(row, now)
  }

  /** Near the limit other nodes may need what this one does not use, and the last requests at once that have ended. */
  #returns(row: GrantedRow, now: number): boolean {
    const used = row.usedNow(this.#bucket)
    if (row.granted <= used || now - row.returnedAt < pauseMs) return false
    return row.room < row.most / 4 || (row.limit.slots && used === 0)
  }

  #state(row: GrantedRow, now: number): StatedRow {
    const { want, need } = this.#wantOf(row, now)
    if (want === 0 && this.#returns(row, now)) {
      row.returnedAt = now
      row.releaseFree(this.#bucket, 0)
    }
    const leaves = row.isIdle(this.#bucket)
    row.statedAt = now
    const stated = row.state(this.#bucket, want, need, leaves)
    this.#settle(row)
    return stated
  }

  #wantOf(row: GrantedRow, now: number): { want: number; need: number } {
    const { least, all } = row.cell.waiting()
    const restMs = row.limit.slots ? pauseMs : (this.#bucket + 1) * bucketMs - this.#clock.span(now).low
    const expected = Math.ceil(row.rate * Math.max(0, restMs))
    if (all > 0 && now >= row.refusedUntil) {
      const free = row.cell.free()
      return { want: Math.max(1, all + expected - free), need: Math.max(0, least - free) }
    }
    // The share is reserved for when nothing can be granted.
    const rest = Math.max(0, row.granted - row.usedNow(this.#bucket))
    return rest * 2 < expected && now >= row.asksAt ? { want: expected - rest, need: 0 } : { want: 0, need: 0 }
  }
}
