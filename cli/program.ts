import type { Command } from 'commander'
import { escapeControls } from '../src/admin/contract/show-value.ts'
import { createCommand } from './bare-command.ts'
import { exitStatus, type FaultReport, Interrupted, OutputClosed, reportFault } from './fault.ts'
import { addGlobalOptions, readGlobalOptions } from './global-options.ts'
import { HelpShown, helpDevice } from './help.ts'
import { type Io, wantsColour } from './io.ts'
import { buildLocal, type LocalCommand } from './local-command.ts'
import type { Operation } from './operation.ts'
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

/** Every command of spgw: the local ones, and one for each operation of the contract, if they are wanted. `finish` is told the exit status. */
export async function buildProgram(
  dependencies: Dependencies,
  finish: (status: number) => void,
  wanted: 'all' | 'local' = 'all',
): Promise<Command> {
  const { io, version, local } = dependencies
  const device = helpDevice(io)
  const program = createCommand('spgw', device)
    .description('A self-hosted gateway to model providers.')
    .usage('<command> [flags]')
    .version(version, '--version', 'show the version')
    .enablePositionalOptions()
  addGlobalOptions(program, ['project', 'environment'])
  for (const command of local) {
    program.addCommand(
      buildLocal(command, device, async (values) => {
        finish(await command.run(values, io, readGlobalOptions(values)))
      }),
    )
  }
  if (wanted === 'all') await addContract(program, dependencies, finish)
  return program
}

/** What knows schemas is loaded here. */
async function addContract(
  program: Command,
  { operations, connect, io, run }: Dependencies,
  finish: (status: number) => void,
): Promise<void> {
  const { addOperations } = await import('./operation-commands.ts')
  addOperations(program, await operations(), io, async (invocation) => {
    const start = run ?? (await import('./run.ts')).runOperation
    finish(await start(invocation, connect, io))
  })
}

/** Whether the first word of the command line, global flags and their values left out, is a local command. */
function isLocal(argv: readonly string[], { io, local }: Dependencies): boolean {
  const reader = createCommand('spgw', helpDevice(io)).enablePositionalOptions()
  addGlobalOptions(reader, [])
  for (const { name } of local) reader.addCommand(createCommand(name, helpDevice(io)))
  const [word] = reader.parseOptions([...argv]).operands
  return local.some(({ name }) => name === word)
}

/** Runs one command line (without `node` and the script) and gives the exit status. Never ends the process itself. */
export async function runCli(argv: readonly string[], dependencies: Dependencies): Promise<number> {
  const { io } = dependencies
  let status: number = exitStatus.done
  try {
    const wanted = isLocal(argv, dependencies) ? 'local' : 'all'
    const program = await buildProgram(
      dependencies,
      (given) => {
        status = given
      },
      wanted,
    )
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
