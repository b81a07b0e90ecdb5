import type { RowChange, SharedRow } from '../store/replica/replica-types.ts'
import { sharedTables } from '../store/replica/shared-tables.ts'

export type SeenMark = [sequence: number, mark: string]

/** How many are remembered: a standby that takes over has lost at most a few seconds. */
const mostMarks = 1000

/** The marks of changes that this run has made or received. If PostgreSQL is at one of them, it has lost those that followed. */
export class SeenMarks {
  readonly #marks = new Map<number, string>()

  note(marks: readonly SeenMark[]): void {
    for (const [sequence, mark] of marks) {
      // Inserted again, so that the newest is last.
      this.#marks.delete(sequence)
      this.#marks.set(sequence, mark)
    }
    for (const sequence of this.#marks.keys()) {
      if (this.#marks.size <= mostMarks) return
      this.#marks.delete(sequence)
    }
  }

  has(sequence: number, mark: string | null): boolean {
    return mark !== null && this.#marks.get(sequence) === mark
  }

  /** The marks after the first number, up to the second, in order. */
  between(after: number, last: number): SeenMark[] {
    return [...this.#marks].filter(([number]) => number > after && number <= last).sort(([one], [other]) => one - other)
  }
}

/**
 * What turns PostgreSQL's rows into those of this node. Tables and columns that only a newer version knows stay, as does what each node
 * determines for itself. The audit trail only grows.
 */
export function findLost(own: readonly SharedRow[], there: readonly SharedRow[]): RowChange[] {
  const known = new Map(there.map((row) => [idOf(row), row]))
  const changes: RowChange[] = []
  for (const shared of own) {
    const found = known.get(idOf(shared))
    known.delete(idOf(shared))
    const row = parse(shared.row)
    const before = parse(found?.row ?? null)
    const { name, key } = shared
    if (before === null) changes.push({ name, key, op: 'put', patch: row })
    else if (differs(name, row ?? {}, before))
      changes.push({ name, key, op: 'set', patch: withoutOwn(name, row ?? {}) })
  }
  for (const { name, key, row } of known.values())
    if (row !== null && name !== 'audit' && sharedTables.some((table) => table.name === name))
      changes.push({ name, key, op: 'drop', patch: null })
  return changes
}

type Columns = Record<string, unknown>

function differs(name: string, row: Columns, before: Columns): boolean {
  return Object.entries(withoutOwn(name, row)).some(
    ([column, value]) => JSON.stringify(value) !== JSON.stringify(before[column]),
  )
}

function withoutOwn(name: string, row: Columns): Columns {
  const own = sharedTables.find((table) => table.name === name)?.own ?? []
  return Object.fromEntries(Object.entries(row).filter(([column]) => !own.includes(column)))
}

function idOf({ name, key }: SharedRow): string {
  return `${name} ${key}`
}

function parse(text: string | null): Columns | null {
  return text === null ? null : (JSON.parse(text) as Columns)
}
