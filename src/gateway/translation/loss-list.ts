/** On a record: more than any real request loses. */
const mostNames = 1000
const longestName = 200
/** In the header `x-sp-lossy`, before a count stands for the rest. */
const headerNames = 20

/** What a translation loses, by name. Names hold member names that a client chose. */
export class LossList {
  readonly #names: string[] = []
  readonly #known = new Set<string>()
  #left = 0

  constructor(names: readonly string[]) {
    for (const name of names) this.add(name)
  }

  get names(): readonly string[] {
    return this.#left === 0 ? this.#names : [...this.#names, `… and ${this.#left} more`]
  }

  add(name: string): void {
    const short = name.length > longestName ? `${name.slice(0, longestName)}…` : name
    if (this.#known.has(short)) return
    if (this.#names.length >= mostNames) {
      this.#left++
      return
    }
    this.#known.add(short)
    this.#names.push(short)
  }

  /** `seed, logit_bias, +3`; null: nothing is lost. */
  header(): string | null {
    const count = this.#names.length + this.#left
    if (count === 0) return null
    const shown = this.#names.slice(0, headerNames).map(plain)
    return [...shown, ...(count > headerNames ? [`+${count - headerNames}`] : [])].join(', ')
  }
}

/** A header holds ASCII, and its list has commas. */
function plain(name: string): string {
  return name.replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, '?')
}
