import { Command } from 'commander'
import { type HelpDevice, prepareHelp } from './help.ts'

export function createCommand(name: string, device: HelpDevice): Command {
  const command = new Command(name).helpCommand(false)
  prepareHelp(command, device)
  return command
}

/** The options written on the command line, those before the area included (`spgw --json keys list`); nearer ones win. */
export function givenOptions(command: Command): Record<string, unknown> {
  const above = command.parent === null ? {} : givenOptions(command.parent)
  const own = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli')
  return { ...above, ...Object.fromEntries(own) }
}
