import { asArray, asObject, type JsonObject } from '../../core/json/json-value.ts'
import { countOf } from '../json.ts'
import { orderProperties } from './property-order.ts'
import { deepest } from './references.ts'

/** Members whose counts are strings in this form. */
const counts = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'])

/** OpenAPI formats that the type already implies. JSON Schema does not have them, and OpenAI's strict mode rejects them. */
const saysNothing = new Set<unknown>(['int32', 'int64', 'float', 'double', 'enum'])

/** Converts Gemini's older form of schemas, which follows OpenAPI, to JSON Schema. */
export function schemaFromOpenApi(value: unknown): JsonObject {
  return orderProperties(convert(value, 0))
}

function convert(value: unknown, depth: number): JsonObject {
  const schema = asObject(value) ?? {}
  if (depth > deepest) return {}
  const written: Record<string, unknown> = {}
  for (const [spelled, member] of Object.entries(schema)) {
    // Python's SDK writes names inside a schema with underscores.
    const keyword = camelCase(spelled)
    switch (keyword) {
      case 'type':
        if (member !== 'TYPE_UNSPECIFIED') written.type = typeof member === 'string' ? member.toLowerCase() : member
        break
      case 'properties':
        written.properties = Object.fromEntries(
          Object.entries(asObject(member) ?? {}).map(([name, inner]) => [name, convert(inner, depth + 1)]),
        )
        break
      case 'items':
        written.items = convert(member, depth + 1)
        break
      case 'anyOf':
        written.anyOf = asArray(member).map((inner) => convert(inner, depth + 1))
        break
      case 'example':
        written.examples = [member]
        break
      case 'nullable':
        break
      case 'format':
        if (!saysNothing.has(member)) written.format = member
        break
      default:
        written[keyword] = counts.has(keyword) ? readCount(member) : member
    }
  }
  return schema.nullable === true ? orNull(written) : written
}

function readCount(value: unknown): unknown {
  return countOf(value) ?? (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value)
}

function orNull(schema: Record<string, unknown>): JsonObject {
  if (Array.isArray(schema.enum)) schema.enum = [...schema.enum, null]
  if (typeof schema.type === 'string') return { ...schema, type: [schema.type, 'null'] }
  return Array.isArray(schema.anyOf) ? { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] } : schema
}

function camelCase(keyword: string): string {
  return keyword.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
