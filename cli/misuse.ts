import type { Command, CommanderError } from 'commander'
import { closestName } from '../src/core/text/closest-names.ts'
import { type CommandFault, usageFault } from './fault.ts'
import type { Misused } from './help.ts'

/** What is wrong with a command line, in our voice, with the nearest known word. */
export function describeMisuse({ error, command }: Misused): CommandFault {
  const [cause = '', suggestion] = error.message.replace(/^error: /, '').split('\n')
  const near = verbOf(error, cause, command) ?? nearOf(cause, suggestion) ?? begunBy(error, cause, command)
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

/** Flags and verbs that other programs have, by command, where another one does that here. */
const otherWays: Readonly<Record<string, string>> = {
  'providers rotate': 'To replace its credential: spgw providers edit NAME --credential-stdin',
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

/** Commands of which somebody typed the beginning: `prov`. */
function begunBy({ code }: CommanderError, message: string, { commands }: Command): string | undefined {
  const word = namedIn(message)
  if (code !== 'commander.unknownCommand' || word.length < 2) return undefined
  const begun = commands.map((command) => command.name()).filter((name) => name.startsWith(word))
  return begun.length === 0 || begun.length > 3 ? undefined : begun.join(' or ')
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
