import type { Command } from 'commander'
import { buildCommand, createCommand } from './command.ts'
import { exitStatus, type FaultReport, Interrupted, OutputClosed, reportFault } from './fault.ts'
import { addGlobalOptions, readGlobalOptions } from './global-options.ts'
import { type HelpDevice, HelpShown, helpDevice, renderExamples } from './help.ts'
import { type Io, wantsColour } from './io.ts'
import { buildLocal, type LocalCommand } from './local-command.ts'
import type { Operation } from './operation.ts'
import { escapeControls } from './print/value.ts'
import { makePaint } from './print/view.ts'
import type { Connect, Invocation } from './run.ts'

export interface Dependencies {
  /** Called only when the command line is for none of the local commands: the gateway itself needs no contract of its own. */
  operations(): Promise<readonly Operation[]>
  connect: Connect
  local: readonly LocalCommand[]
  io: Io
  version: string
  /** Replaced in tests of the flags alone; otherwise the real thing. */
  run?: (invocation: Invocation, connect: Connect, io: Io) => Promise<number>
}

/** Every command of spgw: the local ones, and one for each operation of the contract. `finish` is told the exit status. */
export function buildProgram(
  dependencies: Dependencies,
  operations: readonly Operation[],
  finish: (status: number) => void,
): Command {
  const { io, version, local, connect, run = runLoaded } = dependencies
  const device = helpDevice(io)
  const program = createCommand('spgw', device)
    .description('A self-hosted gateway to model providers.')
    .usage('<command> [flags]')
    .version(version, '--version', 'show the version')
    .enablePositionalOptions()
  addGlobalOptions(program, ['project', 'environment'])
  program.addHelpText('after', renderExamples(firstExamples(operations, setupOrder)))
  for (const command of local) {
    program.addCommand(
      buildLocal(command, device, async (values) => {
        finish(await command.run(values, io, readGlobalOptions(values)))
      }),
    )
  }
  for (const operation of operations) {
    const start = async (invocation: Invocation) => finish(await run(invocation, connect, io))
    const area = openArea(program, operation, operations, device)
    area.addCommand(buildCommand(operation, device, io.environment, start))
  }
  return program
}

async function runLoaded(invocation: Invocation, connect: Connect, io: Io): Promise<number> {
  const { runOperation } = await import('./run.ts')
  return runOperation(invocation, connect, io)
}

/** Whether the first word of the command line, global flags and their values left out, is a local command. */
function isLocal(argv: readonly string[], { io, local }: Dependencies): boolean {
  const reader = createCommand('spgw', helpDevice(io)).enablePositionalOptions()
  addGlobalOptions(reader, [])
  for (const { name } of local) reader.addCommand(createCommand(name, helpDevice(io)))
  const [word] = reader.parseOptions([...argv]).operands
  return local.some(({ name }) => name === word)
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

/** Runs one command line (without `node` and the script) and gives the exit status. Never ends the process itself. */
export async function runCli(argv: readonly string[], dependencies: Dependencies): Promise<number> {
  const { io } = dependencies
  let status: number = exitStatus.done
  try {
    const operations = isLocal(argv, dependencies) ? [] : await dependencies.operations()
    const program = buildProgram(dependencies, operations, (given) => {
      status = given
    })
    await program.parseAsync(argv, { from: 'user' })
    return status
  } catch (error) {
    return endWith(error, argv, io)
  }
}

async function endWith(error: unknown, argv: readonly string[], io: Io): Promise<number> {
  if (error instanceof OutputClosed) return exitStatus.done
  if (error instanceof Interrupted) return exitStatus.interrupted
  if (error instanceof HelpShown) {
    return showHelp(error, io)
  }
  const report = reportFault(error)
  await io.stderr.write(renderFault(report, argv.includes('--verbose'), io)).catch(ignoreClosed)
  return report.status
}

async function showHelp(help: HelpShown, io: Io): Promise<number> {
  const output = help.status === exitStatus.done ? io.stdout : io.stderr
  await output.write(help.text).catch(ignoreClosed)
  return help.status
}

/** One line with the cause, one with what to do; `--verbose` for the rest. */
function renderFault(report: FaultReport, verbose: boolean, io: Io): string {
  const paint = makePaint(wantsColour(io.stderr, io.environment))
  const cause = report.cause.split('\n').map(escapeControls).join('\n')
  const lines = [`${paint('bad', 'spgw:')} ${cause}`, escapeControls(report.hint)]
  if (verbose) lines.push('', paint('quiet', report.details))
  return `${lines.join('\n')}\n`
}

function ignoreClosed(error: unknown): void {
  if (!(error instanceof OutputClosed)) throw error
}
