import { median } from './statistics.ts'
import type { Figures, TargetName } from './target.ts'

export interface Trouble {
  target: TargetName
  part: string
  reason: string
}

/** What a figure depends on beside the code of the bench. Figures of different ones are never put together. */
export interface Circumstances {
  machine: string
  node: string
  peerNode: string
  /** SHA-256 of the executable. */
  executable: string
}

export interface StoredResults {
  circumstances: Circumstances
  turns: number
  figures: Partial<Record<TargetName, Record<string, number[]>>>
  troubles: Trouble[]
}

/** Every figure of every round, by target. */
export class Results {
  readonly #values = new Map<TargetName, Map<string, number[]>>()
  readonly troubles: Trouble[]
  /** Rounds that were played, of whatever parts: the order of the targets turns with it. */
  turns: number

  constructor(stored?: StoredResults) {
    this.troubles = [...(stored?.troubles ?? [])]
    this.turns = stored?.turns ?? 0
    for (const [target, own] of Object.entries(stored?.figures ?? {}))
      this.#values.set(target as TargetName, new Map(Object.entries(own)))
  }

  add(target: TargetName, figures: Figures): void {
    const own = this.#values.get(target) ?? new Map<string, number[]>()
    this.#values.set(target, own)
    for (const [name, value] of Object.entries(figures)) own.set(name, [...(own.get(name) ?? []), value])
  }

  /** NaN of what was not measured. */
  median(target: TargetName, figure: string): number {
    return median(this.#values.get(target)?.get(figure) ?? [])
  }

  get targets(): TargetName[] {
    return [...this.#values.keys()]
  }

  /** The fewest and the most rounds of which a figure is the median. */
  get rounds(): [fewest: number, most: number] {
    const counts = [...this.#values.values()].flatMap((own) => [...own.values()].map(({ length }) => length))
    return [Math.min(...counts), Math.max(...counts)]
  }

  store(circumstances: Circumstances): StoredResults {
    const figures = Object.fromEntries([...this.#values].map(([target, own]) => [target, Object.fromEntries(own)]))
    return { circumstances, turns: this.turns, figures, troubles: this.troubles }
  }
}
