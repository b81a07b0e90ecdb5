import { bucketMs, type StatedRow, windowBuckets } from './call.ts'

/** What the data plane takes from, in memory that its threads share. Amounts are whole numbers. */
export interface AllowanceCell {
  /** What all nodes may use together: in any 60 seconds, or at once. */
  limit(): number
  /** Of requests at once: what was taken before this row was made, which is put back at their end. Nothing is free then. */
  adopt(): number
  /** So much more may be taken in that bucket; nothing is left of an earlier one. */
  put(bucket: number, amount: number): void
  /** What nobody has taken, and nobody can take any more. */
  takeBack(): number
  free(): number
  /** By how much more was used in that bucket than was taken then; negative: less. */
  corrected(bucket: number): number
  /** Forgets corrections: buckets get other numbers. */
  dropCorrections(): void
  /** Requests that wait for an allowance: what the least and what all of them need; 0: none wait. */
  waiting(): { least: number; all: number }
}

export interface SharedLimit {
  id: string
  /** Requests at once: what is taken is put back at their end, and no bucket ends. */
  slots: boolean
}

const newest = windowBuckets - 1
/**
 * Who has used nothing in all seven buckets, and is expected to use less than that in one, uses nothing: the estimate never comes
 * to zero by itself. Whoever uses little would else be without an allowance each time that it comes again.
 */
const leastInBucket = 0.05
const none = (): number[] => Array.from({ length: windowBuckets }, () => 0)

/** One limit as a node knows it: what it was granted in each bucket, what it put into the cell, what was used. */
export class GrantedRow {
  readonly limit: SharedLimit
  readonly cell: AllowanceCell
  /** Of the last seven buckets, the present one last; requests at once have only the last. */
  #held = none()
  /** What was taken from the cell in the buckets that have ended. */
  #taken = none()
  /** In the cell since the present bucket began. */
  #put = 0
  share = 0
  /** What Valkey could grant when it was asked last. */
  room = 0
  /** Of a refusal: until then nothing is asked for. */
  refusedUntil = 0
  /** When there is room for what was refused, as far as Valkey knows; 0: it does not. */
  freesAt = 0
  /** Until then nothing is asked for that no request waits for. */
  asksAt = 0
  /** When what is free was given back last. */
  returnedAt = 0
  statedAt = Number.NEGATIVE_INFINITY
  /** Valkey has an entry of this node, which only its own script removes. */
  known = false
  /** Valkey may have answered a statement without this node having heard it: an entry of it may be there. */
  unanswered = false
  /** A bucket has ended since it was stated. */
  rolled = false
  /** For the estimate of what it will use. */
  rate = 0
  #seen = 0
  /** Of the buckets before the present one: what was used, and of that without a grant. */
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

  /** The present bucket is so many later. */
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

  /** Of the bucket so many before the present one. */
  #usedAt(place: number, bucket: number): number {
    const taken = place === newest ? this.#put - this.cell.free() : (this.#taken[place] ?? 0)
    return Math.max(0, taken + this.cell.corrected(bucket - newest + place))
  }

  usedNow(bucket: number): number {
    return this.#usedAt(newest, bucket)
  }

  /** In all seven buckets. */
  used(bucket: number): number {
    return this.#usedBefore + this.usedNow(bucket)
  }

  /** Nothing is held or used any more. */
  isIdle(bucket: number): boolean {
    return this.used(bucket) === 0 && this.cell.waiting().all === 0 && this.#held.every((amount) => amount === 0)
  }

  /** Used without a grant, and not stated yet. */
  #over(place: number, bucket: number): number {
    return Math.max(0, this.#usedAt(place, bucket) - (this.#held[place] ?? 0))
  }

  /**
   * Puts into the cell what may be used in this bucket, or takes back. `even`: so much in all, while nobody is reached.
   * `usesShare`: the share may be used.
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

  /** What is free of the grant of this bucket goes back with the next statement. */
  releaseFree(bucket: number, keep: number): void {
    this.#put -= this.cell.takeBack()
    this.#held[newest] = Math.min(this.#held[newest] ?? 0, this.usedNow(bucket) + keep)
  }

  /** What was used of the share becomes a grant, the share smaller by as much; what was not used of ended buckets goes back. */
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

  /** Something was used of the share that Valkey does not know of. */
  hasOver(bucket: number): boolean {
    return this.#overBefore + this.#over(newest, bucket) > 0
  }

  /** `leaves`: it has no use for a share. */
  state(bucket: number, want: number, need: number, leaves: boolean): StatedRow {
    this.#book(bucket)
    if (leaves) this.share = 0
    this.unanswered = true
    const { slots } = this.limit
    const held = slots ? [this.#held[newest] ?? 0] : this.#held
    return [this.most, slots ? 1 : 0, want, need, leaves ? -1 : this.share, this.known ? 1 : 0, ...held]
  }

  /** Whether its statement says that it holds anything. */
  get holdsAny(): boolean {
    return this.share > 0 || this.#held.some((amount) => amount > 0)
  }

  /** `age`: how many buckets ago it was granted. */
  grant(amount: number, age: number): void {
    const place = newest - age
    if (place >= 0) this.#held[place] = (this.#held[place] ?? 0) + amount
    // An ended bucket's goes back with the next statement.
    if (place >= 0 && place < newest) this.rolled = true
  }

  /** Nothing is left of what an earlier server or life was granted: only what was used stays. */
  forget(bucket: number, keepShare: boolean): void {
    this.#put -= this.cell.takeBack()
    this.#book(bucket)
    if (!this.limit.slots) this.#held[newest] = this.usedNow(bucket)
    if (!keepShare) this.share = 0
    this.known = false
    this.unanswered = false
  }

  /** Another clock: each bucket moves by so many, at the latest to the present one. */
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

  /** Once a tick of so many milliseconds. */
  estimate(bucket: number, passedMs: number): void {
    if (passedMs <= 0) return
    const used = this.usedNow(bucket)
    const weight = Math.min(1, passedMs / 2000)
    this.rate += (Math.max(0, used - this.#seen) / passedMs - this.rate) * weight
    if (this.rate * bucketMs < leastInBucket && this.used(bucket) === 0) this.rate = 0
    this.#seen = used
  }
}
