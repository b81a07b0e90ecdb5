import { asArray, asObject, type JsonObject } from '../../core/json-value.ts'
import type { OutputFormat } from '../conversation.ts'
import type { Ledger } from '../ledger.ts'
import { deepest } from './references.ts'
import { outputSchemaPath } from './schema-paths.ts'

/** Keywords that OpenAI's strict schemas may hold. Source: wire/translate.md, section 5. */
const known = new Set([
  '$schema',
  '$id',
  '$ref',
  '$defs',
  'definitions',
  'type',
  'title',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  'enum',
  'const',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
])

/**
 * Whether the answer is held to its schema. Anthropic and Gemini always do that, with schemas that OpenAI refuses as strict ones: then the
 * schema is a hint, which is a loss.
 */
export function isStrictOutput({ path, schema, strict }: OutputFormat, ledger: Ledger): boolean {
  if (strict !== null) return strict
  if (ledger.from === 'chat' || ledger.from === 'responses') return false
  const isStrict = isOpenAiStrict(schema)
  if (!isStrict) ledger.lose(outputSchemaPath(ledger.from, path))
  return isStrict
}

/** Whether OpenAI accepts the schema as a strict one: every object is closed, and every property required. */
export function isOpenAiStrict(schema: unknown): boolean {
  const root = asObject(schema)
  return (
    root !== null && root.anyOf === undefined && (root.type === 'object' || root.$ref !== undefined) && fits(root, 0)
  )
}

function fits(value: unknown, depth: number): boolean {
  const schema = asObject(value)
  if (schema === null || depth > deepest || Object.keys(schema).some((keyword) => !known.has(keyword))) return false
  const properties = asObject(schema.properties)
  if (properties !== null || schema.type === 'object') {
    const required = new Set(asArray(schema.required))
    if (schema.additionalProperties !== false) return false
    if (!Object.keys(properties ?? {}).every((name) => required.has(name))) return false
  }
  return [...partsOf(schema), ...asArray(schema.anyOf)].every((inner) => fits(inner, depth + 1))
}

function partsOf(schema: JsonObject): unknown[] {
  const named = [schema.properties, schema.$defs, schema.definitions].flatMap((group) =>
    Object.values(asObject(group) ?? {}),
  )
  return schema.items === undefined ? named : [...named, schema.items]
}
