import { asArray, asObject, type JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import type { OutputFormat, Tool } from '../conversation.ts'
import type { Ledger } from '../ledger.ts'
import { deepest } from './references.ts'
import { outputSchemaPath } from './schema-paths.ts'

/** Keywords that OpenAI's strict schemas may contain. Source: wire/translate.md, section 5. */
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

const formats = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'])

/** OpenAI's own API only returns objects, strictly or not. */
export function refuseOtherThanObjects({ path, schema }: OutputFormat, ledger: Ledger): void {
  const { type } = asObject(schema) ?? {}
  if (typeof type !== 'string' || type === 'object') return
  const at = outputSchemaPath(ledger.from, path)
  ledger.refuse(at, `its answers are objects, and ${at} has the type ${type}; make that a property of an object`)
}

/**
 * Whether the answer must match its schema. Anthropic and Gemini always enforce that, also for schemas that OpenAI rejects as strict: then
 * the schema is only a hint, which is a loss.
 */
export function isStrictOutput({ path, schema, strict }: OutputFormat, ledger: Ledger): boolean {
  if (ledger.from === 'chat' || ledger.from === 'responses') return strict ?? false
  const isStrict = isOpenAiStrict(schema)
  if (!isStrict) ledger.lose(outputSchemaPath(ledger.from, path))
  return isStrict
}

/** The same for a tool's arguments. Anthropic's strict mode accepts schemas that OpenAI's rejects. */
export function isStrictTool({ path, schema, strict }: Tool, ledger: Ledger): boolean {
  if (strict !== true) return false
  if (ledger.from === 'chat' || ledger.from === 'responses' || isOpenAiStrict(schema)) return true
  ledger.lose(`${path}.strict`)
  return false
}

/** Whether OpenAI accepts the schema as strict: every object is closed, and every property required. */
function isOpenAiStrict(schema: unknown): boolean {
  const root = asObject(schema)
  return (
    root !== null && root.anyOf === undefined && (root.type === 'object' || root.$ref !== undefined) && fits(root, 0)
  )
}

function fits(value: unknown, depth: number): boolean {
  const schema = asObject(value)
  if (schema === null || depth > deepest || Object.keys(schema).some((keyword) => !known.has(keyword))) return false
  if (schema.format !== undefined && !formats.has(String(schema.format))) return false
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

/**
 * The schema of a function's arguments for OpenAI, which rejects one without properties, and a list without items; other vendors accept
 * both. What is added restricts nothing.
 */
export function functionSchema(schema: unknown): unknown {
  const whole = withItems(schema, 0)
  const root = asObject(whole)
  if (root === null || root.properties !== undefined || root.$ref !== undefined) return whole
  if (root.type === undefined && (root.anyOf ?? root.oneOf ?? root.allOf) !== undefined) return whole
  return root.type === undefined || root.type === 'object' ? { type: 'object', ...root, properties: {} } : whole
}

/** Returns the same object if nothing is missing. */
function withItems(value: unknown, depth: number): unknown {
  const schema = asObject(value)
  if (schema === null || depth > deepest) return value
  let changed = false
  const written = Object.fromEntries(
    Object.entries(schema).map(([keyword, member]) => {
      const whole = ownValue(holders, keyword)?.(member, (inner) => withItems(inner, depth + 1)) ?? member
      changed ||= whole !== member
      return [keyword, whole]
    }),
  )
  const isList = schema.type === 'array' || asArray(schema.type).includes('array')
  if (isList && schema.items === undefined && schema.prefixItems === undefined) return { ...written, items: {} }
  return changed ? written : schema
}

type ChangeSchema = (schema: unknown) => unknown

/** Keywords that contain schemas, and in which form. */
const holders: Readonly<Record<string, (member: unknown, change: ChangeSchema) => unknown>> = {
  items: (member, change) => change(member),
  additionalProperties: (member, change) => change(member),
  properties: changeNamed,
  $defs: changeNamed,
  definitions: changeNamed,
  anyOf: changeListed,
  oneOf: changeListed,
  allOf: changeListed,
}

function changeNamed(member: unknown, change: ChangeSchema): unknown {
  const schemas = asObject(member) ?? {}
  const changed = Object.entries(schemas).map(([name, schema]) => [name, change(schema)] as const)
  return changed.some(([name, schema]) => schema !== schemas[name]) ? Object.fromEntries(changed) : member
}

function changeListed(member: unknown, change: ChangeSchema): unknown {
  const schemas = asArray(member)
  const changed = schemas.map(change)
  return changed.some((schema, index) => schema !== schemas[index]) ? changed : member
}
