import { stripVTControlCharacters } from 'node:util'
import { type Command, type CommanderError, Help } from 'commander'
import { exitStatus } from './fault.ts'
import { type Io, wantsColour } from './io.ts'
import { makePaint } from './print/view.ts'

/** Where help goes and how it looks. Commander writes synchronously, so the text travels in a `HelpShown` instead. */
export interface HelpDevice {
  width: number
  colour: boolean
}

/** Ends a command by showing text: help that was asked for (status 0, stdout) or that is due (2, stderr). */
export class HelpShown extends Error {
  readonly text: string
  readonly status: number

  constructor(text: string, status: number) {
    super('help')
    this.text = text
    this.status = status
  }
}

/** Ends a command that was written wrongly; `misuse.ts` says what is wrong. */
export class Misused extends Error {
  readonly error: CommanderError
  readonly command: Command

  constructor(error: CommanderError, command: Command) {
    super(error.message)
    this.error = error
    this.command = command
  }
}

const widest = 120

export function helpDevice(io: Io): HelpDevice {
  return {
    width: Math.min(io.stdout.isTerminal ? (io.stdout.columns ?? 80) : 100, widest),
    colour: wantsColour(io.stdout, io.environment),
  }
}

/** Makes a command speak in our voice: help as a value, usage errors as `Misused`. */
export function prepareHelp(command: Command, device: HelpDevice): void {
  const paint = makePaint(device.colour)
  let text = ''
  command
    .configureHelp({
      minWidthToWrap: 20,
      formatHelp: (shown, helper) => putCommandsFirst(Help.prototype.formatHelp.call(helper, shown, helper)),
      // Commander says options; a person says flags, as the usage line does.
      styleTitle: (title) => paint('strong', title.replace('Options:', 'Flags:')),
      subcommandTerm: (sub) => sub.name(),
      subcommandDescription: (sub) => sub.summary() || sub.description(),
    })
    .configureOutput({
      writeOut: (part) => {
        text += part
      },
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => device.width,
      getErrHelpWidth: () => device.width,
      getOutHasColors: () => device.colour,
      getErrHasColors: () => device.colour,
    })
    .exitOverride((error) => {
      if (error.exitCode === 0) throw new HelpShown(text, exitStatus.done)
      // An area without a verb. Alone, `spgw` is a question; `spgw providers` in a script is a mistake.
      if (error.code !== 'commander.help') throw new Misused(error, command)
      text = ''
      command.outputHelp()
      throw new HelpShown(text, command.parent === null ? exitStatus.done : exitStatus.usage)
    })
}

/** What can be done matters more than the flags that everything takes. */
function putCommandsFirst(text: string): string {
  const blocks = text.trimEnd().split('\n\n')
  const commands = blocks.filter((block) => stripVTControlCharacters(block).startsWith('Commands:'))
  const flags = blocks.findIndex((block) => /^(Global f|F)lags:/.test(stripVTControlCharacters(block)))
  if (commands.length === 0 || flags < 0) return `${blocks.join('\n\n')}\n`
  const rest = blocks.filter((block) => !commands.includes(block))
  return `${[...rest.slice(0, flags), ...commands, ...rest.slice(flags)].join('\n\n')}\n`
}

export function renderExamples(examples: readonly string[]): string {
  return examples.length === 0 ? '' : `\nExamples:\n${examples.map((line) => `  spgw ${line}`).join('\n')}`
}
