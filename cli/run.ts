import { isSearch } from '../src/admin/contract/requests/slow-filters.ts'
import { describeMissing, describeUncounted } from '../src/core/degraded.ts'
import { completeInput, confirmDanger } from './ask.ts'
import { checkInput } from './check-input.ts'
import type { FileTarget } from './download.ts'
import { CommandFault, exitStatus } from './fault.ts'
import { nameFile } from './file-name.ts'
import type { ParsedFlags } from './flags.ts'
import type { GlobalOptions } from './global-options.ts'
import type { Io } from './io.ts'
import { noteMore } from './note-more.ts'
import type { GatewayClient, Operation } from './operation.ts'
import { printResult } from './print/result.ts'
import { chooseRemote, type Remote } from './remote.ts'

/** One command line, read: what to do, with what, and how to show it. */
export interface Invocation {
  operation: Operation
  parsed: ParsedFlags
  settings: GlobalOptions
  /** Of an operation that is shown as a file; null: of any other. */
  target: FileTarget | null
}

export interface ConnectGatewayOptions {
  /** `--data-dir`; null: look where `socket-path.ts` says. */
  dataDir: string | null
  /** How long to wait for a gateway that is starting; 0 with `--no-wait`. */
  waitMs: number
  /** To wait a moment only where the gateway that had the data directory has died, and no other has begun to start. */
  asksForNow?: boolean
  /** A gateway elsewhere; null: the one of this machine. */
  remote: Remote | null
  /** Told which parts of the gateway are degraded, with each answer. */
  onDegraded?: (parts: readonly { part: string; since: string }[]) => void
}

export type Connect = (options: ConnectGatewayOptions) => Promise<GatewayClient>

/** They read files, and show a plan before they ask. */
const configurationCommands = ['diff', 'apply', 'export']

/** How long a command waits for a gateway that is starting (contract.md, rule 20). */
const startWaitMs = 3000

/** The gateway that the global flags and the environment name. */
export async function reach(
  connect: Connect,
  settings: GlobalOptions,
  io: Io,
  more: Pick<ConnectGatewayOptions, 'onDegraded' | 'asksForNow'> = {},
): Promise<GatewayClient> {
  const remote = await chooseRemote(settings, io)
  return connect({ dataDir: settings.dataDir, waitMs: settings.wait ? startWaitMs : 0, remote, ...more })
}

/** Asks for what is missing, checks, confirms, calls, prints. Resolves to the exit status. */
export async function runOperation(
  invocation: Invocation,
  connect: Connect,
  io: Io,
  operations: () => Promise<readonly Operation[]>,
): Promise<number> {
  const { operation, parsed, settings } = invocation
  if (configurationCommands.includes(operation.name)) {
    const { runConfiguration } = await import('./configuration.ts')
    return runConfiguration(invocation, () => reach(connect, settings, io), io)
  }
  const input = await completeInput(operation, await readFiles(operation, parsed, io), io, async (field, given) => {
    const { askNames } = await import('./known-names.ts')
    return askNames(field, operation, given, await operations(), () => reach(connect, settings, io))
  })
  await checkInput(operation, input)
  await confirmDanger(operation, input, io, settings.yes)
  const describe = describerOf(operation)
  let degraded: Parameters<typeof describeMissing>[0] = []
  const onDegraded = (parts: typeof degraded) => {
    degraded = parts
  }
  const gateway = await reach(connect, settings, io, {
    ...(describe === null ? {} : { onDegraded }),
    ...(operation.name === 'status' ? { asksForNow: true } : {}),
  })
  if (settings.web) {
    const { openPage } = await import('./web-page.ts')
    await openPage(operation, input, gateway, io)
    return exitStatus.done
  }
  const noteMissing = async () => {
    const missing = describe?.(degraded) ?? null
    degraded = []
    if (missing !== null) await io.stderr.write(`Note: ${missing}\n`)
  }
  const status = await carryOut(invocation, input, { gateway, noteMissing }, io)
  await noteMissing()
  return status
}

