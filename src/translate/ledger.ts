import { type Fault, fault } from '../core/errors.ts'
import type { FormatName } from '../core/format.ts'
import { ownValue } from '../core/own-value.ts'
import type { SeenField } from './conversation.ts'
import { mostValues } from './json-survey.ts'
import { fateOf } from './losses.ts'

/** The losses of one request at one target. */
export class Ledger {
  readonly from: FormatName
  readonly to: FormatName
  /** The route refuses to lose anything. */
  readonly strict: boolean
  readonly #namesWritten: Readonly<Record<string, string>>
  readonly #losses = new Set<string>()
  /** Losses that a strict route accepts. */
  readonly #accepted = new Set<string>()
  #stripped = false
  #refused: Fault | null = null
  #values = 0

  constructor(from: FormatName, to: FormatName, strict: boolean, namesWritten: Readonly<Record<string, string>> = {}) {
    this.from = from
    this.to = to
    this.strict = strict
    this.#namesWritten = namesWritten
  }

  /** Handles members without a counterpart: they are lost or refused, as the table says. */
  settle(seen: readonly SeenField[]): void {
    for (const { field, path } of seen) {
      const { fate, why } = fateOf(this.from, field, this.to)
      if (fate === 'refused') this.refuse(path, why ?? `a request to this provider has no place for ${path}`)
      else if (fate === 'dropped' || fate === 'approximated') this.lose(path)
    }
  }

  /** Something that the client wrote does not reach the provider, or not unchanged. */
  lose(path: string): void {
    const written = ownValue(this.#namesWritten, path) ?? path
    this.#losses.add(written)
    if (this.strict && !this.#accepted.has(path))
      this.refuse(path, `${written} would be lost, and this route is strict`)
  }

  /** Even a strict route accepts this loss. */
  accept(path: string): void {
    this.#accepted.add(path)
  }

  /** Signed reasoning is left out, since the provider would reject it in this request: even a strict route accepts that. */
  strip(path: string): void {
    this.#stripped = true
    this.accept(path)
    this.lose(path)
  }

  get stripped(): boolean {
    return this.#stripped
  }

  /** Losing it would change the meaning of the answer. The first refusal counts. */
  refuse(path: string, why: string): void {
    if (this.#refused !== null) return
    const param = ownValue(this.#namesWritten, path) ?? path
    // Not all formats have a place for `param` in their errors.
    const isNamed = param === '' || why.split(/[\s,;:]+/).includes(param)
    const text = `This request cannot be translated for the provider${isNamed ? '' : `, because of ${param}`}: ${why}.`
    this.#refused = fault('not_translatable', text, { param })
  }

  /** Of JSON that stands in texts of the request. False: together it has more than is read of a request. */
  takeValues(count: number): boolean {
    this.#values += count
    return this.#values <= mostValues
  }

  get refused(): Fault | null {
    return this.#refused
  }

  /** Paths in the client's body, in the order in which they were found. */
  get losses(): readonly string[] {
    return [...this.#losses]
  }
}
