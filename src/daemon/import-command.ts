import { readBounded, tooLong } from '../core/bounded-text.ts'
import { errorCode, errorText } from '../core/caught.ts'
import { escapeControls } from '../core/escape-controls.ts'
import type { Converted, LeftOut } from '../import/converted.ts'
import type { CommandIo, DaemonCommand } from './local-command.ts'

/** Refused, as far as exit statuses go. */
const notAllCarried = 5
const wrongUsage = 2

class ImportRefused extends Error {
  readonly hint: string
  readonly exitStatus = wrongUsage
  /** Several places are several lines. */
  readonly problems: readonly string[]

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
    this.problems = message.split('\n')
  }
}

/** From a file to a file: nothing is asked of a gateway, and nothing of it is changed. */
export const importCommand: DaemonCommand = {
  name: 'import',
  summary: 'Convert a LiteLLM or Portkey configuration into a file for spgw apply',
  arguments: [
    { name: 'format', description: 'Program that the file is of', choices: ['litellm', 'portkey'] },
    { name: 'file', description: 'Configuration to convert: YAML or JSON file, - for standard input' },
  ],
  options: [
    { flags: '--strict', description: 'Fail when something cannot be converted' },
    {
      flags: '-p, --project <name>',
      description: 'Project of the routes and of the budget (default: $SPGW_PROJECT, else default, and the workspace)',
    },
    {
      flags: '-e, --environment <name>',
      description: 'Environment of the routes and of the budget (default: $SPGW_ENVIRONMENT, else production)',
    },
    { flags: '--model <name>', description: 'Portkey: model name for clients (default: *, any)' },
  ],
  examples: [
    'import litellm config.yaml > gateway.yaml',
    'import portkey config.json --model gpt-4o > gateway.yaml',
    'import litellm team.yaml --project search > search.yaml',
  ],
  async run(options, io, { output }) {
    const name = String(options.file)
    const text = name === '-' ? await io.stdin.readAll() : await readText(name)
    const file = await parse(text, name === '-' ? 'standard input' : name)
    const converted = await convert(
      String(options.format),
      file,
      typeof options.model === 'string' ? options.model : '*',
    )
    if (converted.routes.length === 0) await refuseEmpty(converted, String(options.format), name, io)
    const { placeIn, writeConverted } = await import('../import/converted.ts')
    const { SPGW_PROJECT, SPGW_ENVIRONMENT } = io.environment
    placeIn(converted, textOf(options.project ?? SPGW_PROJECT), textOf(options.environment ?? SPGW_ENVIRONMENT))
    if (output === 'json') await io.stdout.write(`${JSON.stringify(converted, null, 2)}\n`)
    else await io.stdout.write(writeConverted(converted, name))
    await report(converted, io)
    return options.strict === true && converted.left.length > 0 ? notAllCarried : 0
  },
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** An empty file would look as if all was well. */
async function refuseEmpty({ left }: Converted, format: string, name: string, io: CommandIo): Promise<never> {
  if (left.length > 0) await io.stderr.write(left.map(describe).join(''))
  const signs = format === 'litellm' ? 'LiteLLM, with its model_list' : 'Portkey, with its targets'
  throw new ImportRefused(`Nothing in ${name} could be converted.`, `Give the configuration of ${signs}.`)
}

async function readText(path: string): Promise<string> {
  const { createReadStream } = await import('node:fs')
  const text = await readBounded(createReadStream(path)).catch((error: unknown) => {
    const code = errorCode(error) ?? 'unknown'
    throw new ImportRefused(`${path} cannot be read (${code}).`, 'Give a file that you can read.')
  })
  if (text === null) throw new ImportRefused(`${path} ${tooLong}.`, 'Give the configuration file alone.')
  return text
}

type File = Parameters<typeof import('../import/litellm.ts').convertLitellm>[0]

async function parse(text: string, name: string): Promise<File> {
  const { parseSettingsFile } = await import('../config/settings-file.ts')
  try {
    return parseSettingsFile(text, name)
  } catch (error) {
    throw new ImportRefused(errorText(error), 'Fix the file: it is neither YAML nor JSON, or not one object.')
  }
}

async function convert(format: string, file: File, model: string): Promise<Converted> {
  if (format === 'litellm') return (await import('../import/litellm.ts')).convertLitellm(file)
  return (await import('../import/portkey.ts')).convertPortkey(file, model)
}

async function report({ providers, policies, routes, alerts, left }: Converted, io: CommandIo): Promise<void> {
  const count = (list: readonly unknown[], one: string, more: string) =>
    `${list.length} ${list.length === 1 ? one : more}`
  const counts = [
    count(providers, 'provider', 'providers'),
    ...(policies.length === 0 ? [] : [count(policies, 'policy', 'policies')]),
    count(routes, 'route', 'routes'),
    ...(alerts.length === 0 ? [] : [count(alerts, 'alert', 'alerts')]),
  ]
  await io.stderr.write(`Converted: ${counts.join(', ')}.\n`)
  if (left.length === 0) return
  await io.stderr.write(`Not converted (${left.length}):\n${left.map(describe).join('')}`)
}

/** Names from the other program's file are shown, and obeyed by no terminal. */
function describe({ place, what, reason, advice }: LeftOut): string {
  return `  ${escapeControls(`${place}: ${what}: ${reason}.`)}\n    ${escapeControls(advice)}\n`
}
