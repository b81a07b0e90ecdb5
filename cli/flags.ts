import { Argument, type Command, Option } from 'commander'
import { closestName } from '../src/core/text/closest-names.ts'
import { parseDuration, parseSize } from '../src/core/units.ts'
import { usageFault } from './fault.ts'
import type { Field } from './operation.ts'

/** Where a secret comes from; the value itself is never on the command line. */
type SecretSource = { from: 'stdin' } | { from: 'variable' | 'file'; name: string }

export interface ParsedFlags {
  /** What was given, in the types of the operation's input. */
  input: Record<string, unknown>
  secrets: Record<string, SecretSource>
}

/** Declares every field as an argument or as flags. All values arrive as text and are read by `readFlags`. */
export function declareFields(command: Command, fields: readonly Field[], positional: readonly string[]): void {
  for (const name of positional) {
    const field = fields.find((known) => known.name === name)
    if (field === undefined) throw new Error(`${command.name()}: the argument ${name} is no field of the input.`)
    // Optional for commander, so that a missing one can be asked for on a terminal.
    command.addArgument(new Argument(`[${field.flag}${field.shape === 'list' ? '...' : ''}]`, describeField(field)))
  }
  const firstFile = fields.find(({ syntax }) => syntax === 'files')
  for (const field of fields) {
    if (!positional.includes(field.name))
      for (const option of optionsOf(field, field === firstFile)) command.addOption(option)
  }
}

/** The flags of a field, one or two. `-f` is for the first that names files. */
export function optionsOf(field: Field, isFirstFile = true): Option[] {
  if (field.secret) return secretOptions(field)
  // Found out by the command itself.
  if (field.syntax === 'variables') return []
  const long = `--${field.flag}`
  if (field.shape === 'boolean') {
    return [
      new Option(long, describeField(field)).hideHelp(field.fallback === true),
      new Option(`--no-${field.flag}`, field.fallback === true ? describeField(field) : 'the opposite').hideHelp(
        field.fallback !== true,
      ),
    ]
  }
  // `-p` and `-e` keep their letters where a command has its own meaning for the word.
  if (field.syntax === 'files')
    return [new Option(`${isFirstFile ? '-f, ' : ''}${long} <path>`, describeFlag(field)).argParser(collect)]
  const short = field.flag === 'project' ? '-p, ' : field.flag === 'environment' ? '-e, ' : ''
  const option = new Option(`${short}${long} <${placeholder(field)}>`, describeFlag(field))
  return isRepeated(field) ? [option.argParser(collect)] : [option]
}

function secretOptions(field: Field): Option[] {
  return [
    new Option(
      `--${field.flag}-stdin`,
      `${describeField(field)}; read from standard input, or asked for on a terminal`,
    ),
    new Option(`--${field.flag}-env <variable>`, 'Same, from an environment variable'),
    new Option(`--${field.flag}-file <file>`, 'Same, from a file'),
    // Declared only to be refused with a hint: arguments are seen in process lists and shell histories.
    new Option(`--${field.flag} [value]`).hideHelp(),
  ]
}

function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value]
}

function isRepeated(field: Field): boolean {
  return field.shape === 'list' || field.shape === 'pairs'
}

function placeholder(field: Field): string {
  if (field.shape === 'pairs' || field.syntax === 'pairs') return 'k=v'
  if (field.syntax === 'duration' || field.syntax === 'size') return field.syntax
  if (field.syntax === 'target') return 'provider[:model]'
  if (field.shape === 'number') return 'number'
  return field.choices === null ? (field.flag.split('-').at(-1) ?? 'value') : 'choice'
}

/** Of an argument the usage line says that it is required; a flag says so itself. */
function describeFlag(field: Field): string {
  return describeField(field, field.required ? ['required'] : [])
}

/** What help says of a field. */
export function describeField(field: Field, more: readonly string[] = []): string {
  const notes: string[] = []
  if (field.choices !== null) notes.push(field.choices.join(', '))
  notes.push(...more)
  if (isRepeated(field)) notes.push('may be repeated')
  if (isPlain(field.fallback) && typeof field.fallback !== 'boolean') notes.push(`default: ${field.fallback}`)
  if (notes.length === 0) return field.description
  // Where the description itself ends with a note in brackets, there is one pair of brackets for all.
  const [text, own] = /^(.*) \(([^()]*)\)$/.exec(field.description)?.slice(1) ?? [field.description]
  const [choices, rest] = field.choices === null ? [[], notes] : [notes.slice(0, 1), notes.slice(1)]
  return `${text} (${[...choices, ...(own === undefined ? [] : [own]), ...rest].join('; ')})`
}

function isPlain(value: unknown): value is string | number | boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'boolean'
}

