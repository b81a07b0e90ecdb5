/** Names to look out for at every depth. ASCII; at least one. */
export class WatchedNames {
  readonly all: readonly string[]
  readonly byLength: readonly (readonly string[] | undefined)[]
  /** A name of fewer bytes hides none of them behind an escape, which makes five bytes more of a character. */
  readonly shortestEscaped: number

  constructor(names: readonly string[]) {
    this.all = names
    const longest = Math.max(...names.map(({ length }) => length))
    this.byLength = Array.from({ length: longest + 1 }, (_, length) => {
      const same = names.filter((name) => name.length === length)
      return same.length === 0 ? undefined : same
    })
    this.shortestEscaped = Math.min(...names.map(({ length }) => length)) + 5
  }
}

/** For one scan. `seen`: a member of one of the names stands somewhere, or one whose name holds an escape and might be. */
export interface NameWatch {
  readonly names: WatchedNames
  seen: boolean
}
