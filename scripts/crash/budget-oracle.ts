import type { RequestRecord, Signal } from '../../src/core/record.ts'

/** What one request was to the limits, by its record alone. Milliseconds. */
interface Use {
  id: string
  begin: number
  /** When it was admitted; null: it never was. */
  admitted: number | null
  /** By its record, which is written after that; null: nobody knows. */
  end: number | null
  /** How much later its client had the last byte: what it holds is let go between the two. 0: nobody knows. */
  lag: number
  tokens: number
  /** What it may have held at most. */
  held: number
  /** USD. */
  spent: number
  heldUsd: number
}

/** By so much a moment on a record may lie beside the one at which another thread saw its effect. */
const slackMs = 400
/** A record's time is read from one clock and its moments from another, and a busy machine may stop a thread between the two. */
const clocksMs = 50
const minuteMs = 58_000
const bytesPerToken = 4

export interface OracleBounds {
  /** Output tokens that a request without a limit may have held. */
  longest: number
  /** USD a token of output, by model. */
  usdPerToken: Readonly<Record<string, number>>
}

/** Milliseconds. */
interface Span {
  from: number
  until: number
}

/** Of one key. */
interface MinuteLimits {
  name: string
  tpm: number
  concurrency: number
}

/** Looks at what a sequential counter would have said of each refusal, and of each request that passed. */
export class LimitOracle {
  readonly #bounds: OracleBounds
  readonly #limited: MinuteLimits
  /**
   * When clients had the last bytes of their answers, by the id of the request; or lost their connections, to a gateway or a thread that
   * had written the end of a request and died before it let go of what that held.
   */
  readonly #lastBytes: ReadonlyMap<string, number>
  readonly #lost: readonly Span[]
  readonly #problems: string[] = []

  /** `lost`: calls that a gateway had taken and not written of when it was killed. What they held nobody knows. */
  constructor(
    bounds: OracleBounds,
    limited: MinuteLimits,
    lastBytes: ReadonlyMap<string, number>,
    lost: readonly Span[] = [],
  ) {
    this.#lost = lost
    this.#bounds = bounds
    this.#limited = limited
    this.#lastBytes = lastBytes
  }

