import type { Keyring } from '../sealing/keyring.ts'
import { SealBroken } from '../sealing/seal-error.ts'
import type { StoreClient } from '../store/api.ts'
import type { TakenAway } from '../store/replica/replica-types.ts'

/** Of so many it is remembered which nodes have them. */
const rememberedMost = 1000

export interface RevocationParts {
  store: Pick<StoreClient, 'replica'>
  keyring: Pick<Keyring, 'seal' | 'open'>
  /** This node's cluster and member id; null: it is alone. */
  self(): { cluster: string; member: string } | null
  /** Makes it also where the disk is full, from the room that is kept for taking access away. */
  withReserve<Output>(change: () => Promise<Output>): Promise<Output>
  /** Every thread of this node knows when it resolves. */
  publish(): Promise<void>
  /** To all nodes, over Valkey. Lost if Valkey is away. */
  notify(text: string, keeps: boolean): void
  /** Something arrived that PostgreSQL may not have yet. */
  onNews(): void
  log: { warn(message: string, fields: Record<string, string>): void }
}

interface Announced {
  token: string
  /** By `performance.now()`. */
  since: number
  /** Ids of the members that have it. */
  has: Set<string>
  /** Its number in PostgreSQL; null: it may not be there yet. */
  sequence: number | null
}

type RevocationNotice = { kind: 'taken'; by: string; taken: TakenAway } | { kind: 'has'; by: string; tokens: string[] }

/**
 * Revoked keys, tokens and sessions, as nodes announce them to each other without PostgreSQL. The messages are sealed under the cluster's
 * key: write access to Valkey allows neither reading nor forging them. A revocation never conflicts with other changes, so messages may
 * arrive in any order, and more than once.
 */
export class Revocations {
  readonly #parts: RevocationParts
  /** By what was revoked. */
  readonly #announced = new Map<string, Announced>()
  #hearing: Promise<void> = Promise.resolve()

  constructor(parts: RevocationParts) {
    this.#parts = parts
  }

  announce(subject: string, taken: TakenAway): void {
    // Inserted again, so that the newest is last.
    this.#announced.delete(subject)
    const [eldest] = this.#announced.keys()
    if (this.#announced.size >= rememberedMost && eldest !== undefined) this.#announced.delete(eldest)
    const { token } = taken
    this.#announced.set(subject, { token, since: performance.now(), has: new Set(), sequence: null })
    this.#notify({ kind: 'taken', by: this.#member, taken })
  }

  find(subject: string): Announced | null {
    return this.#announced.get(subject) ?? null
  }

  noteAppended(token: string, sequence: number): void {
    for (const announced of this.#announced.values()) if (announced.token === token) announced.sequence = sequence
  }

  /** Announces again what PostgreSQL does not have yet, since Valkey may have been away. */
  async repeat(): Promise<void> {
    if (this.#parts.self() === null) return
    for (const taken of await this.#parts.store.replica({ act: 'waiting' }))
      if (taken.changes.length > 0) this.#notify({ kind: 'taken', by: this.#member, taken })
  }

  /** One after the other. */
  hear(texts: readonly string[]): void {
    this.#hearing = this.#hearing
      .then(() => this.#hear(texts))
      .catch((error: unknown) =>
        this.#parts.log.warn('a revocation of another node could not be applied here', { reason: String(error) }),
      )
  }

  async #hear(texts: readonly string[]): Promise<void> {
    const { store, withReserve, publish, onNews } = this.#parts
    const notices = texts.flatMap((text) => this.#open(text) ?? []).filter(({ by }) => by !== this.#member)
    const taken = notices.flatMap((each) => (each.kind === 'taken' ? [each.taken] : []))
    for (const each of notices) if (each.kind === 'has') this.#note(each)
    if (taken.length === 0) return
    if (await withReserve(() => store.replica({ act: 'hear', taken }))) {
      await publish()
      onNews()
    }
    this.#notify({ kind: 'has', by: this.#member, tokens: taken.map(({ token }) => token) })
  }

  #note({ by, tokens }: Extract<RevocationNotice, { kind: 'has' }>): void {
    for (const announced of this.#announced.values()) if (tokens.includes(announced.token)) announced.has.add(by)
  }

  get #member(): string {
    return this.#parts.self()?.member ?? ''
  }

  get #identity(): string {
    return `revocations ${this.#parts.self()?.cluster}`
  }

  #notify(notice: RevocationNotice): void {
    const { keyring, notify } = this.#parts
    notify(keyring.seal(JSON.stringify(notice), this.#identity), notice.kind === 'taken')
  }

  #open(text: string): RevocationNotice | null {
    if (this.#parts.self() === null) return null
    try {
      return JSON.parse(this.#parts.keyring.open(text, this.#identity).reveal())
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error
      this.#parts.log.warn('a message over Valkey is not of this cluster', { reason: error.message })
      return null
    }
  }
}
