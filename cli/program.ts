import type { Command } from 'commander'
import { escapeControls } from '../src/core/text/escape-controls.ts'
import { createCommand, nameCommand, OnlyNamed } from './bare-command.ts'
import { commandWords } from './command-words.ts'
import { completeWord } from './completion/complete-word.ts'
import type { Dependencies } from './dependencies.ts'
import { exitStatus, type FaultReport, Interrupted, OutputClosed, reportFault } from './fault.ts'
import { addGlobalOptions, type GlobalOptions, readGlobalOptions } from './global-options.ts'
import { HelpShown, helpDevice, Misused } from './help.ts'
import { type Io, wantsColour, withoutColour } from './io.ts'
import { buildLocal, type LocalCommand } from './local-command.ts'
import { makePaint } from './print/view.ts'

/**
 * Every command of spgw: the local ones, and one for each operation of the contract. With `words`, the command that they
 * lead to is built and all others are only named; operations are left out when it is a local one. `finish` is told the exit status.
 */
export async function buildProgram(
  dependencies: Dependencies,
  finish: (status: number) => void,
  words: readonly string[] | null = null,
): Promise<Command> {
  const { io, version, local } = dependencies
  const device = helpDevice(io)
  const program = createCommand('spgw', device)
    .description('A self-hosted gateway to model providers.')
    .usage('<command> [flags]')
    .version(version, '--version', 'Show the version')
    .enablePositionalOptions()
  addGlobalOptions(program, ['project', 'environment', 'columns', 'top'])
  for (const command of local) {
    if (words !== null && words[0] !== command.name) program.addCommand(nameCommand(command.name, command.summary))
    else program.addCommand(buildLocal(command, device, (values) => runLocal(command, values, dependencies, finish)))
  }
  if (!local.some(({ name }) => name === words?.[0])) await addContract(program, dependencies, words, finish)
  return program
}

async function runLocal(
  command: LocalCommand,
  values: Record<string, unknown>,
  { io, connect }: Dependencies,
  finish: (status: number) => void,
): Promise<void> {
  const settings = readGlobalOptions(values)
  const reachGateway = async (change: Partial<GlobalOptions> = {}) =>
    (await import('./operation-bundle.ts')).reach(connect, { ...settings, ...change }, io)
  finish(await command.run(values, io, settings, reachGateway))
}

async function addContract(
  program: Command,
  { operations, connect, io, run }: Dependencies,
  words: readonly string[] | null,
  finish: (status: number) => void,
): Promise<void> {
  const { addOperations } = await import('./operation-bundle.ts')
  addOperations(program, await operations(), words, io, async (invocation) => {
    const start = run ?? (await import('./operation-bundle.ts')).runOperation
    finish(await start(invocation, connect, io, operations))
  })
}

/** Runs one command line (without `node` and the script) and gives the exit status. Never ends the process itself. */
export async function runCli(argv: readonly string[], given: Dependencies): Promise<number> {
  const dependencies = argv.includes('--no-color') ? { ...given, io: withoutColour(given.io) } : given
  // As git and others have it.
  const line = expandMembers(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv)
  let status: number = exitStatus.done
  const parse = async (words: readonly string[] | null) => {
    const program = await buildProgram(
      dependencies,
      (exit) => {
        status = exit
      },
      words,
    )
    await program.parseAsync(line, { from: 'user' })
  }
  try {
    if (argv[0] === completeWord) {
      const { complete } = await import('./completion/complete.ts')
      await complete(argv.slice(1), dependencies)
      return status
    }
    await parse(commandWords(line)).catch((error: unknown) => {
      if (error instanceof OnlyNamed) return parse(null)
      throw error
    })
    return status
  } catch (error) {
    return endWith(error, argv, dependencies.io)
  }
}

async function endWith(error: unknown, argv: readonly string[], io: Io): Promise<number> {
  if (error instanceof OutputClosed) return exitStatus.done
  if (error instanceof Interrupted) return exitStatus.interrupted
  if (error instanceof HelpShown) {
    return showHelp(error, io)
  }
  const isMisused = error instanceof Misused
  const report = reportFault(isMisused ? (await import('./misuse.ts')).describeMisuse(error) : error)
  await io.stderr.write(renderFault(report, argv.includes('--verbose'), io)).catch(ignoreClosed)
  return report.status
}

async function showHelp(help: HelpShown, io: Io): Promise<number> {
  const output = help.status === exitStatus.done ? io.stdout : io.stderr
  await output.write(help.text).catch(ignoreClosed)
  return help.status
}

/** A line for each cause, mostly one, and one with what to do; `--verbose` for the rest. */
function renderFault(report: FaultReport, verbose: boolean, io: Io): string {
  const paint = makePaint(wantsColour(io.stderr, io.environment))
  const cause = [...report.cause.split('\n'), ...report.otherCauses].map(escapeControls).join('\n')
  const lines = [`${paint('bad', 'spgw:')} ${cause}`, escapeControls(report.hint)]
  if (verbose) lines.push('', paint('quiet', report.details))
  return `${lines.join('\n')}\n`
}

function ignoreClosed(error: unknown): void {
  if (!(error instanceof OutputClosed)) throw error
}

/** `--json=a,b` is `--json --columns a,b`; a bare `--json` has no value, so that it never takes the next word. */
function expandMembers(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.flatMap((word, place) => {
    const isFlag = word.startsWith('--json=') && (end < 0 || place < end)
    return isFlag ? ['--json', `--columns=${word.slice('--json='.length)}`] : [word]
  })
}