  /** Of one life of a gateway. `before`: USD spent until then. Returns what was wrong. */
  check(records: readonly RequestRecord[], before: number): string[] {
    const all = records.map((record) => this.#useOf(record))
    const own = all.filter((_use, index) => records[index]?.key?.name === this.#limited.name)
    for (const record of records)
      for (const denied of record.policy_signals.filter(({ verdict }) => verdict === 'deny')) {
        if (denied.rule === 'budget') this.#checkBudget(record, denied, all, before)
        else if (denied.rule === 'limits') this.#checkLimit(record, denied, own)
      }
    this.#checkTokens(own)
    this.#checkAtOnce(own)
    return this.#problems
  }

  /** Its own figures must leave no room, and the records must account for them. */
  #checkBudget(record: RequestRecord, { data = {} }: Signal, uses: readonly Use[], before: number): void {
    const { id } = record
    const { from, until } = momentOf(record)
    const [limit, used, held, asked] = ['limit', 'used', 'held', 'asked'].map((name) => Number(data[name])) as [
      number,
      number,
      number,
      number,
    ]
    if (used + held + asked <= limit + 1e-12)
      this.#problems.push(`${id} was refused ${asked} USD with ${used} used and ${held} held of ${limit}`)
    const accounted = uses.reduce((sum, use) => {
      if (use.id === id || use.begin > until + slackMs) return sum
      const over = use.end !== null && use.end < from - slackMs
      return sum + (over ? use.spent : Math.max(use.spent, use.heldUsd))
    }, before)
    if (accounted + asked <= limit && !this.#hasLost({ from, until }))
      this.#problems.push(`${id} was refused ${asked} USD of ${limit}, and all others come to ${accounted}`)
  }

  #checkLimit(record: RequestRecord, { data = {} }: Signal, uses: readonly Use[]): void {
    const { id } = record
    const { from, until } = momentOf(record)
    const [limit, used, asked] = ['limit', 'used', 'asked'].map((name) => Number(data[name])) as [
      number,
      number,
      number,
    ]
    if (used + asked <= limit) this.#problems.push(`${id} was refused ${asked} with ${used} used of ${limit}`)
    const near = uses.filter((use) => use.id !== id && use.begin <= until + slackMs)
    const accounted =
      data.kind === 'tokens'
        ? near.reduce((sum, use) => sum + Math.max(use.tokens, use.held), 0)
        : near.filter((use) => use.end === null || use.end + lagNear(use.end, uses) >= from - slackMs).length
    if (accounted + asked <= limit && !this.#hasLost({ from, until }))
      this.#problems.push(`${id} was refused ${asked} ${data.kind} of ${limit}, and all others come to ${accounted}`)
  }

  #hasLost({ from, until }: Span): boolean {
    return this.#lost.some((call) => call.from <= until + slackMs && call.until >= from - slackMs)
  }

  /** What had settled before a request was admitted, and was admitted within a minute, kept to the limit. */
  #checkTokens(uses: readonly Use[]): void {
    for (const { id, admitted, begin } of uses) {
      if (admitted === null) continue
      const booked = uses
        .filter((use) => use.end !== null && use.end < begin - slackMs && use.begin > begin - minuteMs)
        .reduce((sum, { tokens }) => sum + tokens, 0)
      if (booked > this.#limited.tpm)
        return void this.#problems.push(`${id} was admitted with ${booked} tokens of ${this.#limited.tpm} booked`)
    }
  }

  #checkAtOnce(uses: readonly Use[]): void {
    const steps = uses.flatMap(({ admitted, end }) => {
      if (admitted === null || end === null || admitted + clocksMs >= end) return []
      return [
        { at: admitted + clocksMs, step: 1 },
        { at: end, step: -1 },
      ]
    })
    let open = 0
    for (const { step } of steps.sort((one, other) => one.at - other.at || one.step - other.step)) {
      open += step
      if (open > this.#limited.concurrency)
        return void this.#problems.push(`${open} ran at once, and ${this.#limited.concurrency} may`)
    }
  }

  #useOf({ id, time, timeline, tokens, cost, request_bytes, state, model }: RequestRecord): Use {
    const begin = Date.parse(time)
    const at = (wanted: string) => timeline.find(({ event }) => event === wanted)?.at_ms ?? null
    const [admitted, done] = [at('admitted'), at('done')]
    const held = Math.ceil(request_bytes / bytesPerToken) + this.#bounds.longest
    const end = state === 'settled' && done !== null ? begin + done : null
    return {
      ...{ id, begin, held, tokens: tokens === null ? 0 : tokens.input + tokens.output },
      admitted: admitted === null ? null : begin + admitted,
      end,
      lag: end === null ? 0 : Math.max(0, (this.#lastBytes.get(id) ?? end) - end),
      ...{ spent: cost?.usd ?? 0, heldUsd: held * (this.#bounds.usdPerToken[model ?? ''] ?? 0) },
    }
  }
}

/** Between which moments a refusal was decided: a body may take long to be read where there is much to do. */
function momentOf({ time, duration_ms }: RequestRecord): { from: number; until: number } {
  const from = Date.parse(time)
  return { from, until: from + (duration_ms ?? 0) }
}

/**
 * An end is written before what it held is let go, and a busy disk makes all wait that write then: as long as the client that waited
 * longest of those whose requests ended within a second of this one.
 */
function lagNear(end: number, uses: readonly Use[]): number {
  return uses.reduce((most, use) => {
    return use.end !== null && Math.abs(use.end - end) < 1000 ? Math.max(most, use.lag) : most
  }, 0)
}
