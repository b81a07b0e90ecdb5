import { readValue } from '../cli/flags.ts'
import type { Field, Operation } from '../cli/operation.ts'
import { titleWords } from '../cli/print/title-words.ts'
import { valueAt } from '../src/admin/contract/show-value.ts'
import { formatDuration, formatSize } from '../src/core/units.ts'

/** What the command line works out for itself, and no person writes. */
const workedOut: readonly Field['syntax'][] = ['variables']

/** The fields that are asked: those that must be filled, then the contract's order, and what is only switched at the end. */
export function askedFields(operation: Operation, given: object, hidden: readonly string[]): Field[] {
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

/** Where a field of the input has another name in what the operation shows. */
const otherNames: Readonly<Record<string, string>> = {
  attach: 'attached_to',
  hedge_after: 'hedge.after',
  hedge_share: 'hedge.share',
}

/**
 * What the thing has in this field now, as one would write it; '' where it has nothing, or does not say. The stable
 * names of the contract lead to it: `timeoutTotal` is `timeouts.total_ms` there, `maxBody` `max_body_bytes`.
 */
export function currentText(field: Field, subject: unknown): string {
  if (subject === undefined || field.secret) return ''
  const name = snakeCase(field.name)
  const timeout = /^timeout_(.+)$/.exec(name)?.[1]
  const places: [path: string, unit?: (amount: number) => string][] = [
    [otherNames[name] ?? name],
    [`settings.${name}`],
    [`${name}_ms`, formatDuration],
    [`${name}_bytes`, formatSize],
    [`${name}_at`],
    [`timeouts.${timeout ?? ''}_ms`, formatDuration],
  ]
  for (const [path, unit] of places) {
    const value = valueAt(subject, path)
    const text = unit !== undefined && typeof value === 'number' ? unit(value) : write(field, value)
    if (text !== '') return text
  }
  return ''
}

function write(field: Field, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (field.shape === 'pairs' && typeof value === 'object')
    return Array.isArray(value) ? '' : joinItems(field, writePairs(value))
  if (field.shape === 'list' && Array.isArray(value))
    return joinItems(
      field,
      value.map((item, index) => writeItem(field, item, index)),
    )
  if (field.shape === 'boolean') return typeof value === 'boolean' ? String(value) : ''
  if (typeof value === 'boolean' && field.choices?.includes('on')) return value ? 'on' : 'off'
  return typeof value === 'object' ? '' : String(value)
}

function writePairs(value: object): string[] {
  return Object.entries(value)
    .filter(([, member]) => member !== null)
    .map(([name, member]) => `${name}=${String(member)}`)
}

/** A target with all that it would lose if it were left out; their order alone is their priority. */
function writeItem({ syntax }: Field, item: unknown, index: number): string {
  if (syntax !== 'target' || typeof item !== 'object' || item === null) return String(item)
  const names = ['provider', 'upstream_model', 'weight', 'priority', 'format']
  const [provider, model, weight, priority, format] = names.map((name) => valueAt(item, name))
  return [
    `${String(provider)}${typeof model === 'string' ? `:${model}` : ''}`,
    ...(typeof weight === 'number' && weight !== 1 ? [`weight=${weight}`] : []),
    ...(typeof priority === 'number' && priority !== index ? [`priority=${priority}`] : []),
    ...(typeof format === 'string' ? [`format=${format}`] : []),
  ].join(',')
}

/** A target has commas of its own. */
function joinItems({ syntax }: Field, items: readonly string[]): string {
  return syntax === 'target' ? items.join(' ') : items.map(quoteItem).join(', ')
}

/** What would be read as several, such as the pattern `\d{2,4}`, stands in quotes. */
function quoteItem(item: string): string {
  return /[,"]|^\s|\s$/.test(item) ? `"${item.replaceAll('"', '""')}"` : item
}

/** Separated by commas; an item in quotes may have them, and has quotes twice. */
function splitItems(text: string): string[] {
  const items = text.matchAll(/\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))(?:,|$)/g)
  return [...items].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim()).filter(Boolean)
}

/** The text of a form's line in the type of the input; undefined: not given. Throws what the command line throws. */
export function readText(field: Field, text: string, before: string): unknown {
  const given = text.trim()
  if (field.shape === 'boolean') return given === '' ? undefined : given === 'true'
  if (given === '') return before === '' ? undefined : emptied(field, before)
  if (field.syntax === 'files') return splitItems(given)
  if (field.shape === 'list' || field.shape === 'pairs') {
    const parts = field.syntax === 'target' ? given.split(/\s+/) : splitItems(given)
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
  const names = splitItems(before).flatMap((part) => (part.includes('=') ? [part.slice(0, part.indexOf('='))] : []))
  return { ...Object.fromEntries(names.map((name) => [name, ''])), ...value }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** `There is no project "x".`: the place of the field in which x was written, of several the one that is called so; -1: none. */
export function fieldOfUnknown(cause: string, entries: readonly { field: Field; line: { text: string } }[]): number {
  const [, noun, name = ''] = /^There is no (\w+).* "(.+)"\.$/.exec(cause) ?? []
  if (name === '') return -1
  const isWritten = ({ line }: { line: { text: string } }) => line.text.includes(name)
  const called = entries.findIndex((entry) => entry.field.name === noun && isWritten(entry))
  return called < 0 ? entries.findIndex((entry) => !entry.field.secret && isWritten(entry)) : called
}
