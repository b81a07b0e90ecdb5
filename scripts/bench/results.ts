import { median } from './statistics.ts'
import type { Figures, TargetName } from './target.ts'

export interface Trouble {
  target: TargetName
  part: string
  reason: string
}

/** Every figure of every round, by target. */
export class Results {
  readonly #values = new Map<TargetName, Map<string, number[]>>()
  readonly troubles: Trouble[] = []

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

  toJSON(): object {
    const figures = Object.fromEntries([...this.#values].map(([target, own]) => [target, Object.fromEntries(own)]))
    return { figures, troubles: this.troubles }
  }
}
