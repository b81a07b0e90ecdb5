import type { Command } from 'commander'
import { createCommand, givenOptions } from './bare-command.ts'
import type { FileTarget } from './download.ts'
import { describeFile, type FileName } from './file-name.ts'
import { declareFields, readFlags } from './flags.ts'
import { addGlobalOptions, type GlobalOptions, readGlobalOptions } from './global-options.ts'
import { type HelpDevice, renderExamples } from './help.ts'
import type { EnvironmentVariables } from './io.ts'
import type { Field, Operation } from './operation.ts'
import type { Invocation } from './run.ts'

/** One operation of the contract as a command; `start` gets what was read from its flags. */
export function buildCommand(
  operation: Operation,
  device: HelpDevice,
  environment: EnvironmentVariables,
  start: (invocation: Invocation) => Promise<void>,
): Command {
  const { meta, path, fields } = operation
  const positional = meta.positional ?? []
  const terms = meta.show.as === 'file' ? ['[file]'] : positional.map((name) => argumentTerm(name, fields))
  const command = createCommand(path.at(-1) ?? '', device)
    .description(`${meta.summary}.`)
    .summary(meta.summary)
    .usage([...terms, '[flags]'].join(' '))
  for (const alias of aliasesOf(operation)) command.alias(alias)
  declareFields(command, fields, positional)
  if (spansScopes(operation)) command.option(...allOption)
  if (meta.show.as === 'file') declareFile(command, meta.show)
  addGlobalOptions(command, 'columns' in meta.show ? ['columns'] : [])
  command.addHelpText('after', renderExamples(meta.examples ?? []))
  return command.action(async () => {
    const options = givenOptions(command)
    // `--output` of a price is no output format: --json is left for that.
    const isOwn = fields.some(({ flag }) => flag === 'output')
    const settings = readGlobalOptions(isOwn ? { ...options, output: undefined } : options)
    const parsed = readFlags(fields, positional, { arguments: command.processedArgs, options })
    if (options.all === true && spansScopes(operation)) leaveScope(parsed.input)
    else fillScope(parsed.input, fields, positional, settings, environment)
    const target = meta.show.as === 'file' ? readFile(command.processedArgs[0], options) : null
    await start({ operation, parsed, settings, target })
  })
}

/** The file is this command line's own business; the gateway sends bytes, wherever it runs. */
function declareFile(command: Command, name: FileName): void {
  command.argument('[file]', describeFile(name))
  command.option('--force', 'Overwrite an existing file')
}

function readFile(path: unknown, options: Record<string, unknown>): FileTarget {
  return { path: typeof path === 'string' ? path : null, force: options.force === true }
}

/** Areas say `add`, keys say `create`; both words are accepted everywhere. */
export function aliasesOf({ path, meta }: Operation): string[] {
  const verb = path.at(-1) ?? ''
  const twin = { add: 'create', create: 'add' }[verb]
  return [...new Set([...(meta.aliases ?? []), ...(twin === undefined ? [] : [twin])])].filter((word) => word !== verb)
}

export function argumentTerm(name: string, fields: readonly Field[]): string {
  const field = fields.find((known) => known.name === name)
  const term = field?.flag ?? name
  return field?.required === false ? `[${term}]` : `<${term}>`
}

export const allOption = ['--all', 'Include every project and environment, whatever else is set'] as const

/**
 * Whether it covers all projects unless it is told one, so that `--all` takes that back (contract.md rule 28). What has a field of that
 * name tells the gateway itself.
 */
export function spansScopes({ meta, fields }: Operation): boolean {
  const project = fields.find(({ name }) => name === 'project')
  if (meta.effect !== 'read' || project === undefined || fields.some(({ name }) => name === 'all')) return false
  return project.shape === 'text' && !project.required && project.fallback === undefined
}

function leaveScope(input: Record<string, unknown>): void {
  delete input.project
  delete input.environment
}

/** `$SPGW_PROJECT` and `$SPGW_ENVIRONMENT` stand in for the flags; a field that limits to several projects is not meant. */
function fillScope(
  input: Record<string, unknown>,
  fields: readonly Field[],
  positional: readonly string[],
  settings: GlobalOptions,
  environment: EnvironmentVariables,
): void {
  const scope = {
    project: settings.project ?? environment.SPGW_PROJECT,
    environment: settings.environment ?? environment.SPGW_ENVIRONMENT,
  }
  for (const [name, value] of Object.entries(scope)) {
    const field = fields.find((known) => known.name === name && known.shape === 'text')
    if (field !== undefined && !positional.includes(name) && value) input[name] ??= value
  }
}
