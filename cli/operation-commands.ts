import type { Command } from 'commander'
import { areaSummaries } from './area-summaries.ts'
import { createCommand, nameCommand } from './bare-command.ts'
import { aliasesOf, buildCommand } from './command.ts'
import { addGlobalOptions } from './global-options.ts'
import { type HelpDevice, helpDevice, renderExamples } from './help.ts'
import type { Io } from './io.ts'
import type { Operation } from './operation.ts'
import type { Invocation } from './run.ts'

interface BuildContext {
  device: HelpDevice
  io: Io
  start: (invocation: Invocation) => Promise<void>
}

/**
 * Gives the program a command for each operation of the contract, in the order of the contract. With `words`, the command
 * that they lead to is built and all others are only named.
 */
export function addOperations(
  program: Command,
  operations: readonly Operation[],
  words: readonly string[] | null,
  io: Io,
  start: (invocation: Invocation) => Promise<void>,
): void {
  program.addHelpText('after', renderExamples(firstExamples(operations, setupOrder)))
  addBranch(program, operations, 0, words, { device: helpDevice(io), io, start })
}

/** The commands of one level: an operation, or the area of several. */
function addBranch(
  place: Command,
  operations: readonly Operation[],
  depth: number,
  words: readonly string[] | null,
  context: BuildContext,
): void {
  for (const name of new Set(operations.map(({ path }) => path[depth] ?? ''))) {
    const within = operations.filter(({ path }) => path[depth] === name)
    const own = within.find(({ path }) => path.length === depth + 1)
    const aliases = own === undefined ? [] : aliasesOf(own)
    const isWanted = words === null || words[0] === name || aliases.includes(words[0] ?? '')
    const rest = words?.slice(1) ?? null
    if (!isWanted) place.addCommand(nameCommand(name, own?.meta.summary ?? summaryOf(name, within, depth + 1), aliases))
    else if (own !== undefined)
      place.addCommand(buildCommand(own, context.device, context.io.environment, context.start))
    else place.addCommand(createArea(name, within, depth + 1, rest, context))
  }
}

function createArea(
  name: string,
  within: readonly Operation[],
  depth: number,
  words: readonly string[] | null,
  context: BuildContext,
): Command {
  const area = createCommand(name, context.device)
    .summary(summaryOf(name, within, depth))
    .description(depth === 1 && name in areaSummaries ? `${summaryOf(name, within, depth)}.` : '')
    .usage('<verb> [flags]')
    .enablePositionalOptions()
  addGlobalOptions(area, [])
  area.addHelpText('after', renderExamples(firstExamples(within).slice(0, 3)))
  addBranch(area, within, depth, words, context)
  return area
}

/** What a noun is for, or what can be done with it. */
function summaryOf(name: string, within: readonly Operation[], depth: number): string {
  const summary = depth === 1 ? areaSummaries[name] : undefined
  return summary ?? verbsOf(within, depth)
}

function verbsOf(within: readonly Operation[], depth: number): string {
  return [...new Set(within.map(({ path }) => path[depth]))].join(', ')
}

/** From a fresh gateway to the first request (product.md section 5). */
const setupOrder = ['providers.add', 'routes.add', 'keys.create', 'requests.tail']

/** The first example of each operation, or of those named, in their order. */
function firstExamples(operations: readonly Operation[], names?: readonly string[]): string[] {
  const chosen = names?.map((name) => operations.find((known) => known.name === name)) ?? operations
  return chosen.flatMap((operation) => operation?.meta.examples?.slice(0, 1) ?? [])
}
