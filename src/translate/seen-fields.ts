import { asObject, type JsonObject } from '../core/json-value.ts'
import type { SeenField } from './conversation.ts'
import type { FieldTable } from './field-table.ts'

/** What is worked out once for each table. */
interface TableIndex {
  /** Rows that have rows below them: `tools.function`. What is inside other members is data, or shares their fate. */
  parents: ReadonlySet<string>
  /** Rows that some target loses or refuses. */
  lossy: ReadonlySet<string>
  /** By row: its harmless values as JSON. */
  harmless: ReadonlyMap<string, ReadonlySet<string>>
}

const indexes = new WeakMap<FieldTable, TableIndex>()

/**
 * Finds the members of a request that some target loses, and those that no row names. `skips` leaves out an object (a block of a hosted
 * tool) whose reader reports it as a whole.
 */
export function findSeen(body: JsonObject, table: FieldTable, skips?: (object: JsonObject) => boolean): SeenField[] {
  const seen: SeenField[] = []
  const { parents, lossy, harmless } = indexOf(table)
  const walk = (object: JsonObject, fields: string, paths: string): void => {
    if (skips?.(object)) return
    for (const [name, value] of Object.entries(object)) {
      if (value === null || value === undefined) continue
      const [field, path] = [`${fields}${name}`, `${paths}${name}`]
      if (!Object.hasOwn(table, field)) {
        seen.push({ field: 'unknown', path })
        continue
      }
      if (lossy.has(field) && !harmless.get(field)?.has(JSON.stringify(value))) seen.push({ field, path })
      if (parents.has(field)) enter(value, field, path)
    }
  }
  const enter = (value: unknown, field: string, path: string): void => {
    if (Array.isArray(value)) {
      for (const [index, element] of value.entries()) enter(element, field, `${path}[${index}]`)
      return
    }
    const object = asObject(value)
    if (object !== null) walk(object, `${field}.`, `${path}.`)
  }
  walk(body, '', '')
  return seen
}

function indexOf(table: FieldTable): TableIndex {
  const known = indexes.get(table)
  if (known !== undefined) return known
  const index = buildIndex(table)
  indexes.set(table, index)
  return index
}

function buildIndex(table: FieldTable): TableIndex {
  const parents = new Set<string>()
  const lossy = new Set<string>()
  const harmless = new Map<string, ReadonlySet<string>>()
  for (const [field, row] of Object.entries(table)) {
    const end = field.lastIndexOf('.')
    if (end > 0) parents.add(field.slice(0, end))
    const fates = [row.otherwise, ...Object.values(row.to ?? {})]
    if (fates.some((fate) => fate === 'dropped' || fate === 'approximated' || fate === 'refused')) lossy.add(field)
    if (row.harmless) harmless.set(field, new Set(row.harmless.map((value) => JSON.stringify(value))))
  }
  return { parents, lossy, harmless }
}
