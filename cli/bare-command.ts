import { Command } from 'commander'
import { type HelpDevice, prepareHelp } from './help.ts'

export function createCommand(name: string, device: HelpDevice): Command {
  const command = new Command(name).helpCommand(false)
  prepareHelp(command, device)
  return command
}

/** A command line was for a command that had only been named; the program has to be built whole. */
export class OnlyNamed extends Error {}

/** A command as lists of commands and suggestions need it: its name and a line about it. */
export function nameCommand(name: string, summary: string, aliases: readonly string[] = []): Command {
  const command = new Command(name).summary(summary).helpOption(false).allowUnknownOption().allowExcessArguments()
  for (const alias of aliases) command.alias(alias)
  return command.action(() => {
    throw new OnlyNamed(name)
  })
}

/** The options written on the command line, those before the area included (`spgw --json keys list`); nearer ones win. */
export function givenOptions(command: Command): Record<string, unknown> {
  const above = command.parent === null ? {} : givenOptions(command.parent)
  const own = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli')
  return { ...above, ...Object.fromEntries(own) }
}
