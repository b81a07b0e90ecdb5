import { type DegradedPart, type PartName, partNames } from '../../core/degraded.ts'
import type { Log } from '../log.ts'

interface Degradation {
  since: number
  /** By who reported it: each thread has a journal of its own. */
  reasons: Map<string, string>
}

/** Which parts are degraded now, for every surface. Entering and leaving are logged, the tries in between are not. */
export class DegradedParts {
  readonly #log: Log
  readonly #onChange: (parts: DegradedPart[]) => void
  readonly #degraded = new Map<PartName, Degradation>()
  readonly #entered = new Map<PartName, number>(partNames.map((part) => [part, 0]))

  constructor(log: Log, onChange: (parts: DegradedPart[]) => void) {
    this.#log = log
    this.#onChange = onChange
  }

  /** `reason` null: what `source` reported of the part is over. */
  report(part: PartName, source: string, reason: string | null): void {
    const known = this.#degraded.get(part)?.reasons.get(source) ?? null
    if (known === reason) return
    if (reason === null) this.#recover(part, source)
    else this.#sicken(part, source, reason, known)
    this.#onChange(this.list())
  }

  list(): DegradedPart[] {
    return partNames.flatMap((part) => {
      const degradation = this.#degraded.get(part)
      if (degradation === undefined) return []
      const reason = [...new Set(degradation.reasons.values())].join('; ')
      return [{ part, reason, since: new Date(degradation.since).toISOString() }]
    })
  }

  /** How often each part has become degraded since the start: one that was so between two looks shows here. */
  entered(): ReadonlyMap<PartName, number> {
    return this.#entered
  }

  #sicken(part: PartName, source: string, reason: string, known: string | null): void {
    const degradation = this.#degraded.get(part)
    if (degradation === undefined) {
      this.#degraded.set(part, { since: Date.now(), reasons: new Map([[source, reason]]) })
      this.#entered.set(part, (this.#entered.get(part) ?? 0) + 1)
      return this.#log.warn('degraded', { part, reason })
    }
    const said = [...degradation.reasons.values()].some((other) => alike(other, reason))
    degradation.reasons.set(source, reason)
    if (!said && (known === null || !alike(known, reason))) this.#log.warn('degraded', { part, reason })
  }

  #recover(part: PartName, source: string): void {
    const degradation = this.#degraded.get(part)
    if (degradation === undefined || !degradation.reasons.delete(source) || degradation.reasons.size > 0) return
    this.#degraded.delete(part)
    // The clock may have been set back meanwhile.
    const seconds = Math.max(0, Math.round((Date.now() - degradation.since) / 1000))
    this.#log.info('no longer degraded', { part, seconds })
  }
}

/** A count within a reason grows with every try; that is no news for the log. */
function alike(one: string, other: string): boolean {
  return one.replace(/\d+/g, '') === other.replace(/\d+/g, '')
}