/** Reads what commander parsed. `options` by flag in camel case, as commander keeps them. */
export function readFlags(
  fields: readonly Field[],
  positional: readonly string[],
  given: { arguments: readonly unknown[]; options: Record<string, unknown> },
): ParsedFlags {
  const parsed: ParsedFlags = { input: {}, secrets: {} }
  for (const field of fields) {
    const place = positional.indexOf(field.name)
    const raw = place >= 0 ? given.arguments[place] : given.options[camelCase(field.flag)]
    if (field.secret) readSecretSource(field, given.options, parsed)
    else if (raw !== undefined) {
      if (raw === 'none') rejectNone(field, fields)
      parsed.input[field.name] = readValue(field, raw, place >= 0)
    }
  }
  return parsed
}

/** Some settings are unset by the word `none`; those that are not name the flag that unsets them. */
function rejectNone({ flag, choices, nullable, shape }: Field, fields: readonly Field[]): void {
  const isValue = nullable || (choices === null ? shape !== 'number' : choices.includes('none'))
  const clear = fields.find(({ name }) => name === 'clear')
  if (!isValue && clear?.choices?.includes(flag) === true)
    throw usageFault(`--${flag} cannot be none.`, `To unset it: --clear ${flag}.`)
}

function readSecretSource(field: Field, options: Record<string, unknown>, parsed: ParsedFlags): void {
  const name = camelCase(field.flag)
  const hint = `Use --${field.flag}-stdin, --${field.flag}-env VARIABLE or --${field.flag}-file FILE.`
  if (options[name] !== undefined) {
    throw usageFault(`--${field.flag} takes no value: other users could see it on the command line.`, hint)
  }
  const given = (['stdin', 'env', 'file'] as const).flatMap((from) => {
    const value = options[`${name}${from[0]?.toUpperCase()}${from.slice(1)}`]
    return typeof value === 'string' || value === true ? [{ from, value: String(value) }] : []
  })
  const [source, second] = given
  if (source === undefined) return
  if (second !== undefined) {
    const flags = `--${field.flag}-${source.from} and --${field.flag}-${second.from}`
    throw usageFault(`${flags} cannot be used together.`, 'Remove one of them.')
  }
  const { from, value } = source
  parsed.secrets[field.name] = from === 'stdin' ? { from } : { from: from === 'env' ? 'variable' : from, name: value }
}

/** One field's text (or texts) in the type of the input. A nullable field is emptied by the word `none`. */
export function readValue(field: Field, raw: unknown, asArgument = false): unknown {
  const label = asArgument ? field.flag.toUpperCase() : `--${field.flag}`
  if (field.shape === 'boolean') return raw === true
  // Names so far: their texts are read when the command runs.
  if (field.syntax === 'files') return raw
  if (Array.isArray(raw)) return readMany(field, label, raw.map(String))
  const text = String(raw)
  if (isRepeated(field)) return readMany(field, label, [text])
  if (field.nullable && text === 'none') return null
  return readOne(field, label, text)
}

function readMany(field: Field, label: string, texts: readonly string[]): unknown {
  if (field.nullable && texts.length === 1 && texts[0] === 'none') return null
  if (field.shape === 'pairs') return Object.fromEntries(texts.map((text) => readPair(label, text)))
  // A comma separates values only where the field says so: targets and patterns have their own use for it.
  const single = field.syntax === 'list' ? texts.flatMap((text) => text.split(',')).map((text) => text.trim()) : texts
  return single.filter((text) => text !== '').map((text) => readOne(field, label, text))
}

function readPair(label: string, text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw usageFault(`${label} ${text} is not in the form NAME=VALUE.`, `Write it as ${label} NAME=VALUE.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

function readOne(field: Field, label: string, text: string): string | number {
  if (field.choices !== null && !field.choices.includes(text)) {
    const near = closestName(text, field.choices)
    const hint = near === null ? `Use one of ${field.choices.join(', ')}.` : `Did you mean ${near}?`
    throw usageFault(`${label} cannot be ${text}.`, hint)
  }
  if (field.syntax === 'duration' && field.shape === 'number') {
    return readUnit(label, text, parseDuration(text), '250ms, 5s, 30m, 24h or 90d')
  }
  if (field.syntax === 'size' && field.shape === 'number') {
    return readUnit(label, text, parseSize(text), '64KB, 100MB or 2GB')
  }
  if (field.shape !== 'number') return text
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(number)) throw usageFault(`${label} ${text} is not a number.`, `Give ${label} a number.`)
  return number
}

function readUnit(label: string, text: string, amount: number | null, forms: string): number {
  if (amount === null) throw usageFault(`${label} cannot be ${text}.`, `Write it like ${forms}.`)
  return amount
}

/** As commander names an option's value: `base-url` → `baseUrl`. */
function camelCase(flag: string): string {
  return flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}
