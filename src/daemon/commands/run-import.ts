import { createReadStream } from 'node:fs'
import { parseSettingsFile } from '../../config/settings-file.ts'
import { errorCode, errorText } from '../../core/caught.ts'
import { readBounded, tooLong } from '../../core/text/bounded-text.ts'
import { escapeControls } from '../../core/text/escape-controls.ts'
import { type Converted, type LeftOut, placeIn, writeConverted } from '../../import/converted.ts'
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

type Given = Parameters<DaemonCommand['run']>[0]

/** Returns the exit status. */
export async function runImport(options: Given, io: CommandIo, output: string): Promise<number> {
  const name = String(options.file)
  const text = name === '-' ? await io.stdin.readAll() : await readText(name)
  const file = await parse(text, name === '-' ? 'standard input' : name)
  const converted = await convert(String(options.format), file, typeof options.model === 'string' ? options.model : '*')
  if (converted.routes.length === 0) await refuseEmpty(converted, String(options.format), name, io)
  const { SPGW_PROJECT, SPGW_ENVIRONMENT } = io.environment
  placeIn(converted, textOf(options.project ?? SPGW_PROJECT), textOf(options.environment ?? SPGW_ENVIRONMENT))
  if (output === 'json') await io.stdout.write(`${JSON.stringify(converted, null, 2)}\n`)
  else await io.stdout.write(writeConverted(converted, name))
  await report(converted, io)
  return options.strict === true && converted.left.length > 0 ? notAllCarried : 0
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
  const text = await readBounded(createReadStream(path)).catch((error: unknown) => {
    const code = errorCode(error) ?? 'unknown'
    throw new ImportRefused(`${path} cannot be read (${code}).`, 'Give a file that you can read.')
  })
  if (text === null) throw new ImportRefused(`${path} ${tooLong}.`, 'Give the configuration file alone.')
  return text
}

type File = Parameters<typeof import('../../import/litellm.ts').convertLitellm>[0]

async function parse(text: string, name: string): Promise<File> {
  try {
    return parseSettingsFile(text, name)
  } catch (error) {
    throw new ImportRefused(errorText(error), 'Fix the file: it is neither YAML nor JSON, or not one object.')
  }
}

async function convert(format: string, file: File, model: string): Promise<Converted> {
  if (format === 'litellm') return (await import('../../import/litellm.ts')).convertLitellm(file)
  return (await import('../../import/portkey.ts')).convertPortkey(file, model)
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
