/** A node, as PostgreSQL knows it. */
export interface GatheredNode {
  id: string
  name: string
  /** How long it has not been heard from; null: it has not begun. */
  silentMs: number | null
}

export interface GatheringParts {
  /** Asks every node to ship what it has journaled, and to answer with this word. */
  call(word: string): Promise<void>
  /** All nodes that may have stored something. */
  members(): Promise<readonly GatheredNode[]>
  newWord(): string
}

export interface Gathered {
  /** Not heard from for long, so not waited for. */
  absent: string[]
}

const answerMs = 1000
const absentMs = 8000

interface Round {
  word: string
  waits: Set<string>
  failed: string | null
  done: PromiseWithResolvers<void>
}

/**
 * Resolves when everything that any node had journaled before the question is in PostgreSQL, so that a missing name really is unknown. One
 * round at a time: later callers share the next one, since a round in progress may be too early for them.
 */
export class Gathering {
  readonly #parts: GatheringParts
  #running: Promise<Gathered> | null = null
  #queued: Promise<Gathered> | null = null
  #round: Round | null = null

  constructor(parts: GatheringParts) {
    this.#parts = parts
  }

  async gather(): Promise<Gathered> {
    // Also if the running round has just ended: two rounds at once would each lose answers to the other.
    if (this.#queued !== null) return await this.#queued
    if (this.#running === null) return await this.#begin()
    this.#queued = this.#running.then(
      () => this.#beginQueued(),
      () => this.#beginQueued(),
    )
    return await this.#queued
  }

  /** A node has answered. `failure`: why it could not ship everything; null: it did. */
  hear(word: string, member: string, failure: string | null): void {
    const round = this.#round
    if (round?.word !== word || !round.waits.has(member)) return
    round.waits.delete(member)
    round.failed ??= failure
    if (round.waits.size === 0) round.done.resolve()
  }

  #beginQueued(): Promise<Gathered> {
    this.#queued = null
    return this.#begin()
  }

  #begin(): Promise<Gathered> {
    this.#running = this.#gather().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #gather(): Promise<Gathered> {
    const begun = (await this.#parts.members()).filter(({ silentMs }) => silentMs !== null)
    const [present, absent] = [begun.filter(isPresent), begun.filter((node) => !isPresent(node))]
    const done = Promise.withResolvers<void>()
    const waits = new Set(present.map(({ id }) => id))
    const round: Round = { word: this.#parts.newWord(), waits, failed: null, done }
    this.#round = round
    if (waits.size === 0) done.resolve()
    const timer = setTimeout(done.resolve, answerMs)
    try {
      await this.#parts.call(round.word)
      await done.promise
    } finally {
      clearTimeout(timer)
      this.#round = null
    }
    const silent = present.filter(({ id }) => waits.has(id)).map(({ name }) => name)
    if (silent.length > 0) throw new Error(`${silent.join(', ')} did not say in time what it has made`)
    if (round.failed !== null) throw new Error(round.failed)
    return { absent: absent.map(({ name }) => name) }
  }
}

function isPresent({ silentMs }: GatheredNode): boolean {
  return silentMs !== null && silentMs < absentMs
}
