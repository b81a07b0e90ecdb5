import { bucketMs, type StatedRow, windowBuckets } from './call.ts'

/** The cell that the data plane takes from, in memory shared by its threads. Amounts are whole numbers. */
export interface AllowanceCell {
  /** The limit for all nodes together: in any 60 seconds, or at once. */
  limit(): number
  /** For requests at once: what was taken before this row existed, and is put back when it ends. Nothing is free afterwards. */
  adopt(): number
  /** Adds to what may be taken in that bucket; nothing remains of an earlier one. */
  put(bucket: number, amount: number): void
  /** Removes and returns what has not been taken. */
  takeBack(): number
  free(): number
  /** By how much use in that bucket differs from what was taken; negative: less was used. */
  corrected(bucket: number): number
  /** Forgets corrections, because buckets get other numbers. */
  dropCorrections(): void
  /** What waiting requests need: the smallest need, and the sum; 0: none wait. */
  waiting(): { least: number; all: number }
}

export interface SharedLimit {
  id: string
  /** Requests at once: what is taken is put back at the end, and there are no buckets. */
  slots: boolean
}

const newest = windowBuckets - 1
/**
 * Use below this rate, with nothing used in seven buckets, counts as none: the estimate itself never reaches zero. Without it, a limit that
 * is rarely used would lose its allowance each time.
 */
const leastInBucket = 0.05
const none = (): number[] => Array.from({ length: windowBuckets }, () => 0)

/** One limit on this node: the grants for each bucket, what is in the cell, and what was used. */
export class GrantedRow {
  readonly limit: SharedLimit
  readonly cell: AllowanceCell
  /** Grants for the last seven buckets, the present one last. Requests at once only use the last. */
  #held = none()
  /** What was taken from the cell in past buckets. */
  #taken = none()
  /** What was put into the cell since the present bucket began. */
  #put = 0
  share = 0
  /** What Valkey could still grant at the last reply. */
  room = 0
  /** After a refusal, nothing is asked for until then. */
  refusedUntil = 0
  /** When there will be room for what was refused, as far as Valkey knows; 0: unknown. */
  freesAt = 0
  /** Until then, nothing is asked for unless a request waits. */
  asksAt = 0
  /** When unused amounts were last given back. */
  returnedAt = 0
  statedAt = Number.NEGATIVE_INFINITY
  /** Valkey has an entry for this node, which only Valkey's script removes. */
  known = false
  /** A statement may have reached Valkey without its reply arriving: there may be an entry. */
  unanswered = false
  /** A bucket has ended since the last statement. */
  rolled = false
  /** The estimated use per millisecond. */
  rate = 0
  #seen = 0
  /** For the buckets before the present one: the use, and the part of it without a grant. */
  #usedBefore = 0
  #overBefore = 0

  constructor(limit: SharedLimit, cell: AllowanceCell) {
    this.limit = limit
    this.cell = cell
    this.#put = cell.adopt()
  }

  get most(): number {
    return this.cell.limit()
  }

  /** Moves on to a bucket that is `by` later. */
  roll(by: number, bucket: number): void {
    if (this.limit.slots || by <= 0) return
    this.#taken[newest] = this.#put - this.cell.takeBack()
    this.#put = 0
    this.#seen = 0
    this.rolled = true
    for (let step = 0; step < Math.min(by, windowBuckets); step++) {
      this.#held.push(0)
      this.#held.shift()
      this.#taken.push(0)
      this.#taken.shift()
    }
    this.refusedUntil = 0
    this.asksAt = 0
    this.#recount(bucket)
  }

