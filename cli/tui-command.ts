import { usageFault } from './fault.ts'
import type { FileName } from './file-name.ts'
import type { GlobalOptions } from './global-options.ts'
import { hostContext } from './host-context.ts'
import { type EnvironmentVariables, type Io, wantsColour } from './io.ts'
import type { LocalCommand } from './local-command.ts'
import type { GatewayClient, Operation } from './operation.ts'

/** What the interface on the whole terminal is given; it opens nothing itself. */
export interface TuiParts {
  operations: readonly Operation[]
  /** Without waiting for one that may be starting: the interface says that there is none, and tries again. */
  connect(): Promise<GatewayClient>
  /** Writes a stream of the gateway into a file; `path` null: a name of its own. Gives what was written. */
  save(name: FileName, path: string | null, start: OpenStream): Promise<object>
  /** Configuration files of this machine, as `apply` takes them. */
  readFiles(paths: readonly string[]): Promise<{ files: Record<string, string> }>
  /** null: every project, or every environment. */
  scope: { project: string | null; environment: string | null }
  utc: boolean
  colour: boolean
  environment: EnvironmentVariables
}

type OpenStream = (signal: AbortSignal) => Promise<AsyncIterable<unknown>>

export interface TuiDependencies {
  operations(): Promise<readonly Operation[]>
  version: string
  /** Takes the terminal; resolves to the exit status. */
  start(parts: TuiParts): Promise<number>
}

/** `spgw tui`. What it shows is a room of its own, loaded when it is asked for. */
export function makeTuiCommand(dependencies: TuiDependencies): LocalCommand {
  return {
    name: 'tui',
    summary: 'Open the full-screen terminal interface',
    options: [
      { flags: '-p, --project <name>', description: 'Start with this project (default: $SPGW_PROJECT, else all)' },
      {
        flags: '-e, --environment <name>',
        description: 'Start with this environment (default: $SPGW_ENVIRONMENT, else all)',
      },
    ],
    examples: ['tui', 'tui --project search --environment staging'],
    reachesGateway: true,
    async run(_options, io, settings) {
      if (!io.stdin.isTerminal || !io.stdout.isTerminal) {
        throw usageFault('spgw tui needs a terminal.', 'In a script, use the other commands (spgw --help).')
      }
      return dependencies.start(await prepare(dependencies, io, settings))
    },
  }
}

async function prepare({ operations, version }: TuiDependencies, io: Io, settings: GlobalOptions): Promise<TuiParts> {
  const { connectGateway } = await import('./operation-bundle.ts')
  const { chooseRemote } = await import('./operation-bundle.ts')
  const { environment } = io
  const remote = await chooseRemote(settings, io)
  const connect = connectGateway(hostContext(environment), version, 'tui')
  return {
    operations: await operations(),
    connect: () => connect({ dataDir: settings.dataDir, waitMs: 0, remote }),
    save: (name, path, start) => saveQuietly(name, path, start, io),
    readFiles: async (paths) => (await import('./configuration-files.ts')).readConfigurationFiles(paths, io),
    scope: readScope(settings, environment),
    utc: settings.utc,
    colour: wantsColour(io.stdout, environment),
    environment,
  }
}

/** Without flags and variables everything is shown; an environment without its project is one of `default`. */
function readScope(settings: GlobalOptions, variables: EnvironmentVariables): TuiParts['scope'] {
  const project = settings.project ?? (variables.SPGW_PROJECT || null)
  const environment = settings.environment ?? (variables.SPGW_ENVIRONMENT || null)
  return { project: project ?? (environment === null ? null : 'default'), environment }
}

/** No bar: the terminal is the interface's. */
async function saveQuietly(name: FileName, path: string | null, start: OpenStream, io: Io): Promise<object> {
  const { download } = await import('./download.ts')
  const stderr = { isTerminal: false, columns: null, write: async () => {} }
  return download({ path, force: false, ...name }, start, { ...io, stderr })
}
