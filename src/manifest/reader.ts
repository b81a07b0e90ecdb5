import type { SettingsFile } from '../config/settings-file.ts'
import { closestName } from '../core/text/closest-names.ts'
import { groupDigits } from '../core/units.ts'
import { keyOf, type ManifestEntry, type Problem } from './resource.ts'

/** A place in a file, for the problems that are found there. */
export interface SourcePosition {
  file: SettingsFile
  path: readonly string[]
}

/** Nobody fixes more at once, and finding the place of each costs time: a hostile file kept a thread busy for a minute. */
const maxProblems = 50

/** So many resources the files of one call may describe together: each is held, compared and shown. */
const maxEntries = 10_000
/** Of all texts of the files with their variables filled in: `${A}` may stand for much, and may stand often. */
const maxCharacters = 4 * 1024 * 1024

/** The rest of the files was not read: there are too many problems, or too much of anything. */
export class TooManyProblems extends Error {}

/** Collects what files say, and every problem in them. */
export class Reader {
  readonly variables: Readonly<Record<string, string>>
  readonly problems: Problem[] = []
  readonly #entries = new Map<string, ManifestEntry>()
  #characters = 0

  constructor(variables: Readonly<Record<string, string>>) {
    this.variables = variables
  }

  get entries(): ManifestEntry[] {
    return [...this.#entries.values()]
  }

  /** Throws `TooManyProblems` once there are enough. */
  reject({ file, path }: SourcePosition, message: string): void {
    this.#reject(file.place(path), message)
  }

  #reject(place: string, message: string): void {
    if (this.problems.length >= maxProblems) this.#stop(place, 'there are more problems; fix these first')
    this.problems.push({ place, message })
  }

  #stop(place: string, message: string): never {
    this.problems.push({ place, message })
    throw new TooManyProblems()
  }

  add(entry: ManifestEntry): void {
    const key = keyOf(entry)
    const before = this.#entries.get(key)
    if (before !== undefined) this.#reject(entry.place, `${entry.kind} ${entry.name} is already at ${before.place}`)
    else this.#entries.set(key, entry)
    if (this.#entries.size > maxEntries)
      this.#stop(entry.place, `the files describe more than ${groupDigits(maxEntries)} resources; apply them in parts`)
  }

  /** Texts as they are with their variables filled in. */
  countFilled(characters: number, { file, path }: SourcePosition): void {
    this.#characters += characters
    if (this.#characters > maxCharacters)
      this.#stop(
        file.place(path),
        `with their variables filled in, the files have more than ${maxCharacters / 1024} KiB of text`,
      )
  }

  /** Reads each member of a list, and rejects what is not a list. */
  eachOf(value: unknown, place: SourcePosition, read: (member: unknown, place: SourcePosition) => void): void {
    if (value === null || value === undefined) return
    if (!Array.isArray(value))
      return this.reject(place, `${place.path.join('.')}: expected a list, each with a dash before it`)
    for (const [index, member] of value.entries()) read(member, below(place, String(index)))
  }
}

export function below({ file, path }: SourcePosition, name: string): SourcePosition {
  return { file, path: [...path, name] }
}

export function unknownName(name: string, known: readonly string[]): string {
  const near = closestName(name, known)
  return `unknown name ${name}${near === null ? '' : `; did you mean ${near}?`}`
}
