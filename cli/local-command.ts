import type { Command } from 'commander'
import { createCommand, givenOptions } from './bare-command.ts'
import { addGlobalOptions, type GlobalOptions } from './global-options.ts'
import { type HelpDevice, renderExamples } from './help.ts'
import type { Io } from './io.ts'

/** A command that works without a running gateway (`init`, `serve`, `version`), handed in by the composition root. */
export interface LocalCommand {
  name: string
  summary: string
  /** Plain arguments, in order; each is required. */
  arguments?: readonly { name: string; description: string }[]
  /** `flags` as commander writes them: `--listen <host:port>`. */
  options: readonly { flags: string; description: string }[]
  /** Command lines without the leading `spgw`. */
  examples: readonly string[]
  /** Options and arguments by camel-case name. Resolves to the exit status; a thrown error is reported by its `message`, `hint` and `exitStatus`. */
  run(options: Record<string, unknown>, io: Io, settings: GlobalOptions): Promise<number>
}

export function buildLocal(
  local: LocalCommand,
  device: HelpDevice,
  start: (options: Record<string, unknown>) => Promise<void>,
): Command {
  const given = local.arguments ?? []
  const command = createCommand(local.name, device)
    .description(`${local.summary}.`)
    .summary(local.summary)
    .usage([...given.map(({ name }) => `<${name}>`), '[flags]'].join(' '))
  for (const { name, description } of given) command.argument(`<${name}>`, description)
  for (const { flags, description } of local.options) command.option(flags, description)
  addGlobalOptions(command, [])
  command.addHelpText('after', renderExamples(local.examples))
  return command.action(() => {
    const named = given.map(({ name }, place): [string, unknown] => [name, command.processedArgs[place]])
    return start({ ...givenOptions(command), ...Object.fromEntries(named) })
  })
}
