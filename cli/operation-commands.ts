import type { Command } from 'commander'
import { createCommand } from './bare-command.ts'
import { buildCommand } from './command.ts'
import { addGlobalOptions } from './global-options.ts'
import { type HelpDevice, helpDevice, renderExamples } from './help.ts'
import type { Io } from './io.ts'
import type { Operation } from './operation.ts'
import type { Invocation } from './run.ts'

/** Gives the program a command for each operation of the contract, in the order of the contract. */
export function addOperations(
  program: Command,
  operations: readonly Operation[],
  io: Io,
  start: (invocation: Invocation) => Promise<void>,
): void {
  const device = helpDevice(io)
  program.addHelpText('after', renderExamples(firstExamples(operations, setupOrder)))
  for (const operation of operations) {
    const area = openArea(program, operation, operations, device)
    area.addCommand(buildCommand(operation, device, io.environment, start))
  }
}

/** The command of an operation's area (`providers credentials`), made when its first operation comes. */
function openArea(program: Command, operation: Operation, all: readonly Operation[], device: HelpDevice): Command {
  let place = program
  for (const [depth, word] of operation.path.slice(0, -1).entries()) {
    let area = place.commands.find((known) => known.name() === word)
    if (area === undefined) {
      const path = operation.path.slice(0, depth + 1)
      area = createArea(path, all, device)
      place.addCommand(area)
    }
    place = area
  }
  return place
}

function createArea(path: readonly string[], all: readonly Operation[], device: HelpDevice): Command {
  const within = all.filter(({ path: other }) => path.every((word, depth) => other[depth] === word))
  const verbs = [...new Set(within.map((operation) => operation.path[path.length]))]
  const area = createCommand(path.at(-1) ?? '', device)
    .summary(verbs.join(', '))
    .usage('<verb> [flags]')
    .enablePositionalOptions()
  addGlobalOptions(area, [])
  area.addHelpText('after', renderExamples(firstExamples(within).slice(0, 3)))
  return area
}

/** From a fresh gateway to the first request (product.md section 5). */
const setupOrder = ['providers.add', 'routes.add', 'keys.create', 'requests.tail']

/** The first example of each operation, or of those named, in their order. */
function firstExamples(operations: readonly Operation[], names?: readonly string[]): string[] {
  const chosen = names?.map((name) => operations.find((known) => known.name === name)) ?? operations
  return chosen.flatMap((operation) => operation?.meta.examples?.slice(0, 1) ?? [])
}
