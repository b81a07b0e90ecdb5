import { asObject, type JsonObject } from '../../core/json/json-value.ts'
import { generateFields } from './fields.ts'

/** Members whose own members the format names. Other members (arguments, schemas, labels) contain data. */
const structured: ReadonlySet<string> = new Set(
  Object.keys(generateFields).flatMap((field) => {
    const end = field.lastIndexOf('.')
    return end > 0 ? [field.slice(0, end)] : []
  }),
)

/** Gemini accepts `inline_data` for `inlineData`, and so on. Objects without such names are returned unchanged. */
export function toCamelCase(body: JsonObject, prefix = ''): JsonObject {
  let changed = false
  const entries = Object.entries(body).map(([name, value]): [string, unknown] => {
    const known = name.includes('_') ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name
    const camel = Object.hasOwn(generateFields, `${prefix}${known}`) ? known : name
    const field = `${prefix}${camel}`
    const inner = structured.has(field) ? convert(value, `${field}.`) : value
    if (camel !== name || inner !== value) changed = true
    return [camel, inner]
  })
  return changed ? Object.fromEntries(entries) : body
}

function convert(value: unknown, prefix: string): unknown {
  if (Array.isArray(value)) {
    const converted = value.map((element) => convert(element, prefix))
    return converted.some((element, index) => element !== value[index]) ? converted : value
  }
  const object = asObject(value)
  return object === null ? value : toCamelCase(object, prefix)
}
