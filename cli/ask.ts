import { createReadStream } from 'node:fs'
import { fillIn } from '../src/admin/contract/fill-in.ts'
import { errorCode } from '../src/core/caught.ts'
import { hasSecretForm, keyPrefix } from '../src/core/secrets/gateway-key.ts'
import { readBounded, tooLong } from '../src/core/text/bounded-text.ts'
import { CommandFault, exitStatus, usageFault } from './fault.ts'
import { type ParsedFlags, readValue } from './flags.ts'
import { canAsk, type Io } from './io.ts'
import type { Field, Operation } from './operation.ts'

/** What a field may be, as the gateway knows it; none: anything. */
export type NamesFor = (field: Field, input: Readonly<Record<string, unknown>>) => Promise<readonly string[]>

/** The whole input of an operation: what was given, its secrets fetched, and, on a terminal, what was missing asked for. */
export async function completeInput(
  operation: Operation,
  parsed: ParsedFlags,
  io: Io,
  namesFor: NamesFor = async () => [],
): Promise<Record<string, unknown>> {
  const { fields } = operation
  const input = { ...parsed.input }
  const missing = fields.filter((field) => field.required && isMissing(field, input, parsed))
  if (missing.length > 0 && !canAsk(io)) throw nameMissing(operation, missing)
  for (const field of fields) {
    const source = parsed.secrets[field.name]
    if (source !== undefined) input[field.name] = await fetchSecret(field, source, io)
    else if (isMissing(field, input, parsed) && isAsked(operation, field, input, missing.length > 0, io)) {
      const answer = await askField(field, io, () => namesFor(field, input))
      if (answer !== undefined) input[field.name] = answer
    }
  }
  return input
}

function isMissing(field: Field, input: Record<string, unknown>, parsed: ParsedFlags): boolean {
  return input[field.name] === undefined && parsed.secrets[field.name] === undefined
}

/**
 * Required fields always. Optional ones only while making something new: a secret, which could not be a flag, and,
 * of someone who is being asked anyway, what has a question; and what nothing was given in place of.
 */
function isAsked(
  operation: Operation,
  field: Field,
  input: Readonly<Record<string, unknown>>,
  asking: boolean,
  io: Io,
): boolean {
  if (field.required) return true
  if (field.prompt === null || !canAsk(io) || !makesNew(operation)) return false
  return field.instead === undefined ? field.secret || asking : input[field.instead] === undefined
}

function makesNew(operation: Operation): boolean {
  return ['add', 'create'].includes(operation.path.at(-1) ?? '')
}

async function askField(field: Field, io: Io, names: () => Promise<readonly string[]>): Promise<unknown> {
  const text = field.prompt ?? (field.description || field.flag)
  const isNeeded = field.required || field.instead !== undefined
  const question = isNeeded ? text : `${text} (optional)`
  if (field.secret) return (await io.prompter.askHidden(question)).trim() || undefined
  if (field.shape === 'boolean') return io.prompter.confirm(question)
  if (field.choices !== null && field.shape !== 'list') return io.prompter.choose(text, field.choices)
  const known = isNeeded && field.shape === 'text' ? await names() : []
  if (known.length > 0) return io.prompter.choose(text, known)
  const answer = (await io.prompter.ask(question, { required: isNeeded })).trim()
  return answer === '' ? undefined : readValue(field, answer)
}

type TypedSecretSource = NonNullable<ParsedFlags['secrets'][string]>

async function fetchSecret(field: Field, source: TypedSecretSource, io: Io): Promise<string> {
  const value = await readSource(field, source, io)
  // A trailing line end is `echo`'s, not the credential's; a whole document keeps its inner lines.
  const secret = value.trim()
  if (secret !== '') return secret
  const place = source.from === 'stdin' ? 'Standard input' : `The ${source.from} ${source.name}`
  throw usageFault(`${place} contains no ${field.flag}.`, `Use ${secretFlags(field)}.`)
}

async function readSource(field: Field, source: TypedSecretSource, io: Io): Promise<string> {
  if (source.from === 'variable') return io.environment[source.name] ?? ''
  if (source.from === 'file') {
    const text = await readBounded(createReadStream(source.name)).catch((error: unknown) => refuse(source, error))
    if (text === null) throw usageFault(`${source.name} ${tooLong}.`, `Give a file that holds the ${field.flag} alone.`)
    return text
  }
  if (io.stdin.isTerminal && canAsk(io)) return io.prompter.askHidden(field.prompt ?? field.description)
  return io.stdin.readAll()
}

function refuse({ name }: Extract<TypedSecretSource, { name: string }>, error: unknown): never {
  const code = errorCode(error) ?? 'unknown'
  throw usageFault(`${name} cannot be read (${code}).`, 'Check the path and the permissions of the file.')
}

function secretFlags({ flag }: Field): string {
  return `--${flag}-stdin, --${flag}-env or --${flag}-file`
}

function nameMissing(operation: Operation, missing: readonly Field[]): CommandFault {
  const positional = operation.meta.positional ?? []
  const names = missing.map((field) => {
    if (positional.includes(field.name)) return `the argument ${field.flag.toUpperCase()}`
    return field.secret ? secretFlags(field) : `--${field.flag}`
  })
  return usageFault(
    `${operation.path.join(' ')} needs ${names.join(' and ')}.`,
    `See spgw ${operation.path.join(' ')} --help.`,
  )
}

/** `danger` operations: the person types the name; a script says `--yes`. */
export async function confirmDanger(
  operation: Operation,
  input: Record<string, unknown>,
  io: Io,
  yes: boolean,
): Promise<void> {
  if (operation.meta.effect !== 'danger' || yes) return
  const named = Object.fromEntries(Object.entries(input).map(([field, value]) => [field, withoutSecret(value)]))
  const consequence = fillIn(operation.meta.confirm ?? `${operation.meta.summary}.`, named)
  if (!canAsk(io)) throw usageFault(`Confirmation required: ${consequence}`, 'Add --yes to confirm.')
  const name = named[operation.meta.positional?.at(-1) ?? '']
  await io.stderr.write(`${consequence}\n`)
  const agreed =
    typeof name === 'string'
      ? (await io.prompter.ask(`Type ${name} to confirm`, { required: false })).trim() === name
      : await io.prompter.confirm('Continue?')
  if (!agreed) throw new CommandFault('Nothing was changed.', 'Run the command again to confirm it.', exitStatus.failed)
}

/** Who pastes a whole key is asked about it by its end. */
function withoutSecret(value: unknown): unknown {
  return typeof value === 'string' && hasSecretForm(value, keyPrefix) ? value.slice(-4) : value
}
