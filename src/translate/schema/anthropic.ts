import { asArray, asObject, type JsonObject } from '../../core/json/json-value.ts'
import type { Ledger } from '../ledger.ts'
import { deepest } from './references.ts'
import { pathBelow } from './schema-paths.ts'

/** Keywords that Anthropic's strict schemas may contain unchanged. Source: wire/translate.md, section 5. */
const kept = new Set(['type', 'title', 'description', 'enum', 'const', 'required', 'default', '$ref'])
/** The first contain schemas by name, the second lists of schemas. */
const named = new Set(['properties', '$defs', 'definitions'])
const listed = new Set(['anyOf', 'allOf'])
/** Keywords that say nothing about the answer. */
const silent = new Set(['$schema', '$id', '$comment', 'examples'])
const formats = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])

/**
 * Writes a schema that an answer, or the arguments of a strict tool, must match. Every object is closed. Constraints that Anthropic does
 * not enforce move to the description, where the model can read them; each is a loss.
 */
export function strictAnthropicSchema(schema: unknown, path: string, ledger: Ledger): unknown {
  const root = asObject(schema)
  if (root === null) return schema
  if (hasCycle(root))
    ledger.refuse(path, `the schema at ${path} contains itself, which Anthropic does not accept in strict ones`)
  return convert(root, path, ledger, 0)
}

function convert(value: unknown, path: string, ledger: Ledger, depth: number): unknown {
  const schema = asObject(value)
  if (schema === null) return value
  if (depth > deepest) {
    ledger.refuse(path, `the schema at ${path} is nested too deeply`)
    return {}
  }
  const inner = (part: unknown, step: string) => convert(part, pathBelow(path, step), ledger, depth + 1)
  const written: Record<string, unknown> = {}
  const lost: string[] = []
  for (const [keyword, member] of Object.entries(schema)) {
    if (silent.has(keyword)) continue
    if (kept.has(keyword) || isEnforced(keyword, member)) written[keyword] = member
    else if (named.has(keyword)) {
      const entries = Object.entries(asObject(member) ?? {})
      written[keyword] = Object.fromEntries(entries.map(([name, part]) => [name, inner(part, `.${keyword}.${name}`)]))
    } else if (listed.has(keyword))
      written[keyword] = asArray(member).map((part, index) => inner(part, `.${keyword}[${index}]`))
    else if (keyword === 'oneOf' && schema.anyOf === undefined) {
      ledger.lose(`${path}.oneOf`)
      written.anyOf = asArray(member).map((part, index) => inner(part, `.oneOf[${index}]`))
    } else if (keyword === 'items' && asObject(member) !== null) written.items = inner(member, '.items')
    else if (keyword !== 'additionalProperties') lost.push(keyword)
    else if (member !== false) ledger.lose(`${path}.additionalProperties`)
  }
  if (schema.type === 'object' || schema.properties !== undefined) written.additionalProperties = false
  return lost.length === 0 ? written : describe(written, schema, lost, path, ledger)
}

function isEnforced(keyword: string, value: unknown): boolean {
  if (keyword === 'minItems') return value === 0 || value === 1
  return keyword === 'format' && typeof value === 'string' && formats.has(value)
}

function describe(
  written: JsonObject,
  schema: JsonObject,
  lost: readonly string[],
  path: string,
  ledger: Ledger,
): JsonObject {
  for (const keyword of lost) ledger.lose(`${path}.${keyword}`)
  const said = lost.map((keyword) => `${keyword}: ${JSON.stringify(schema[keyword])}`).join(', ')
  const before = typeof written.description === 'string' ? `${written.description}\n\n` : ''
  return { ...written, description: `${before}{${said}}` }
}

/** Whether a definition refers back to itself. */
function hasCycle(root: JsonObject): boolean {
  const definitions = new Map<string, unknown>([['#', { ...root, $defs: undefined, definitions: undefined }]])
  for (const group of ['$defs', 'definitions']) {
    for (const [name, part] of Object.entries(asObject(root[group]) ?? {})) definitions.set(`#/${group}/${name}`, part)
  }
  const state = new Map<string, 'open' | 'done'>([['#', 'open']])
  const stack = [{ reference: '#', next: referencesIn(definitions.get('#'), 0) }]
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const reference = top.next.pop()
    if (reference === undefined) {
      state.set(top.reference, 'done')
      stack.pop()
    } else if (state.get(reference) === 'open') return true
    else if (!state.has(reference)) {
      state.set(reference, 'open')
      stack.push({ reference, next: referencesIn(definitions.get(reference), 0) })
    }
  }
  return false
}

function referencesIn(value: unknown, depth: number): string[] {
  if (depth > deepest * 2) return []
  if (Array.isArray(value)) return value.flatMap((part) => referencesIn(part, depth + 1))
  return Object.entries(asObject(value) ?? {}).flatMap(([keyword, part]) =>
    keyword === '$ref' && typeof part === 'string' ? [part] : referencesIn(part, depth + 1),
  )
}
