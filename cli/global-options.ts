import { type Command, Option } from 'commander'
import { usageFault } from './fault.ts'

/** The flags that every command takes (contract.md, Flags), read. */
export interface GlobalOptions {
  project: string | null
  environment: string | null
  output: OutputForm
  yes: boolean
  dataDir: string | null
  verbose: boolean
  wait: boolean
  /** Absolute times instead of "3 s ago". */
  utc: boolean
  /** Of a table or of CSV, as they were named; null: as the operation says. */
  columns: readonly string[] | null
  /** Open the console's page instead of printing. */
  web: boolean
  /** `--remote`; null: none given. */
  remote: string | null
  /** Where `--remote` finds its token, if it was said. */
  tokenEnv: string | null
  tokenStdin: boolean
  insecure: boolean
}

const outputForms = ['table', 'json', 'yaml', 'csv'] as const
export type OutputForm = (typeof outputForms)[number]

const group = 'Global flags:'

const inScope = '(default: $SPGW_%, else '

const table: readonly [flags: string, description: string][] = [
  ['-p, --project <name>', `Project ${inScope.replace('%', 'PROJECT')}default)`],
  ['-e, --environment <name>', `Environment ${inScope.replace('%', 'ENVIRONMENT')}production)`],
  ['--output <form>', `Output format: ${outputForms.join(', ')}`],
  ['--json', 'Same as --output json; --json=a,b: only these members'],
  ['--utc', 'Show absolute times, in UTC'],
  ['-y, --yes', 'Skip questions and confirm everything'],
  ['--columns <list>', 'Columns of a table or of CSV, or members of JSON, by name: name,state'],
  ['--web', 'Open the page of the console instead'],
  ['--no-color', 'Disable colour (also: NO_COLOR)'],
  [
    '--data-dir <path>',
    'Data directory of the gateway (default: $SPGW_DATA_DIR, else that of a gateway that runs, else ~/.local/state/spgw)',
  ],
  ['--remote <url>', 'Console URL of a remote gateway; requires an API token (default: $SPGW_REMOTE)'],
  ['--token-env <variable>', 'Environment variable with the API token (default: SPGW_TOKEN)'],
  ['--token-stdin', 'Read the API token from standard input'],
  ['--insecure', 'Allow an unencrypted connection to a remote host'],
  ['--no-wait', 'Do not wait for a gateway that is starting'],
  ['--verbose', 'Show details of an error'],
]

/** As commander writes them. */
export const globalFlags: readonly { flags: string; description: string }[] = table.map(([flags, description]) => ({
  flags,
  description,
}))

/** The global flags that take a value, in all their forms. */
export const valuedFlags: readonly string[] = table.flatMap(([flags]) =>
  flags.includes('<') ? (flags.match(/-[-a-z]+/g) ?? []) : [],
)

/** Shown in the help of commands to which they mean something, or all at the top; taken everywhere. */
const onlyWhere: Record<string, string> = {
  project: 'project',
  environment: 'environment',
  columns: 'columns',
  web: 'columns',
  'no-color': 'top',
  'token-env': 'top',
  'token-stdin': 'top',
  insecure: 'top',
}

/** `scope`: what of the table above means something to this command. */
export function addGlobalOptions(command: Command, scope: readonly string[]): void {
  for (const [flags, description] of table) {
    const option = new Option(flags, description)
    // What a command means by a flag of its own beats the global one (`providers add --project`).
    if (declares(command, option)) continue
    const name = option.name()
    const isHidden = name in onlyWhere && !scope.includes(onlyWhere[name] ?? '')
    command.addOption(option.hideHelp(isHidden).helpGroup(group))
  }
  command.addHelpOption(new Option('-h, --help', 'Show help').helpGroup(group))
}

function declares(command: Command, option: Option): boolean {
  return command.options.some((known) => known.long === option.long || (known.short && known.short === option.short))
}

export function readGlobalOptions(values: Record<string, unknown>): GlobalOptions {
  return {
    project: textOrNull(values.project),
    environment: textOrNull(values.environment),
    output: readOutputForm(values),
    yes: values.yes === true,
    dataDir: textOrNull(values.dataDir),
    verbose: values.verbose === true,
    wait: values.wait !== false,
    utc: values.utc === true,
    columns: readNames(values.columns),
    web: values.web === true,
    remote: textOrNull(values.remote),
    tokenEnv: textOrNull(values.tokenEnv),
    tokenStdin: values.tokenStdin === true,
    insecure: values.insecure === true,
  }
}

function readOutputForm(values: Record<string, unknown>): OutputForm {
  const named = values.output
  const form = outputForms.find((known) => known === named)
  if (named !== undefined && form === undefined) {
    throw usageFault(`--output ${String(named)} is not an output format.`, `Use one of ${outputForms.join(', ')}.`)
  }
  if (values.json !== true) return form ?? 'table'
  if (form !== undefined && form !== 'json') {
    throw usageFault(`--json and --output ${form} cannot be used together.`, 'Remove one of them.')
  }
  return 'json'
}

function readNames(value: unknown): readonly string[] | null {
  if (typeof value !== 'string') return null
  const names = value.split(',').map((name) => name.trim())
  return names.filter((name) => name !== '')
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
