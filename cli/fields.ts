import { z } from 'zod'
import type { FieldMeta } from '../src/admin/contract/operation.ts'
import type { Field } from './operation.ts'

/** Only the catalog reads schemas: what runs a command has the fields as data. */
export function describeInput(schema: z.ZodObject): { fields: Field[]; refined: boolean } {
  return { fields: readFields(schema), refined: (schema.def.checks?.length ?? 0) > 0 }
}

/** Reads the fields of an object schema, in their order. */
export function readFields(schema: z.ZodType): Field[] {
  const { core } = unwrap(schema)
  if (!(core instanceof z.ZodObject)) return []
  return Object.entries(core.shape).map(([name, member]) => readField(name, member as z.ZodType))
}

function readField(name: string, schema: z.ZodType): Field {
  const { core, meta, required, nullable, fallback } = unwrap(schema)
  return {
    name,
    flag: (meta.flag ?? kebabCase(name)).replace(/^--/, ''),
    shape: shapeOf(core),
    choices: choicesOf(core),
    required,
    nullable,
    fallback,
    description: meta.description ?? '',
    prompt: meta.prompt ?? null,
    ...pickGiven(meta, ['instead', 'label', 'help', 'empty', 'acceptsId', 'kinds']),
    secret: meta.secret === true,
    syntax: meta.syntax ?? null,
    takes: takesOf(core),
  }
}

/** Only what the field says: most say none of it, and a bundle holds every field. */
function pickGiven<Name extends keyof FieldMeta>(
  meta: Partial<FieldMeta>,
  names: readonly Name[],
): Pick<Partial<FieldMeta>, Name> {
  const given = names.filter((name) => meta[name] !== undefined).map((name) => [name, meta[name]])
  return Object.fromEntries(given) as Pick<Partial<FieldMeta>, Name>
}

/** Careful: what is not known to take everything is `some`. */
function takesOf(schema: z.ZodType): Field['takes'] {
  if (schema instanceof z.ZodBoolean || schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) return 'any'
  const checks = schema.def.checks ?? []
  if (schema instanceof z.ZodString && !('format' in schema.def)) {
    if (checks.length === 0) return 'any'
    return checks.length === 1 && schema.minLength === 1 && schema.maxLength === null ? 'filled' : 'some'
  }
  if (schema instanceof z.ZodArray && checks.length === 0)
    return takesOf(schema.element as z.ZodType) === 'any' ? 'any' : 'some'
  return 'some'
}

interface Unwrapped {
  core: z.ZodType
  meta: Partial<FieldMeta>
  required: boolean
  nullable: boolean
  fallback: unknown
}

/** Takes off `.optional()`, `.default()` and the like. What a field says of itself may stand on any layer; the outer one wins. */
function unwrap(schema: z.ZodType): Unwrapped {
  const found: Unwrapped = { core: schema, meta: {}, required: true, nullable: false, fallback: undefined }
  let layer: z.ZodType = schema
  for (;;) {
    found.meta = { ...(layer.meta() as Partial<FieldMeta> | undefined), ...found.meta }
    found.core = layer
    if (layer instanceof z.ZodOptional) {
      found.required = false
      layer = layer.unwrap() as z.ZodType
    } else if (layer instanceof z.ZodNullable) {
      found.nullable = true
      layer = layer.unwrap() as z.ZodType
    } else if (layer instanceof z.ZodDefault || layer instanceof z.ZodPrefault) {
      found.required = false
      found.fallback = layer.def.defaultValue
      layer = layer.unwrap() as z.ZodType
    } else if (layer instanceof z.ZodPipe) {
      layer = layer.def.in as z.ZodType
    } else {
      return found
    }
  }
}

function shapeOf(schema: z.ZodType): Field['shape'] {
  if (schema instanceof z.ZodBoolean) return 'boolean'
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodArray) return 'list'
  if (schema instanceof z.ZodRecord) return 'pairs'
  return 'text'
}

function choicesOf(schema: z.ZodType): readonly string[] | null {
  if (schema instanceof z.ZodEnum) return schema.options.map(String)
  if (schema instanceof z.ZodLiteral) return [...schema.values].map(String)
  if (schema instanceof z.ZodArray) return choicesOf(unwrap(schema.element as z.ZodType).core)
  return null
}

/** `firstByteMs` → `first-byte-ms`, `cacheWrite1h` → `cache-write-1h` */
function kebabCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])|([a-z])([0-9])/g, '$1$3-$2$4')
    .replace(/_/g, '-')
    .toLowerCase()
}
