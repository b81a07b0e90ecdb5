import type { SettingsFile } from '../config/settings-file.ts'
import { closestName } from '../core/closest-names.ts'
import { type Entry, keyOf, type Problem } from './resource.ts'

/** Where a reading stands: everything below it is said of this place. */
export interface Place {
  file: SettingsFile
  path: readonly string[]
}

/** Nobody mends more at once, and the place of each is looked for in its file: a hostile one kept a thread for a minute. */
const mostProblems = 50

/** There are so many mistakes that the rest was not looked at. */
export class TooManyProblems extends Error {}

/** Collects what files say, and every mistake in them. */
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
  refuse({ file, path }: Place, message: string): void {
    if (this.problems.length >= mostProblems) {
      this.problems.push({ place: file.place([]), message: 'there is more; mend these first' })
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
        message: `${entry.kind} ${entry.name} stands at ${before.place} already`,
      })
  }

  /** Visits each member of a list; what is no list is refused. */
  eachOf(value: unknown, place: Place, visit: (member: unknown, place: Place) => void): void {
    if (value === null || value === undefined) return
    if (!Array.isArray(value))
      return this.refuse(place, `${place.path.join('.')}: expected a list, each with a dash before it`)
    for (const [index, member] of value.entries()) visit(member, below(place, String(index)))
  }
}

export function below({ file, path }: Place, name: string): Place {
  return { file, path: [...path, name] }
}

export function unknownName(name: string, known: readonly string[]): string {
  const near = closestName(name, known)
  return `unknown name ${name}${near === null ? '' : `; did you mean ${near}?`}`
}
