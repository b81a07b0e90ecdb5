import { Option } from 'commander'
import { aliasesOf, allOption, argumentTerm, spansScopes } from '../command.ts'
import { describeFile } from '../file-name.ts'
import { describeField, optionsOf } from '../flags.ts'
import { globalFlags } from '../global-options.ts'
import { type LocalCommand, argumentTerm as localTerm } from '../local-command.ts'
import type { Operation } from '../operation.ts'

/** A word or a flag of a command line, and what it means. */
export interface Term {
  term: string
  meaning: string
}

/** One command as the pages about commands tell of it: the same words as its `--help`. */
export interface CommandEntry {
  /** `['keys', 'create']` */
  path: readonly string[]
  summary: string
  /** What stands behind the words: `<name> [flags]`. */
  usage: string
  aliases: readonly string[]
  arguments: readonly Term[]
  flags: readonly Term[]
  examples: readonly string[]
  /** Who may call it, for an operation; null: a command of this machine. */
  role: string | null
  isDangerous: boolean
}

/** All commands: those of this machine, then the operations in the order of the contract. */
export function listCommands(operations: readonly Operation[], local: readonly LocalCommand[]): CommandEntry[] {
  return [...local.map(describeLocal), ...operations.map(describeOperation)]
}

/** Taken by every command. */
export const globalTerms: readonly Term[] = globalFlags.map(({ flags, description }) => ({
  term: flags,
  meaning: description,
}))

function describeLocal(command: LocalCommand): CommandEntry {
  const { name, summary, options, examples, arguments: given = [] } = command
  return {
    path: [name],
    summary,
    usage: [...given.map(localTerm), '[flags]'].join(' '),
    aliases: [],
    arguments: given.map((argument) => {
      const choices = argument.choices === undefined ? '' : `: ${argument.choices.join(', ')}`
      return { term: argument.name, meaning: argument.description + choices }
    }),
    flags: options.map(({ flags, description }) => ({ term: flags, meaning: description })),
    examples,
    role: null,
    isDangerous: false,
  }
}

function describeOperation(operation: Operation): CommandEntry {
  const { path, meta, fields } = operation
  const positional = meta.positional ?? []
  const arguments_ = positional.flatMap((name) => fields.filter((field) => field.name === name))
  const flags = fields
    .filter(({ name }) => !positional.includes(name))
    .flatMap((field, _, all) => optionsOf(field, field === all.find(({ syntax }) => syntax === 'files')))
  const file = meta.show.as === 'file' ? meta.show : null
  const force = new Option('--force', 'Overwrite an existing file')
  return {
    path,
    summary: meta.summary,
    usage: [...(file === null ? positional.map((name) => argumentTerm(name, fields)) : ['[file]']), '[flags]'].join(
      ' ',
    ),
    aliases: aliasesOf(operation),
    arguments: [
      ...(file === null ? [] : [{ term: 'file', meaning: describeFile(file) }]),
      ...arguments_.map((field) => ({ term: field.flag, meaning: describeField(field) })),
    ],
    flags: [...flags, ...(spansScopes(operation) ? [new Option(...allOption)] : []), ...(file === null ? [] : [force])]
      .filter(({ hidden }) => !hidden)
      .map(({ flags: term, description }) => ({ term, meaning: description })),
    examples: meta.examples ?? [],
    role: meta.role,
    isDangerous: meta.effect === 'danger',
  }
}
