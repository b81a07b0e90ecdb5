import { stripVTControlCharacters } from 'node:util'
import { type Command, type CommanderError, Help } from 'commander'
import { closestName } from '../src/core/closest-names.ts'
import { exitStatus, usageFault } from './fault.ts'
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

const widest = 120

export function helpDevice(io: Io): HelpDevice {
  return {
    width: Math.min(io.stdout.isTerminal ? (io.stdout.columns ?? 80) : 100, widest),
    colour: wantsColour(io.stdout, io.environment),
  }
}

/** Makes a command speak in our voice: help as a value, usage errors as faults that name the nearest known word. */
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
      if (error.code !== 'commander.help') throw rephrase(error, command)
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

function rephrase(error: CommanderError, command: Command): Error {
  const [cause = '', suggestion] = error.message.replace(/^error: /, '').split('\n')
  const near = verbOf(error, cause, command) ?? nearOf(cause, suggestion)
  const meant = error.code === 'commander.unknownCommand' && command.parent === null ? meaningOf(cause) : null
  if (meant !== null) return usageFault(causeOf(error.code, cause, command), `See spgw ${meant} --help.`)
  const otherWay = otherWays[`${command.name()} ${namedIn(cause)}`]
  if (otherWay !== undefined) return usageFault(causeOf(error.code, cause, command), otherWay)
  const hint = near === undefined ? `See ${pathOf(command)} --help.` : `Did you mean ${near.replace(/^one of /, '')}?`
  return usageFault(causeOf(error.code, cause, command), hint)
}

/** A flag that shares only its first letters is another one: `--force` is not meant by `--format`. */
function nearOf(cause: string, suggestion = ''): string | undefined {
  const near = /\(Did you mean (.+)\?\)/.exec(suggestion)?.[1]
  const bare = (flag: string) => flag.replace(/^-+/, '')
  const isFar = near?.startsWith('--') && closestName(bare(namedIn(cause)), [bare(near)]) === null
  return isFar ? undefined : near
}

/** What others call it: a new user asks for what is wanted, not for how it is named here. */
const meanings: Readonly<Record<string, string>> = {
  ...{ budget: 'policies', limit: 'policies', quota: 'policies', guardrail: 'policies', rule: 'policies' },
  ...{ spend: 'requests stats', usage: 'keys usage', stat: 'requests stats', log: 'requests' },
  ...{ model: 'routes', team: 'projects', user: 'operators', webhook: 'alerts' },
  ...{ config: 'apply', plan: 'diff', login: 'console link', start: 'serve', tail: 'requests tail' },
}

/** Flags that other programs have, by command, where a command of its own does that here. */
const otherWays: Readonly<Record<string, string>> = {
  'apply --dry-run': 'To see what it would change: spgw diff -f FILE',
}

const verbs: Readonly<Record<string, string>> = {
  ...{ delete: 'remove', rm: 'remove', destroy: 'remove', roll: 'rotate', renew: 'rotate', disable: 'revoke' },
  ...{ get: 'show', describe: 'show', info: 'show', ls: 'list', update: 'edit', change: 'edit', new: 'add' },
}

function verbOf({ code }: CommanderError, message: string, { commands }: Command): string | undefined {
  const verb = code === 'commander.unknownCommand' ? verbs[namedIn(message)] : undefined
  return commands.find((command) => command.name() === verb || command.aliases().includes(verb ?? ''))?.name()
}

function meaningOf(message: string): string | null {
  const named = namedIn(message)
  return meanings[named] ?? meanings[named.replace(/s$/, '')] ?? null
}

function namedIn(message: string): string {
  return /'([^']*)'/.exec(message)?.[1]?.toLowerCase() ?? ''
}

function causeOf(code: string, message: string, command: Command): string {
  const quoted = /'([^']*)'/.exec(message)?.[1] ?? ''
  if (code === 'commander.unknownOption') return `Unknown flag ${quoted}${placeOf(command)}.`
  if (code === 'commander.unknownCommand') return `Unknown command ${quoted}${placeOf(command)}.`
  if (code === 'commander.excessArguments') return `Too many arguments${placeOf(command)}.`
  if (code === 'commander.optionMissingArgument')
    return `${quoted.replace(/ .*$/, '').replace(/,$/, '')} needs a value.`
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`
}

function placeOf(command: Command): string {
  return command.parent === null ? '' : ` for ${pathOf(command)}`
}

/** `spgw providers add` */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

export function renderExamples(examples: readonly string[]): string {
  return examples.length === 0 ? '' : `\nExamples:\n${examples.map((line) => `  spgw ${line}`).join('\n')}`
}
