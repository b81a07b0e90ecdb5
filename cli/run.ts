import { completeInput, confirmDanger } from './ask.ts'
import type { FileTarget } from './download.ts'
import { CommandFault, exitStatus, usageFault } from './fault.ts'
import type { Field } from './fields.ts'
import type { ParsedFlags } from './flags.ts'
import type { GlobalOptions } from './global-options.ts'
import type { Io } from './io.ts'
import { callOperation, type Operation } from './operation.ts'
import { printLive } from './print/live.ts'
import { printResult } from './print/result.ts'

/** One command line, read: what to do, with what, and how to show it. */
export interface Invocation {
  operation: Operation
  fields: readonly Field[]
  parsed: ParsedFlags
  settings: GlobalOptions
  /** Of an operation that is shown as a file; null: of any other. */
  target: FileTarget | null
}

export interface ConnectOptions {
  /** `--data-dir`; null: look where `socket-path.ts` says. */
  dataDir: string | null
  /** How long to wait for a gateway that is starting; 0 with `--no-wait`. */
  waitMs: number
}

/** Gives the typed client. Rejects with `GatewayNotRunning`. */
export type Connect = (options: ConnectOptions) => Promise<object>

/** How long a command waits for a gateway that is starting (contract.md, rule 20). */
const startWaitMs = 3000

/** Asks for what is missing, checks, confirms, calls, prints. Resolves to the exit status. */
export async function runOperation(invocation: Invocation, connect: Connect, io: Io): Promise<number> {
  const { operation, fields, parsed, settings } = invocation
  const input = await completeInput(operation, fields, parsed, io)
  await checkInput(operation, fields, input)
  await confirmDanger(operation, input, io, settings.yes)
  const client = await connect({ dataDir: settings.dataDir, waitMs: settings.wait ? startWaitMs : 0 })
  const { show } = operation.meta
  if (show.as === 'live') {
    const open = async (signal: AbortSignal) => asRows(await callOperation(client, operation, input, { signal }))
    await printLive(show.columns, open, settings, io)
    return exitStatus.done
  }
  if (show.as === 'file') {
    const { download } = await import('./download.ts')
    const start = async (signal: AbortSignal) => asRows(await callOperation(client, operation, input, { signal }))
    const output = await download({ path: null, force: false, ...invocation.target, name: show.name }, start, io)
    await printResult({ operation, output, client }, settings, io)
    return exitStatus.done
  }
  const output = await callOperation(client, operation, input)
  await printResult({ operation, output, client }, settings, io)
  return outcomeOf(operation, output)
}

/** The gateway checks again; here a mistake can still be named by its flag, before anything is asked of the gateway. */
async function checkInput(
  operation: Operation,
  fields: readonly Field[],
  input: Record<string, unknown>,
): Promise<void> {
  const checked = await operation.input?.safeParseAsync(input)
  const issue = checked?.error?.issues[0]
  if (issue === undefined) return
  const field = fields.find((known) => known.name === issue.path[0])
  const message = issue.message.replace(/\.$/, '')
  const label = labelOf(operation, field)
  const cause = message.startsWith('must ') ? `${label} ${message}.` : `${label} is not valid: ${message}.`
  throw usageFault(cause, `See spgw ${operation.path.join(' ')} --help.`)
}

function labelOf(operation: Operation, field: Field | undefined): string {
  if (field === undefined) return 'The input'
  return operation.meta.positional?.includes(field.name) ? field.flag.toUpperCase() : `--${field.flag}`
}

/** A check or a test that answered "it failed" is a failed command, so that scripts can rely on the status. */
function outcomeOf(operation: Operation, output: unknown): number {
  const verb = operation.path.at(-1)
  if (verb !== 'check' && verb !== 'test') return exitStatus.done
  const ok = typeof output === 'object' && output !== null ? Reflect.get(output, 'ok') : true
  return ok === false ? exitStatus.failed : exitStatus.done
}

function asRows(answer: unknown): AsyncIterable<unknown> {
  if (typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer) {
    return answer as AsyncIterable<unknown>
  }
  throw new CommandFault('The gateway answered with no stream.', 'Check that gateway and spgw are of one version.')
}
