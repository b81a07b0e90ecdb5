import { asArray, asObject, type JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import { numberOf } from '../json.ts'
import { deepest, type ReferenceBudget, References, SchemaError } from './references.ts'
import { pathBelow } from './schema-paths.ts'

/** Keywords that `parametersJsonSchema` and `responseJsonSchema` may contain unchanged. Source: wire/translate.md, section 5. */
const kept = new Set([
  'type',
  'format',
  'title',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'required',
  'propertyOrdering',
  // Handled individually.
  'description',
  'properties',
  'items',
  'prefixItems',
  'additionalProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'enum',
  'const',
  '$ref',
])

/** Keywords that do not affect which values are valid. */
const silent = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'deprecated',
  'readOnly',
  'writeOnly',
  'nullable',
  'x-order',
])

/** These do not either, but may help the model. */
const notes = new Set(['default', 'examples', 'example'])

/**
 * Writes a schema for Gemini. References are resolved, since it supports them only in part. Unknown keywords are lost by their path, and
 * added to the description, where the model can still read them. Throws a `SchemaError` for infinite recursion.
 */
export function schemaForGemini(
  schema: JsonObject,
  path: string,
  lose: (path: string) => void,
  budget: ReferenceBudget,
): JsonObject {
  return new GeminiSchema(new References(schema, budget), lose).write(schema, path, [])
}

class GeminiSchema {
  readonly #references: References
  readonly #lose: (path: string) => void

  constructor(references: References, lose: (path: string) => void) {
    this.#references = references
    this.#lose = lose
  }

  write(value: unknown, path: string, open: readonly string[], depth = 0): JsonObject {
    if (depth > deepest) throw new SchemaError(path, `the schema at ${path} is nested too deep`)
    if (value === true) return {}
    const schema = asObject(value)
    if (schema === null) {
      this.#lose(path)
      return {}
    }
    if (typeof schema.$ref === 'string') return this.#writeReference(schema, schema.$ref, path, open, depth)
    const below = (inner: unknown, step: string) => this.write(inner, pathBelow(path, `.${step}`), open, depth + 1)
    const written: Record<string, unknown> = {}
    const said: string[] = []
    for (const [keyword, member] of Object.entries(schema)) {
      if (silent.has(keyword)) continue
      if (notes.has(keyword)) said.push(`${keyword}: ${JSON.stringify(member)}`)
      // Older drafts list the items one by one under this keyword.
      else if (keyword === 'items' && Array.isArray(member))
        written.prefixItems = member.map((inner, index) => below(inner, `items[${index}]`))
      else if (kept.has(keyword)) written[keyword] = this.#writeMember(keyword, member, below)
      else if (isWholeBound(schema, keyword)) Object.assign(written, wholeBound(keyword, member))
      else {
        this.#lose(`${path}.${keyword}`)
        said.push(`${keyword}: ${JSON.stringify(member)}`)
      }
    }
    if (schema.nullable === true) addNull(written)
    this.#writeConst(schema, written)
    this.#writeEnum(written, path, said)
    this.#writeAlternatives(written, path)
    this.#writeAll(written, path)
    if (said.length > 0) written.description = describe(schema.description, said)
    return written
  }

