import { z } from 'zod'
import type { FieldMeta } from '../src/admin/contract/operation.ts'
import { type ListedOperation, listOperations } from '../src/admin/contract/operations.ts'
import type { DerivedField, DerivedOperation } from '../src/console/app/contract/derived.ts'

/** What zod writes for a field, as far as a form is drawn from it; what the field says of itself stands beside it. */
interface FieldSchema extends Partial<FieldMeta> {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  items?: FieldSchema
  anyOf?: FieldSchema[]
  minimum?: number
  maximum?: number
  maxLength?: number
}

/**
 * The contract as plain data, for the browser: it draws forms and tables and finds addresses from this, and needs
 * neither zod nor the schemas, which would be more script than the rest of a page.
 */
export function deriveContract(): DerivedOperation[] {
  return listOperations()
    .filter(({ meta }) => meta.onMachine !== true)
    .map(deriveOperation)
}

function deriveOperation({ name, path, meta, input }: ListedOperation): DerivedOperation {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })
  const fields = Object.entries(properties).map(([field, schema]) =>
    deriveField(field, schema as FieldSchema, required.includes(field)),
  )
  return { name, path, meta, fields }
}

function deriveField(name: string, schema: FieldSchema, required: boolean): DerivedField {
  const options = optionsOf(schema)
  const core = options.find(({ type }) => type !== 'null') ?? schema
  return {
    name,
    shape: shapeOf(core),
    choices: choicesOf(core.items ?? core) ?? onlyChoicesOf(options),
    required,
    nullable: options.some(({ type }) => type === 'null'),
    fallback: schema.default ?? null,
    label: schema.label ?? core.label ?? null,
    description: schema.help ?? core.help ?? schema.description ?? core.description ?? '',
    prompt: schema.prompt ?? core.prompt ?? null,
    secret: schema.secret === true || core.secret === true,
    flag: schema.flag ?? core.flag ?? null,
    syntax: schema.syntax ?? core.syntax ?? null,
    minimum: core.minimum ?? null,
    maximum: core.maximum ?? null,
  }
}

/** What it may be, a type each: of something simple that may also be null zod writes two in one. */
function optionsOf(schema: FieldSchema): FieldSchema[] {
  const options = schema.anyOf ?? [schema]
  return options.flatMap((option) =>
    Array.isArray(option.type) ? option.type.map((type) => ({ ...option, type })) : [option],
  )
}

function shapeOf({ type }: FieldSchema): DerivedField['shape'] {
  if (type === 'boolean') return 'boolean'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'array') return 'list'
  if (type === 'object') return 'pairs'
  return 'text'
}

function choicesOf(schema: FieldSchema): string[] | null {
  return schema.enum === undefined ? null : schema.enum.map(String)
}

/** A union that is all words; one that also takes any text offers none. */
function onlyChoicesOf(options: FieldSchema[]): string[] | null {
  const words = options.flatMap((option) => (option.const === undefined ? [] : [String(option.const)]))
  return words.length > 0 && words.length === options.length ? words : null
}
