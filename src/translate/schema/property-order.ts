import { asArray, asObject, type JsonObject } from '../../core/json/json-value.ts'
import { deepest } from './references.ts'

/**
 * Gemini writes an object's members in the order of `propertyOrdering`. Other providers follow the order of `properties`, and do not know
 * the keyword.
 */
export function orderProperties(schema: JsonObject, depth = 0): JsonObject {
  if (depth > deepest) return schema
  const { propertyOrdering, ...rest } = schema
  return Object.fromEntries(Object.entries(rest).map(([keyword, member]) => [keyword, orderIn(keyword, member)]))

  function orderIn(keyword: string, member: unknown): unknown {
    if (keyword === 'properties') return sorted(mapValues(member, below), asArray(propertyOrdering))
    if (keyword === '$defs' || keyword === 'definitions') return mapValues(member, below)
    if (keyword === 'items' || keyword === 'additionalProperties') return below(member)
    const lists = keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'allOf' || keyword === 'prefixItems'
    return lists && Array.isArray(member) ? member.map(below) : member
  }

  function below(inner: unknown): unknown {
    const object = asObject(inner)
    return object === null ? inner : orderProperties(object, depth + 1)
  }
}

function mapValues(members: unknown, change: (value: unknown) => unknown): unknown {
  const object = asObject(members)
  if (object === null) return members
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))
}

/** Unnamed members keep their order, after the others. */
function sorted(members: unknown, names: readonly unknown[]): unknown {
  const object = asObject(members)
  if (object === null || names.length === 0) return members
  const known = names.filter((name): name is string => typeof name === 'string' && Object.hasOwn(object, name))
  return Object.fromEntries([...new Set([...known, ...Object.keys(object)])].map((name) => [name, object[name]]))
}