/** Of what an answer may lack while parts of the gateway are degraded; null: nothing. */
function describerOf({ path, meta, name }: Operation): typeof describeMissing | null {
  if (path[0] === 'requests' && meta.effect === 'read') return describeMissing
  return name === 'policies.usage' || name === 'keys.usage' ? describeUncounted : null
}

async function carryOut(
  { operation, settings, target: given }: Invocation,
  input: Record<string, unknown>,
  { gateway, noteMissing }: { gateway: GatewayClient; noteMissing(): Promise<void> },
  io: Io,
): Promise<number> {
  const { show } = operation.meta
  if (show.as === 'live') {
    const open = async (signal: AbortSignal) => asRows(await gateway.call(operation.path, input, { signal }))
    if (operation.name === 'requests.send' && settings.output === 'table') {
      const { printAnswer } = await import('./print/answer.ts')
      return (await printAnswer(open, io)) ? exitStatus.done : exitStatus.failed
    }
    if (operation.name === 'requests.replay' && settings.output === 'table') {
      const { printReplay } = await import('./print/replay.ts')
      return (await printReplay(open, settings, io)) ? exitStatus.done : exitStatus.failed
    }
    const { printLive } = await import('./print/live.ts')
    // Said before the rows, for the end may never come.
    const openNoted = async (signal: AbortSignal) => {
      const rows = await open(signal)
      await noteMissing()
      return rows
    }
    await printLive(show, openNoted, settings, io)
    return exitStatus.done
  }
  if (show.as === 'file') {
    const { download } = await import('./download.ts')
    const start = async (signal: AbortSignal) => asRows(await gateway.call(operation.path, input, { signal }))
    const target = { path: null, force: false, ...given, ...nameFile(show, input) }
    const output = await download(target, start, io)
    await printResult({ operation, input, output, gateway }, settings, io)
    return exitStatus.done
  }
  const output = await askFor(operation, input, gateway, settings, io)
  await printResult({ operation, input, output, gateway }, settings, io)
  await noteMore(operation, input, output, settings, io)
  return outcomeOf(operation, output)
}

async function askFor(
  { name, path }: Operation,
  input: Record<string, unknown>,
  gateway: GatewayClient,
  { utc }: GlobalOptions,
  io: Io,
): Promise<unknown> {
  if (!isSearch(name, input)) return await gateway.call(path, input)
  const { listPages } = await import('./list-pages.ts')
  return await listPages(input, gateway, utc, io)
}

/** A check or a test that answered "it failed" is a failed command, so that scripts can rely on the status. */
function outcomeOf(operation: Operation, output: unknown): number {
  const verb = operation.path.at(-1)
  if (verb !== 'check' && verb !== 'test' && verb !== 'verify') return exitStatus.done
  const ok = typeof output === 'object' && output !== null ? Reflect.get(output, 'ok') : true
  return ok === false ? exitStatus.failed : exitStatus.done
}

function asRows(answer: unknown): AsyncIterable<unknown> {
  if (typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer) {
    return answer as AsyncIterable<unknown>
  }
  throw new CommandFault(
    'The gateway did not return a stream.',
    'Check that the gateway and this spgw have the same version.',
  )
}

/** Fields that name files get their texts. */
async function readFiles(operation: Operation, parsed: ParsedFlags, io: Io): Promise<ParsedFlags> {
  const named = operation.fields.filter(({ name, syntax }) => syntax === 'files' && parsed.input[name] !== undefined)
  if (named.length === 0) return parsed
  const { readConfigurationFiles } = await import('./configuration-files.ts')
  const input = { ...parsed.input }
  for (const { name } of named) {
    const paths = [parsed.input[name]].flat().map(String)
    input[name] = (await readConfigurationFiles(paths, io)).files
  }
  return { ...parsed, input }
}
