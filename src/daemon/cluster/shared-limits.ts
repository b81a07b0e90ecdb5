import type { SharedServer } from '../../admin/handlers/context.ts'
import type { LimitsStart, ValkeyAddress } from '../../cluster/protocol.ts'
import { BucketClock } from '../../policy/limits/bucket-clock.ts'
import type { LimitMemory } from '../../policy/limits/limit-memory.ts'

/** So long grants wait at the most for nodes that do not say what they use. */
const openingMs = 90_000

interface SharedLimitsOptions {
  /** Of Valkey; null: each node counts for itself. */
  address: ValkeyAddress | null
  without: LimitsStart['without']
  /** To the cluster thread. */
  send(start: LimitsStart): void
}

/** Tells the cluster thread which limits it has to share, and as whom; and what of it fails. */
export class SharedLimits {
  readonly #options: SharedLimitsOptions
  #member: LimitsStart['member'] = null
  #memory: { memory: LimitMemory; quiet: boolean } | null = null
  #trouble: string | null = null
  #since: string | null = null
  /** By the cluster thread; null: it has not begun. */
  #clock: BucketClock | null = null
  /** Since when grants wait, in epoch milliseconds; null: they do not. */
  #openingSince: number | null = null
  #listener: (reason: string | null) => void = () => {}

  constructor(options: SharedLimitsOptions) {
    this.#options = options
  }

  /** null: each node counts for itself. */
  find(): SharedServer | null {
    const { address, without } = this.#options
    if (address === null) return null
    const server = address.host.startsWith('/') ? address.host : `${address.host}:${address.port}`
    const until = this.look()
    return {
      ...{ server, trouble: this.#trouble, since: this.#since, meanwhile: without },
      opening_until: until === null ? null : new Date(until).toISOString(),
    }
  }

  /** From time to time, so that it is known since when grants wait. By when they begin; null: they do not wait. */
  look(now = Date.now()): number | null {
    const isOpening = this.#trouble === null && this.#clock?.apart === 'opening'
    // Whoever waits for longer waits anew: for another Valkey, or one that was emptied.
    const isOld = this.#openingSince !== null && now >= this.#openingSince + openingMs
    if (!isOpening) this.#openingSince = null
    else if (this.#openingSince === null || isOld) this.#openingSince = now
    return this.#openingSince === null ? null : this.#openingSince + openingMs
  }

  /**
   * What a gateway let pass while it was alone, nobody shares: one that founds a cluster under load is not held up for it, as
   * a node is that was started again.
   */
  setMember(member: LimitsStart['member']): void {
    if (this.#member === null && this.#memory !== null) this.#memory.quiet = true
    this.#member = member
    this.#start()
    if (member === null) this.report(null)
  }

  share(memory: LimitMemory, quiet: boolean): void {
    this.#memory = { memory, quiet }
    const { windows } = memory.shared
    this.#clock = windows === null ? null : new BucketClock(windows)
    this.#start()
  }

  listen(listener: (reason: string | null) => void): void {
    this.#listener = listener
    listener(this.#trouble)
  }

  report(trouble: string | null): void {
    this.#trouble = trouble
    this.#since = trouble === null ? null : (this.#since ?? new Date().toISOString())
    this.#listener(trouble === null ? null : `Valkey cannot be used: ${trouble}`)
  }

  #start(): void {
    const { address, without, send } = this.#options
    if (address === null || this.#memory === null) return
    send({ address, without, member: this.#member, ...this.#memory })
  }
}
