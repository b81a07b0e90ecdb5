/** How many names a record lists: more than any real request loses. */
const mostNames = 1000
const longestName = 200
/** How many names the header `x-sp-lossy` lists before a count. */
const headerNames = 20

/** The names of what a translation loses. Names contain member names that a client chose. */
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

/** Headers are ASCII, and this one separates names with commas. */
function plain(name: string): string {
  return name.replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, '?')
}
