/**
 * A name as those parsers compare it that take one in other letters for the same: Go's does, and with it many servers. Beyond ASCII Unicode folds
 * two characters to its letters, ſ and the sign of Kelvin; where the bytes of UTF-8 were read as characters, they are two and three.
 */
export function foldName(name: string): string {
  for (let index = 0; index < name.length; index++)
    if (name.charCodeAt(index) > 0x7f) return name.replaceAll(longS, 's').replaceAll(kelvin, 'k').toLowerCase()
  return name.toLowerCase()
}

const longS = /\u017f|\u00c5\u00bf/g
const kelvin = /\u212a|\u00e2\u0084\u00aa/g

/** Whether a character that folds to a letter of ASCII begins at this byte of UTF-8. */
function foldsToAscii(bytes: Buffer, at: number): boolean {
  const first = bytes[at]
  if (first === 0xc5) return bytes[at + 1] === 0xbf
  return first === 0xe2 && bytes[at + 1] === 0x84 && bytes[at + 2] === 0xaa
}

const backslash = 0x5c

/** A key that holds an escape, or a character that folds to a letter of ASCII. */
export function mayHideName(bytes: Buffer, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const byte = bytes[index] ?? 0
    if (byte === backslash || (byte > 0x7f && foldsToAscii(bytes, index))) return true
  }
  return false
}

/** Names to look out for at every depth, in any letters. ASCII; at least one. */
export class WatchedNames {
  /** Folded. */
  readonly all: readonly string[]
  readonly byLength: readonly (readonly string[] | undefined)[]
  /**
   * A key of fewer bytes hides none of them: an escape makes five bytes more of a character, and one that folds to `k` or `s` at least one.
   */
  readonly shortestHidden: number

  static readonly #made: WatchedNames[] = []
  static #union: WatchedNames | null = null

  /** The names of all sets that there are. */
  static union(): WatchedNames {
    if (WatchedNames.#union === null) {
      const sets = [...WatchedNames.#made]
      WatchedNames.#union = new WatchedNames([...new Set(sets.flatMap(({ all }) => all))])
    }
    return WatchedNames.#union
  }

  constructor(names: readonly string[]) {
    WatchedNames.#made.push(this)
    WatchedNames.#union = null
    this.all = names.map(foldName)
    const longest = Math.max(...names.map(({ length }) => length))
    this.byLength = Array.from({ length: longest + 1 }, (_, length) => {
      const same = this.all.filter((name) => name.length === length)
      return same.length === 0 ? undefined : same
    })
    this.shortestHidden = Math.min(...this.all.map((name) => name.length + (/[ks]/.test(name) ? 1 : 5)))
  }
}

/** For one scan. `seen`: a member of one of the names stands somewhere, or one whose name holds an escape and might be. */
export interface NameWatch {
  readonly names: WatchedNames
  seen: boolean
}