  #recount(bucket: number): void {
    this.#usedBefore = 0
    this.#overBefore = 0
    if (this.limit.slots) return
    for (let place = 0; place < newest; place++) {
      this.#usedBefore += this.#usedAt(place, bucket)
      this.#overBefore += this.#over(place, bucket)
    }
  }

  /** The use in the bucket at that place. */
  #usedAt(place: number, bucket: number): number {
    const taken = place === newest ? this.#put - this.cell.free() : (this.#taken[place] ?? 0)
    return Math.max(0, taken + this.cell.corrected(bucket - newest + place))
  }

  usedNow(bucket: number): number {
    return this.#usedAt(newest, bucket)
  }

  /** The use in all seven buckets. */
  used(bucket: number): number {
    return this.#usedBefore + this.usedNow(bucket)
  }

  /** Nothing is held or used any more. */
  isIdle(bucket: number): boolean {
    return this.used(bucket) === 0 && this.cell.waiting().all === 0 && this.#held.every((amount) => amount === 0)
  }

  /** Use without a grant that has not been stated yet. */
  #over(place: number, bucket: number): number {
    return Math.max(0, this.#usedAt(place, bucket) - (this.#held[place] ?? 0))
  }

  /**
   * Sets what the cell may give in this bucket. `even`: the total allowed while no server can be reached. `usesShare`: the share may be
   * used too.
   */
  settle(bucket: number, even: number | null, usesShare = true): void {
    const most = this.#allowed(even, usesShare) - this.cell.corrected(bucket)
    if (most < this.#put) this.#put -= this.cell.takeBack()
    if (most <= this.#put) return
    this.cell.put(bucket, most - this.#put)
    this.#put = most
  }

  #allowed(even: number | null, usesShare: boolean): number {
    const held = this.#held[newest] ?? 0
    if (this.limit.slots) return Math.max(held, even ?? 0)
    const share = usesShare ? Math.max(0, this.share - this.#overBefore) : 0
    return Math.max(held + share, even === null ? 0 : even - this.#usedBefore)
  }

  /** Keeps `keep` of the present grant; the rest is given back with the next statement. */
  releaseFree(bucket: number, keep: number): void {
    this.#put -= this.cell.takeBack()
    this.#held[newest] = Math.min(this.#held[newest] ?? 0, this.usedNow(bucket) + keep)
  }

  /** Turns use of the share into grants, and reduces the share by it. Unused grants of past buckets are given back. */
  #book(bucket: number): void {
    for (let place = 0; place < windowBuckets; place++) {
      const over = this.#over(place, bucket)
      this.share = Math.max(0, this.share - over)
      const isOver = place < newest && !this.limit.slots
      this.#held[place] = isOver ? this.#usedAt(place, bucket) : (this.#held[place] ?? 0) + over
    }
    this.rolled = false
    this.#recount(bucket)
  }

  get granted(): number {
    return this.#held[newest] ?? 0
  }

  /** Part of the share has been used without Valkey knowing. */
  hasOver(bucket: number): boolean {
    return this.#overBefore + this.#over(newest, bucket) > 0
  }

  /** `leaves`: the node does not need a share. */
  state(bucket: number, want: number, need: number, leaves: boolean): StatedRow {
    this.#book(bucket)
    if (leaves) this.share = 0
    this.unanswered = true
    const { slots } = this.limit
    const held = slots ? [this.#held[newest] ?? 0] : this.#held
    return [this.most, slots ? 1 : 0, want, need, leaves ? -1 : this.share, this.known ? 1 : 0, ...held]
  }

  /** Whether its statement would say that it holds anything. */
  get holdsAny(): boolean {
    return this.share > 0 || this.#held.some((amount) => amount > 0)
  }

  /** `age`: how many buckets ago it was granted. */
  grant(amount: number, age: number): void {
    const place = newest - age
    if (place >= 0) this.#held[place] = (this.#held[place] ?? 0) + amount
    // A grant for a past bucket is given back with the next statement.
    if (place >= 0 && place < newest) this.rolled = true
  }

  /** Drops the grants of an earlier server or run; only actual use remains. */
  forget(bucket: number, keepShare: boolean): void {
    this.#put -= this.cell.takeBack()
    this.#book(bucket)
    if (!this.limit.slots) this.#held[newest] = this.usedNow(bucket)
    if (!keepShare) this.share = 0
    this.known = false
    this.unanswered = false
  }

  /** Adapts to another clock: buckets move by `shift`, at most to the present one. */
  move(shift: number, from: number, to: number): void {
    if (this.limit.slots) return
    const used = none().map((_, place) => this.#usedAt(place, from))
    this.#held = none()
    this.#taken = none()
    this.#seen = 0
    this.cell.dropCorrections()
    for (const [place, amount] of used.entries()) {
      const bucket = Math.min(from - newest + place + shift, to)
      const moved = newest - (to - bucket)
      if (moved < 0) continue
      this.#held[moved] = (this.#held[moved] ?? 0) + amount
      this.#taken[moved] = (this.#taken[moved] ?? 0) + amount
    }
    this.#put = this.#taken[newest] ?? 0
    this.#recount(to)
  }

  /** Updates the estimate. `passedMs`: since the last tick. */
  estimate(bucket: number, passedMs: number): void {
    if (passedMs <= 0) return
    const used = this.usedNow(bucket)
    const weight = Math.min(1, passedMs / 2000)
    this.rate += (Math.max(0, used - this.#seen) / passedMs - this.rate) * weight
    if (this.rate * bucketMs < leastInBucket && this.used(bucket) === 0) this.rate = 0
    this.#seen = used
  }
}
