import { aliasesOf } from '../command.ts'
import { commandWords } from '../command-words.ts'
import { globalFlags } from '../global-options.ts'
import { listNaming } from '../known-names.ts'
import type { LocalCommand } from '../local-command.ts'
import type { Field, Operation } from '../operation.ts'

/** One word that the shell may put in, with what it means. */
export interface Completion {
  value: string
  description: string
}

/** Names that only the gateway knows: what `list` answers, within the scope that was named. */
export interface LiveNames {
  list: Operation
  scope: Record<string, string>
}

export interface Suggestions {
  fixed: Completion[]
  live: LiveNames | null
}

const none: Suggestions = { fixed: [], live: null }

/** What can stand at the end of `words` (without `spgw`), of which the last is what has been typed so far, maybe ''. */
export function suggest(
  words: readonly string[],
  operations: readonly Operation[],
  local: readonly LocalCommand[],
): Suggestions {
  const before = words.slice(0, -1)
  const typed = words.at(-1) ?? ''
  const named = commandWords(before)
  const own = local.find(({ name }) => name === named[0])
  if (own !== undefined) return suggestLocal(own, named, typed)
  const { within, operation, depth } = descend(named, operations)
  if (operation !== null) return suggestOfOperation(operation, { before, typed, named: named.slice(depth) }, operations)
  if (typed.startsWith('-')) return fixed(globalFlags.flatMap(flagCandidates))
  if (depth < named.length) return none
  const nouns = depth === 0 ? local.map(({ name, summary }) => ({ value: name, description: summary })) : []
  return fixed([...nouns, ...verbsOf(within, depth)])
}

function fixed(candidates: Completion[]): Suggestions {
  return { fixed: candidates, live: null }
}

interface CommandMatch {
  within: readonly Operation[]
  operation: Operation | null
  /** How many of the words led here. */
  depth: number
}

function descend(words: readonly string[], operations: readonly Operation[]): CommandMatch {
  let within = operations
  for (const [depth, word] of words.entries()) {
    const own = within.find(
      (one) => one.path.length === depth + 1 && [one.path[depth], ...aliasesOf(one)].includes(word),
    )
    if (own !== undefined) return { within: [own], operation: own, depth: depth + 1 }
    const next = within.filter(({ path }) => path[depth] === word)
    if (next.length === 0) return { within, operation: null, depth }
    within = next
  }
  return { within, operation: null, depth: words.length }
}

function verbsOf(within: readonly Operation[], depth: number): Completion[] {
  return [...new Set(within.map(({ path }) => path[depth] ?? ''))].map((value) => {
    const own = within.find(({ path }) => path.length === depth + 1 && path[depth] === value)
    return { value, description: own?.meta.summary ?? '' }
  })
}

interface TypedWords {
  before: readonly string[]
  typed: string
  /** Plain words behind the verb; may hold values of the operation's own flags. */
  named: readonly string[]
}

function suggestOfOperation(operation: Operation, line: TypedWords, operations: readonly Operation[]): Suggestions {
  const { fields, meta } = operation
  const flag = /^--([\w-]+)$/.exec(line.before.at(-1) ?? '')?.[1]
  const valued = fields.find((field) => field.flag === flag && field.shape !== 'boolean' && !field.secret)
  if (valued !== undefined) return suggestValues(valued, operation, line, operations)
  if (line.typed.startsWith('-')) return fixed([...fields.flatMap(fieldFlags), ...globalFlags.flatMap(flagCandidates)])
  const positional = fields.filter(({ name }) => meta.positional?.includes(name) === true)
  const next = positional[Math.min(plainWords(line, fields).length, positional.length - 1)]
  const isFull = plainWords(line, fields).length >= positional.length && next?.shape !== 'list'
  return next === undefined || isFull ? none : suggestValues(next, operation, line, operations)
}

/** Words behind the verb that are no flag's value. */
function plainWords({ before, named }: TypedWords, fields: readonly Field[]): string[] {
  return named.filter((word) => {
    const flag = before[before.lastIndexOf(word) - 1] ?? ''
    return !fields.some((field) => `--${field.flag}` === flag && field.shape !== 'boolean')
  })
}

function suggestValues(
  field: Field,
  operation: Operation,
  { before }: TypedWords,
  operations: readonly Operation[],
): Suggestions {
  if (field.choices !== null) return fixed(field.choices.map((value) => ({ value, description: '' })))
  const list = listNaming(field, operation, operations)
  return list === null ? none : { fixed: [], live: { list, scope: scopeOf(before) } }
}

/** `-p` and `-e` as far as they have been written. */
function scopeOf(before: readonly string[]): Record<string, string> {
  const flags: Record<string, string> = {
    '-p': 'project',
    '--project': 'project',
    '-e': 'environment',
    '--environment': 'environment',
  }
  const scope: Record<string, string> = {}
  for (const [place, word] of before.entries()) {
    const name = flags[word]
    const value = before[place + 1]
    if (name !== undefined && value !== undefined) scope[name] = value
  }
  return scope
}

function fieldFlags(field: Field): Completion[] {
  const { flag, description, shape, secret, fallback } = field
  if (secret) return ['stdin', 'env'].map((from) => ({ value: `--${flag}-${from}`, description }))
  if (shape !== 'boolean') return [{ value: `--${flag}`, description }]
  return [{ value: fallback === true ? `--no-${flag}` : `--${flag}`, description }]
}

function flagCandidates({ flags, description }: { flags: string; description: string }): Completion[] {
  const long = /--[\w-]+/.exec(flags)?.[0]
  return long === undefined ? [] : [{ value: long, description }]
}

function suggestLocal(command: LocalCommand, named: readonly string[], typed: string): Suggestions {
  if (typed.startsWith('-')) return fixed([...command.options, ...globalFlags].flatMap(flagCandidates))
  const argument = command.arguments?.[named.length - 1]
  return fixed((argument?.choices ?? []).map((value) => ({ value, description: '' })))
}
