const engines = ['postgres', 'valkey'] as const
type Engine = (typeof engines)[number]

/** How long a node has reached nothing that it shares with the others: it cannot hear that a key is revoked. */
export class Isolation {
  readonly #limitMs: number | null
  readonly #troubles: Map<Engine, string | null>
  #since: number | null = null

  /** `limitMs`: for so long it is served nevertheless; null: for ever. Whoever has no Valkey hears only by PostgreSQL. */
  constructor(limitMs: number | null, hasValkey: boolean) {
    this.#limitMs = limitMs
    this.#troubles = new Map(
      engines.filter((engine) => engine !== 'valkey' || hasValkey).map((engine) => [engine, null]),
    )
  }

  /** Why it is not reached; null: it is. */
  note(engine: Engine, trouble: string | null, at = performance.now()): void {
    if (!this.#troubles.has(engine)) return
    this.#troubles.set(engine, trouble)
    const isCut = [...this.#troubles.values()].every((each) => each !== null)
    this.#since = isCut ? (this.#since ?? at) : null
  }

  /** Why requests are refused now; null: they are not. */
  find(at = performance.now()): string | null {
    if (this.#limitMs === null || this.#since === null || at - this.#since < this.#limitMs) return null
    const names = [...this.#troubles.keys()].map((engine) => (engine === 'postgres' ? 'PostgreSQL' : 'Valkey'))
    return `requests are refused: ${names.join(' and ')} not reached for longer than cluster.isolation_limit`
  }
}
