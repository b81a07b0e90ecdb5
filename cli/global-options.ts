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
}

const outputForms = ['table', 'json', 'yaml', 'csv'] as const
export type OutputForm = (typeof outputForms)[number]

const group = 'Global options:'

/** `scope`: which of project and environment mean something to this command; the others are taken and not shown. */
export function addGlobalOptions(command: Command, scope: readonly string[]): void {
  const options = [
    new Option('-p, --project <name>', 'project (default: $SPGW_PROJECT, else default)').hideHelp(
      !scope.includes('project'),
    ),
    new Option('-e, --environment <name>', 'environment (default: $SPGW_ENVIRONMENT, else production)').hideHelp(
      !scope.includes('environment'),
    ),
    new Option('--output <form>', `how to print the result: ${outputForms.join(', ')}`),
    new Option('--json', 'short for --output json'),
    new Option('--utc', 'absolute times'),
    new Option('-y, --yes', 'answer yes to what would be asked'),
    new Option('--data-dir <path>', 'data directory of the gateway (default: $SPGW_DATA_DIR)'),
    new Option('--no-wait', 'do not wait for a gateway that is starting'),
    new Option('--verbose', 'say more about an error'),
  ]
  // What a command means by a flag of its own beats the global one (`providers add --project`).
  for (const option of options) if (!declares(command, option)) command.addOption(option.helpGroup(group))
  command.addHelpOption(new Option('-h, --help', 'show this help').helpGroup(group))
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
  }
}

function readOutputForm(values: Record<string, unknown>): OutputForm {
  const named = values.output
  const form = outputForms.find((known) => known === named)
  if (named !== undefined && form === undefined) {
    throw usageFault(`--output ${String(named)} is not a form of output.`, `Use one of ${outputForms.join(', ')}.`)
  }
  if (values.json !== true) return form ?? 'table'
  if (form !== undefined && form !== 'json') {
    throw usageFault(`--json and --output ${form} contradict each other.`, 'Leave one of them out.')
  }
  return 'json'
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
