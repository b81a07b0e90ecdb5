import type { SharedServer } from '../admin/handlers/context.ts'
import type { LimitsStart, ValkeyAddress } from '../cluster/protocol.ts'
import type { LimitMemory } from '../policy/limits/limit-memory.ts'

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
  #listener: (reason: string | null) => void = () => {}

  constructor(options: SharedLimitsOptions) {
    this.#options = options
  }

  /** null: each node counts for itself. */
  find(): SharedServer | null {
    const { address, without } = this.#options
    if (address === null) return null
    const server = address.host.startsWith('/') ? address.host : `${address.host}:${address.port}`
    return { server, trouble: this.#trouble, since: this.#since, meanwhile: without }
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
