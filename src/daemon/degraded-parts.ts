import { type DegradedPart, type PartName, partNames } from '../core/degraded.ts'
import type { Log } from './log.ts'

interface Sickness {
  since: number
  /** By who reported it: each thread has a journal of its own. */
  reasons: Map<string, string>
}

/** Which parts are degraded now, for every surface. Entering and leaving are logged, the tries in between are not. */
export class DegradedParts {
  readonly #log: Log
  readonly #onChange: (parts: DegradedPart[]) => void
  readonly #sick = new Map<PartName, Sickness>()
  readonly #entered = new Map<PartName, number>(partNames.map((part) => [part, 0]))

  constructor(log: Log, onChange: (parts: DegradedPart[]) => void) {
    this.#log = log
    this.#onChange = onChange
  }

  /** `reason` null: what `source` reported of the part is over. */
  report(part: PartName, source: string, reason: string | null): void {
    const known = this.#sick.get(part)?.reasons.get(source) ?? null
    if (known === reason) return
    if (reason === null) this.#recover(part, source)
    else this.#sicken(part, source, reason, known)
    this.#onChange(this.list())
  }

  list(): DegradedPart[] {
    return partNames.flatMap((part) => {
      const sickness = this.#sick.get(part)
      if (sickness === undefined) return []
      const reason = [...new Set(sickness.reasons.values())].join('; ')
      return [{ part, reason, since: new Date(sickness.since).toISOString() }]
    })
  }

  /** How often each part has become degraded since the start: one that was so between two looks shows here. */
  entered(): ReadonlyMap<PartName, number> {
    return this.#entered
  }

  #sicken(part: PartName, source: string, reason: string, known: string | null): void {
    const sickness = this.#sick.get(part)
    if (sickness === undefined) {
      this.#sick.set(part, { since: Date.now(), reasons: new Map([[source, reason]]) })
      this.#entered.set(part, (this.#entered.get(part) ?? 0) + 1)
      return this.#log.warn('degraded', { part, reason })
    }
    const said = [...sickness.reasons.values()].some((other) => alike(other, reason))
    sickness.reasons.set(source, reason)
    if (!said && (known === null || !alike(known, reason))) this.#log.warn('degraded', { part, reason })
  }

  #recover(part: PartName, source: string): void {
    const sickness = this.#sick.get(part)
    if (sickness === undefined || !sickness.reasons.delete(source) || sickness.reasons.size > 0) return
    this.#sick.delete(part)
    this.#log.info('no longer degraded', { part, seconds: Math.round((Date.now() - sickness.since) / 1000) })
  }
}

/** A count within a reason grows with every try; that is no news for the log. */
function alike(one: string, other: string): boolean {
  return one.replace(/\d+/g, '') === other.replace(/\d+/g, '')
}
