import type { DerivedField } from '../contract/derived.ts'

/** What a control holds: text, a switch, chosen words, or pairs of name and value. */
export type FormValue = string | boolean | string[] | [name: string, value: string][]
export type FormValues = Record<string, FormValue>

/** What the controls show at first, from a record or from the defaults. */
export function valuesOf(fields: readonly DerivedField[], initial: Record<string, unknown> = {}): FormValues {
  return Object.fromEntries(
    fields.map((field) => [field.name, controlValue(field, initial[field.name] ?? field.fallback)]),
  )
}

function controlValue({ shape, choices, syntax }: DerivedField, value: unknown): FormValue {
  if (shape === 'boolean') return value === true
  if (syntax === 'files') return Object.values(value ?? {}).join('\n')
  if (shape === 'pairs') return pairsOf(value)
  if (shape === 'list') {
    const items = Array.isArray(value) ? value.map(String) : []
    return choices === null ? items.join('\n') : items
  }
  return value === null || value === undefined ? '' : String(value)
}

function pairsOf(value: unknown): [string, string][] {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).map(([name, text]) => [name, String(text)])
    : []
}

/**
 * The operation's input. From an empty form: whatever was filled in. From a record (`before`): what was changed, and
 * nothing else, so that two people at once do not undo one another; what was emptied is cleared.
 */
export function inputOf(
  fields: readonly DerivedField[],
  values: FormValues,
  before: FormValues | null,
): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  const cleared: string[] = []
  for (const field of fields) {
    const value = values[field.name]
    const was = before?.[field.name]
    if (value === undefined || (before !== null && isSame(value, was))) continue
    const read = readValue(field, value, was)
    if (read !== undefined) input[field.name] = read
    else if (was !== undefined && clearable(fields).includes(flagOf(field))) cleared.push(flagOf(field))
  }
  return cleared.length === 0 ? input : { ...input, [clearName]: cleared }
}

/** Fields that both this form and somebody else have changed since it was opened, each to something of its own. */
export function overtakenFields(
  fields: readonly DerivedField[],
  values: FormValues,
  before: FormValues,
  stored: FormValues,
): DerivedField[] {
  return fields.filter(({ name }) => {
    const [value = '', was, now] = [values[name], before[name], stored[name]]
    return !isSame(value, was) && !isSame(value, now) && !isSame(was ?? '', now)
  })
}

/** The field of an operation that names the settings to clear, where an empty one would say nothing. */
export const clearName = 'clear'

function clearable(fields: readonly DerivedField[]): readonly string[] {
  return fields.find(({ name }) => name === clearName)?.choices ?? []
}

/** `maxBody` → `max-body` */
const flagOf = ({ name }: DerivedField) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

function isSame(left: FormValue, right: FormValue | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

function readValue(field: DerivedField, value: FormValue, was: FormValue | undefined): unknown {
  if (typeof value === 'boolean') return was === undefined && value === (field.fallback === true) ? undefined : value
  // What is written in the form stands for the file that the command line reads.
  if (field.syntax === 'files') return isBlank(value) ? undefined : { [`${flagOf(field)}.yaml`]: String(value) }
  if (field.shape === 'pairs') return readPairs(value, was)
  if (Array.isArray(value)) return value.length === 0 && was === undefined ? undefined : value
  const text = field.secret ? value : value.trim()
  if (field.shape === 'list') return readLines(text, was)
  if (text === '') return was !== undefined && field.nullable ? null : undefined
  return field.shape === 'number' ? Number(text) : text
}

function readLines(text: string, was: FormValue | undefined): string[] | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return lines.length === 0 && was === undefined ? undefined : lines
}

/** A pair that was taken away is sent empty: that is how the contract removes one. */
function readPairs(value: FormValue, was: FormValue | undefined): Record<string, string> | undefined {
  const pairs = Array.isArray(value) ? value.filter((pair) => Array.isArray(pair)) : []
  const given = Object.fromEntries(pairs.map(([name = '', text = '']) => [name.trim(), text]).filter(([name]) => name))
  const removed = Array.isArray(was) ? was.flatMap((pair) => (Array.isArray(pair) ? [pair[0] ?? ''] : [])) : []
  for (const name of removed) given[name] ??= ''
  return Object.keys(given).length === 0 ? undefined : given
}

/**
 * What is wrong before anything is sent, by field. A number that is none would be sent as null, which clears a limit. In a
 * form of what stands (`before`) nothing is missing.
 */
export function problemsOf(
  fields: readonly DerivedField[],
  values: FormValues,
  before: FormValues | null,
): Record<string, string> {
  const missing = before === null ? fields.filter(({ name, required }) => required && isBlank(values[name])) : []
  const wrong = fields.filter(({ name, shape }) => shape === 'number' && !isNumber(values[name]))
  return Object.fromEntries([
    ...missing.map(({ name }) => [name, 'Required']),
    ...wrong.map(({ name }) => [name, 'Must be a number, like 1000 or 0.5']),
  ])
}

function isNumber(value: FormValue | undefined): boolean {
  return isBlank(value) || Number.isFinite(Number(value))
}

function isBlank(value: FormValue | undefined): boolean {
  if (typeof value === 'boolean') return false
  return value === undefined || (typeof value === 'string' ? value.trim() === '' : value.length === 0)
}

export type FieldErrors = Readonly<Record<string, string>>

/** What is said of a field holds until it is written in. */
export function withoutChanged(errors: FieldErrors, changed: ReadonlySet<string>): FieldErrors {
  return Object.fromEntries(Object.entries(errors).filter(([name]) => !changed.has(name)))
}