  #writeReference(
    schema: JsonObject,
    reference: string,
    path: string,
    open: readonly string[],
    depth: number,
  ): JsonObject {
    const { $ref: _, ...beside } = schema
    const found = this.#references.find(reference, path, open)
    return this.write({ ...found, ...beside }, path, [...open, reference], depth + 1)
  }

  #writeMember(keyword: string, member: unknown, below: (inner: unknown, step: string) => JsonObject): unknown {
    switch (keyword) {
      case 'properties': {
        const properties = Object.entries(asObject(member) ?? {})
        return Object.fromEntries(properties.map(([name, inner]) => [name, below(inner, `properties.${name}`)]))
      }
      case 'items':
        return below(member, 'items')
      case 'prefixItems':
      case 'anyOf':
      case 'oneOf':
      case 'allOf':
        return asArray(member).map((inner, index) => below(inner, `${keyword}[${index}]`))
      case 'additionalProperties':
        return typeof member === 'boolean' ? member : below(member, keyword)
      case 'enum':
      case 'required':
        return asArray(member)
      default:
        return member
    }
  }

  /** A constant becomes an enum with one value. */
  #writeConst({ const: constant }: JsonObject, written: Record<string, unknown>): void {
    if (constant === undefined) return
    delete written.const
    written.enum = [constant]
  }

  /** Only strings and numbers are supported. */
  #writeEnum(written: Record<string, unknown>, path: string, said: string[]): void {
    if (written.enum === undefined) return
    const values = asArray(written.enum)
    const known = values.filter((value) => typeof value === 'string' || numberOf(value) !== null)
    const orNull = values.includes(null)
    if (orNull) addNull(written)
    if (known.length > 0) written.enum = known
    else delete written.enum
    if (orNull && written.type === undefined) this.#writeNullBeside(written, path)
    if (known.length === values.filter((value) => value !== null).length) return
    this.#lose(`${path}.enum`)
    said.push(`enum: ${JSON.stringify(values)}`)
  }

  /** Null is added to the type; without a type there is nothing to add it to. */
  #writeNullBeside(written: Record<string, unknown>, path: string): void {
    if (written.anyOf !== undefined || written.oneOf !== undefined) return this.#lose(`${path}.enum`)
    const values = written.enum === undefined ? [] : [{ enum: written.enum }]
    delete written.enum
    written.anyOf = [...values, { type: 'null' }]
  }

  /** Gemini reads `oneOf` as `anyOf`: several alternatives may match. */
  #writeAlternatives(written: Record<string, unknown>, path: string): void {
    const { oneOf } = written
    if (!Array.isArray(oneOf)) return
    delete written.oneOf
    if (oneOf.length > 1) this.#lose(`${path}.oneOf`)
    if (written.anyOf === undefined) written.anyOf = oneOf
    else this.#lose(`${path}.oneOf`)
  }

  /** Objects in `allOf` become one object with all their members; anything else cannot be merged. */
  #writeAll(written: Record<string, unknown>, path: string): void {
    const all = asArray(written.allOf).map((part) => asObject(part) ?? {})
    delete written.allOf
    const joined = new JoinedKeywords(written)
    for (const [index, part] of all.entries()) {
      for (const [keyword, member] of Object.entries(part))
        if (!joined.add(keyword, member)) this.#lose(`${path}.allOf[${index}].${keyword}`)
    }
    joined.write()
  }
}

/** For integers, greater than 0 means at least 1. */
const wholeBounds: Readonly<Record<string, { name: string; step: number }>> = {
  exclusiveMinimum: { name: 'minimum', step: 1 },
  exclusiveMaximum: { name: 'maximum', step: -1 },
}

function isWholeBound(schema: JsonObject, keyword: string): boolean {
  const bound = ownValue(wholeBounds, keyword)
  if (bound === undefined || schema.type !== 'integer' || schema[bound.name] !== undefined) return false
  return Number.isSafeInteger(numberOf(schema[keyword]))
}

function wholeBound(keyword: string, value: unknown): JsonObject {
  const bound = ownValue(wholeBounds, keyword)
  const limit = numberOf(value)
  return bound === undefined || limit === null ? {} : { [bound.name]: limit + bound.step }
}

/** Adds to a schema what others say that must be met as well. What grows with each of them is written once, at the end. */
class JoinedKeywords {
  readonly #written: Record<string, unknown>
  #properties: Map<string, unknown> | null = null
  #required: Set<unknown> | null = null
  /** By keyword: the JSON of what is written. */
  readonly #texts = new Map<string, string>()

  constructor(written: Record<string, unknown>) {
    this.#written = written
  }

  /** False: both cannot be said at once. */
  add(keyword: string, member: unknown): boolean {
    const before = this.#written[keyword]
    if (before === undefined) {
      this.#written[keyword] = member
      return true
    }
    if (keyword === 'properties') {
      this.#properties ??= new Map(Object.entries(asObject(before) ?? {}))
      for (const [name, schema] of Object.entries(asObject(member) ?? {})) this.#properties.set(name, schema)
      return true
    }
    if (keyword === 'required') {
      this.#required ??= new Set(asArray(before))
      for (const name of asArray(member)) this.#required.add(name)
      return true
    }
    if (keyword === 'description' || keyword === 'title') return true
    const text = this.#texts.get(keyword) ?? JSON.stringify(before)
    this.#texts.set(keyword, text)
    return text === JSON.stringify(member)
  }

  write(): void {
    if (this.#properties !== null) this.#written.properties = Object.fromEntries(this.#properties)
    if (this.#required !== null) this.#written.required = [...this.#required]
  }
}

function addNull(written: Record<string, unknown>): void {
  const { type } = written
  if (typeof type === 'string' && type !== 'null') written.type = [type, 'null']
  else if (Array.isArray(type) && !type.includes('null')) written.type = [...type, 'null']
}

function describe(description: unknown, said: readonly string[]): string {
  const notes = `(${said.join('; ')})`
  return typeof description === 'string' && description !== '' ? `${description} ${notes}` : notes
}
