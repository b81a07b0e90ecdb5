import { readValue } from '../cli/flags.ts'
import type { Field, Operation } from '../cli/operation.ts'
import { titleWords } from '../cli/print/title-words.ts'
import { valueAt } from '../src/admin/contract/show-value.ts'

/** What the command line works out for itself, and no person writes. */
const workedOut: readonly Field['syntax'][] = ['variables']

/** The fields that are asked: those that must be filled, then the contract's order, and what is only switched at the end. */
export function askedFields(operation: Operation, given: object, hidden: readonly string[] = []): Field[] {
  const asked = operation.fields.filter(
    ({ name, syntax }) => !(name in given) && !hidden.includes(name) && !workedOut.includes(syntax),
  )
  const rank = (field: Field) => (field.required ? 0 : isSwitch(field) ? 2 : 1)
  return asked.toSorted((one, other) => rank(one) - rank(other))
}

/** Off unless somebody wants it. */
export function isSwitch({ shape, required }: Field): boolean {
  return shape === 'boolean' && !required
}

/** Its own label, or its flag in words: `base-url` → `Base URL`. */
export function labelOf({ label, flag }: Field): string {
  return label ?? titleWords(flag.replaceAll('-', ' '))
}

/** What a form says of a field. */
export function helpOf({ help, description }: Field): string {
  return help ?? description
}

/**
 * What the thing has in this field now, as one would write it; '' where it has nothing, or does not say. The stable
 * names of the contract lead to it: `timeoutTotal` is `timeouts.total_ms` there, `maxBody` `max_body_bytes`.
 */
export function currentText(field: Field, subject: unknown): string {
  if (subject === undefined || field.secret) return ''
  const name = snakeCase(field.name)
  const timeout = /^timeout_(.+)$/.exec(name)?.[1]
  const places: [path: string, unit: string][] = [
    [name, ''],
    [`settings.${name}`, ''],
    [`${name}_ms`, 'ms'],
    [`${name}_bytes`, 'B'],
    [`${name}_at`, ''],
    ...(timeout === undefined ? [] : [[`timeouts.${timeout}_ms`, 'ms'] as [string, string]]),
  ]
  for (const [path, unit] of places) {
    const text = write(field, valueAt(subject, path))
    if (text !== '') return text + unit
  }
  return ''
}

function write(field: Field, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (field.shape === 'pairs' && typeof value === 'object') {
    return Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => `${name}=${String(member)}`)
      .join(', ')
  }
  if (field.shape === 'list' && Array.isArray(value))
    return value.map((item) => writeItem(field, item)).join(separatorOf(field))
  if (field.shape === 'boolean') return typeof value === 'boolean' ? String(value) : ''
  return typeof value === 'object' ? '' : String(value)
}

function writeItem({ syntax }: Field, item: unknown): string {
  if (syntax !== 'target' || typeof item !== 'object' || item === null) return String(item)
  const model = valueAt(item, 'upstream_model')
  const name = `${String(valueAt(item, 'provider'))}${typeof model === 'string' ? `:${model}` : ''}`
  const weight = valueAt(item, 'weight')
  return typeof weight === 'number' && weight !== 1 ? `${name},weight=${weight}` : name
}

/** A target has commas of its own. */
export function separatorOf({ syntax }: Field): string {
  return syntax === 'target' ? ' ' : ', '
}

/** The text of a form's line in the type of the input; undefined: not given. Throws what the command line throws. */
export function readText(field: Field, text: string, before: string): unknown {
  const given = text.trim()
  if (field.shape === 'boolean') return given === '' ? undefined : given === 'true'
  if (given === '') return before === '' ? undefined : emptied(field, before)
  if (field.syntax === 'files') return given.split(/\s*,\s*/)
  if (field.shape === 'list' || field.shape === 'pairs') {
    const parts = given.split(field.syntax === 'target' ? /\s+/ : /\s*,\s*/).filter((part) => part !== '')
    return withRemoved(field, readValue(field, parts), before)
  }
  return readValue(field, given)
}

/** The value that clears a field; undefined: nothing does. */
function emptied(field: Field, before: string): unknown {
  if (field.shape === 'list') return []
  if (field.shape === 'pairs') return withRemoved(field, {}, before)
  if (field.nullable) return null
  return field.empty
}

/** An empty value removes a pair (contract.md): one that is gone from the text is removed so. */
function withRemoved(field: Field, value: unknown, before: string): unknown {
  if (field.shape !== 'pairs' || typeof value !== 'object' || value === null) return value
  const names = before
    .split(/\s*,\s*/)
    .flatMap((part) => (part.includes('=') ? [part.slice(0, part.indexOf('='))] : []))
  return { ...Object.fromEntries(names.map((name) => [name, ''])), ...value }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
