import type { Operation } from '../cli/operation.ts'

/** A noun of the contract and what can be done with it. */
export interface Area {
  /** `providers`, `seal`; `gateway` for operations without a noun. */
  name: string
  operations: readonly Operation[]
  /** What shows all of them, if the noun has that. */
  list: Operation | null
}

const withoutNoun = 'gateway'

/**
 * Every operation is in exactly one area, in the order of the contract; those of a noun within a noun are in the outer one.
 * What only the machine's own command line does is in none.
 */
export function deriveAreas(operations: readonly Operation[]): Area[] {
  const areas = new Map<string, Operation[]>()
  for (const operation of operations.filter(({ meta }) => meta.onMachine !== true)) {
    const name = operation.path.length > 1 ? (operation.path[0] ?? withoutNoun) : withoutNoun
    areas.set(name, [...(areas.get(name) ?? []), operation])
  }
  return [...areas].map(([name, own]) => ({ name, operations: own, list: listOf(own) }))
}

function listOf(operations: readonly Operation[]): Operation | null {
  const tables = operations.filter(({ path, meta }) => path.length === 2 && meta.show.as === 'table')
  return tables.find(({ path }) => path.at(-1) === 'list' && path.length === 2) ?? null
}

const makers = ['add', 'create']

/** Makes a new one of what the list shows. */
export function isMaker(operation: Operation, list: Operation): boolean {
  return makers.includes(verbOf(operation)) && sameNoun(operation, list)
}

/** Whether the operation is about one row of the list: it has one argument more than the list itself has. */
export function isAboutRow(operation: Operation, list: Operation): boolean {
  if (operation === list || isMaker(operation, list)) return false
  const own = operation.meta.positional ?? []
  const given = list.meta.positional ?? []
  // Rows of another table of the noun (its kinds, its sums) are not its things.
  if (verbOf(list) !== 'list' && given.length === 0) return false
  return own.length > given.length && isWithin(operation, list)
}

function isWithin({ path }: Operation, { path: of }: Operation): boolean {
  return of.slice(0, -1).every((word, depth) => path[depth] === word)
}

function sameNoun(one: Operation, other: Operation): boolean {
  return one.path.length === other.path.length && isWithin(one, other)
}

export function verbOf({ path }: Pick<Operation, 'path'>): string {
  return path.at(-1) ?? ''
}

/** As a person would call it: `edit`, `credentials add`, `status`. */
export function wordsOf(operation: Operation): string {
  return (operation.path.length === 1 ? operation.path : operation.path.slice(1)).join(' ')
}

/** `Providers`, `Seal`. */
export function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** What is done to a row by which key, for the keys that every list has. */
export function findVerb(operations: readonly Operation[], list: Operation, key: 'show' | 'edit' | 'remove') {
  const about = operations.filter((operation) => isAboutRow(operation, list) && sameNoun(operation, list))
  const named = about.find((operation) => verbOf(operation) === key)
  if (named !== undefined || key !== 'remove') return named ?? null
  return about.find(({ meta }) => meta.effect === 'danger') ?? null
}

/** What a row of a list is called: in questions, and in what `danger` asks to be typed. */
export function nameOfRow(row: unknown): string {
  for (const field of ['name', 'model', 'last_four', 'number', 'id']) {
    const value = fieldOf(row, field)
    if ((typeof value === 'string' && value !== '') || typeof value === 'number') return String(value)
  }
  return ''
}

/**
 * The input that names a row. A field that accepts ids gets the id, which means the same in every scope; any other gets
 * the row's own value of that name, or else its name.
 */
export function inputForRow(operation: Operation, list: Operation, row: unknown, given: object): object {
  const name = operation.meta.positional?.[list.meta.positional?.length ?? 0]
  const field = operation.fields.find((known) => known.name === name)
  const about = aboutList(list, given)
  if (field === undefined) return about
  const id = fieldOf(row, 'id')
  const own = fieldOf(row, field.name) ?? (field.shape === 'number' ? fieldOf(row, 'number') : nameOfRow(row))
  const value = field.acceptsId === true && typeof id === 'string' ? id : own
  return { ...about, [field.name]: value, ...scopeOfRow(operation, row) }
}

/** What a list within a thing is about: the thing. The rest of its question was a choice, and is one again. */
export function aboutList({ meta }: Operation, given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([name]) => meta.positional?.includes(name)))
}

/** A row that stands in a project or environment is meant there. */
function scopeOfRow(operation: Operation, row: unknown): object {
  const scope: Record<string, unknown> = {}
  for (const name of ['project', 'environment']) {
    const value = fieldOf(row, name)
    if (
      typeof value === 'string' &&
      operation.fields.some((field) => isScopeField(field.name, field) && field.name === name)
    )
      scope[name] = value
  }
  return scope
}

/** A project or environment that is one, with a default: not a filter, not a list. */
export function isScopeField(name: string, field: Operation['fields'][number]): boolean {
  return (name === 'project' || name === 'environment') && field.shape === 'text' && typeof field.fallback === 'string'
}

function fieldOf(row: unknown, name: string): unknown {
  return typeof row === 'object' && row !== null ? Reflect.get(row, name) : undefined
}
