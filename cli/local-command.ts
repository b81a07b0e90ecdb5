import type { Command } from 'commander'
import { createCommand, givenOptions } from './bare-command.ts'
import { usageFault } from './fault.ts'
import { addGlobalOptions, type GlobalOptions } from './global-options.ts'
import { type HelpDevice, renderExamples } from './help.ts'
import type { Io } from './io.ts'
import type { GatewayClient } from './operation.ts'

export interface LocalArgument {
  name: string
  description: string
  optional?: boolean
  /** What it may be; absent: anything. */
  choices?: readonly string[]
}

/**
 * A command of this machine, handed in by the composition root: it works without a running gateway (`init`, `serve`,
 * `version`), or does something here with what a gateway says (`connect`).
 */
export interface LocalCommand {
  name: string
  summary: string
  /** Plain arguments, in order. */
  arguments?: readonly LocalArgument[]
  /** `flags` as commander writes them: `--listen <host:port>`. */
  options: readonly { flags: string; description: string }[]
  /** Command lines without the leading `spgw`. */
  examples: readonly string[]
  /** It calls the gateway, so that `--remote` means something to it. */
  reachesGateway?: boolean
  /**
   * Options and arguments by camel-case name; `gateway` is the one that the global flags name, but for what is changed of them. Resolves to the exit
   * status; a thrown error is reported by its `message`, `hint` and `exitStatus`.
   */
  run(
    options: Record<string, unknown>,
    io: Io,
    settings: GlobalOptions,
    gateway: (change?: Partial<GlobalOptions>) => Promise<GatewayClient>,
  ): Promise<number>
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
    .usage([...given.map(argumentTerm), '[flags]'].join(' '))
  for (const argument of given) command.argument(argumentTerm(argument), describe(argument))
  for (const { flags, description } of local.options) command.option(flags, description)
  addGlobalOptions(command, [])
  command.addHelpText('after', renderExamples(local.examples))
  return command.action(() => {
    const options = givenOptions(command)
    if (options.remote !== undefined && local.reachesGateway !== true) {
      throw usageFault(
        `${local.name} works on this machine only.`,
        'Remove --remote, or run the command on the machine of the gateway.',
      )
    }
    const named = given.map((argument, place): [string, unknown] => {
      const value: unknown = command.processedArgs[place]
      refuseUnknown(argument, value)
      return [argument.name, value]
    })
    return start({ ...options, ...Object.fromEntries(named) })
  })
}

export function argumentTerm({ name, optional }: LocalArgument): string {
  return optional === true ? `[${name}]` : `<${name}>`
}

function describe({ description, choices }: LocalArgument): string {
  return choices === undefined ? description : `${description}: ${choices.join(', ')}`
}

function refuseUnknown({ name, choices }: LocalArgument, value: unknown): void {
  if (typeof value !== 'string' || choices === undefined || choices.includes(value)) return
  throw usageFault(`${name.toUpperCase()} cannot be ${value}.`, `Use one of ${choices.join(', ')}.`)
}
