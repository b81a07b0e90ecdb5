import { asObject, type JsonObject } from '../core/json/json-value.ts'
import type { SeenField } from './conversation.ts'
import type { FieldTable } from './field-table.ts'
import { checkType, typeOfName } from './member-types.ts'

/** A row of a table with the rows below it, compiled once for each table. */
interface FieldNode {
  isRow: boolean
  /** Some target loses or refuses it. */
  isLossy: boolean
  /** Values that are no loss, as JSON. */
  harmless: ReadonlySet<string> | null
  /** '': any type. */
  type: string
  /** For `tools`: `function`. Members without rows below them contain data, or share their fate. */
  below: Map<string, FieldNode> | null
}

const trees = new WeakMap<FieldTable, FieldNode>()

/**
 * Finds the members of a request that some target loses, and those without a row; rejects members of a wrong type. `skips` leaves out an
 * object (a block of a hosted tool) that its reader reports as a whole.
 */
export function findSeen(body: JsonObject, table: FieldTable, skips?: (object: JsonObject) => boolean): SeenField[] {
  const seen: SeenField[] = []
  // Names are only put together for losses, which are rare.
  const fields: string[] = []
  const places: (string | number)[] = []
  const walk = (object: JsonObject, below: Map<string, FieldNode>): void => {
    if (skips?.(object)) return
    // An explicit loop, because a long chat has tens of thousands of members.
    for (const name in object) {
      const value = object[name]
      if (value === null || value === undefined) continue
      const node = below.get(name)
      if (node?.isRow !== true) seen.push({ field: 'unknown', path: pathOf([...places, name]) })
      else {
        if (node.type !== '') checkType(value, node.type, () => pathOf([...places, name]))
        if (node.isLossy && !node.harmless?.has(JSON.stringify(value)))
          seen.push({ field: [...fields, name].join('.'), path: pathOf([...places, name]) })
        if (node.below === null || typeof value !== 'object') continue
        fields.push(name)
        places.push(name)
        enter(value, node.below)
        fields.pop()
        places.pop()
      }
    }
  }
  const enter = (value: unknown, below: Map<string, FieldNode>): void => {
    if (!Array.isArray(value)) {
      const object = asObject(value)
      if (object !== null) walk(object, below)
      return
    }
    for (let index = 0; index < value.length; index++) {
      places.push(index)
      enter(value[index], below)
      places.pop()
    }
  }
  const { below } = treeOf(table)
  if (below !== null) walk(body, below)
  return seen
}

/** `messages[3].content[0]` */
function pathOf(places: readonly (string | number)[]): string {
  return places
    .map((place, index) => (typeof place === 'number' ? `[${place}]` : index === 0 ? place : `.${place}`))
    .join('')
}

function treeOf(table: FieldTable): FieldNode {
  const known = trees.get(table)
  if (known !== undefined) return known
  const tree = newNode()
  for (const [field, row] of Object.entries(table)) {
    let node = tree
    for (const name of field.split('.')) {
      node.below ??= new Map()
      const next = node.below.get(name) ?? newNode()
      node.below.set(name, next)
      node = next
    }
    const fates = [row.otherwise, ...Object.values(row.to ?? {})]
    node.isRow = true
    // A member that is never read may have any type.
    const isRead = fates.some((fate) => fate !== 'ignored')
    node.type = row.type ?? (isRead ? typeOfName(field.slice(field.lastIndexOf('.') + 1)) : '')
    node.isLossy = fates.some((fate) => fate === 'dropped' || fate === 'approximated' || fate === 'refused')
    if (row.harmless) node.harmless = new Set(row.harmless.map((value) => JSON.stringify(value)))
  }
  trees.set(table, tree)
  return tree
}

function newNode(): FieldNode {
  return { isRow: false, isLossy: false, harmless: null, type: '', below: null }
}
