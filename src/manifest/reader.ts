import type { SettingsFile } from '../config/settings-file.ts'
import { closestName } from '../core/closest-names.ts'
import { type Entry, keyOf, type Problem } from './resource.ts'

/** A place in a file, for the problems that are found there. */
export interface Place {
  file: SettingsFile
  path: readonly string[]
}

/** Nobody fixes more at once, and finding the place of each costs time: a hostile file kept a thread busy for a minute. */
const maxProblems = 50

/** There are so many problems that the rest of the files was not read. */
export class TooManyProblems extends Error {}

/** Collects what files say, and every problem in them. */
export class Reader {
  readonly variables: Readonly<Record<string, string>>
  readonly problems: Problem[] = []
  readonly #entries = new Map<string, Entry>()

  constructor(variables: Readonly<Record<string, string>>) {
    this.variables = variables
  }

  get entries(): Entry[] {
    return [...this.#entries.values()]
  }

  /** Throws `TooManyProblems` once there are enough. */
  reject({ file, path }: Place, message: string): void {
    if (this.problems.length >= maxProblems) {
      this.problems.push({ place: file.place([]), message: 'there are more problems; fix these first' })
      throw new TooManyProblems()
    }
    this.problems.push({ place: file.place(path), message })
  }

  add(entry: Entry): void {
    const key = keyOf(entry)
    const before = this.#entries.get(key)
    if (before === undefined) this.#entries.set(key, entry)
    else
      this.problems.push({
        place: entry.place,
        message: `${entry.kind} ${entry.name} is already at ${before.place}`,
      })
  }

  /** Reads each member of a list, and rejects what is not a list. */
  eachOf(value: unknown, place: Place, read: (member: unknown, place: Place) => void): void {
    if (value === null || value === undefined) return
    if (!Array.isArray(value))
      return this.reject(place, `${place.path.join('.')}: expected a list, each with a dash before it`)
    for (const [index, member] of value.entries()) read(member, below(place, String(index)))
  }
}

export function below({ file, path }: Place, name: string): Place {
  return { file, path: [...path, name] }
}

export function unknownName(name: string, known: readonly string[]): string {
  const near = closestName(name, known)
  return `unknown name ${name}${near === null ? '' : `; did you mean ${near}?`}`
}
