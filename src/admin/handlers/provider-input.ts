import type { ProviderKind } from '../../providers/contract.ts'
import { defaultBaseUrl } from '../../providers/index.ts'
import type { ProviderRevision } from '../../store/api.ts'
import type { AdminContext } from './context.ts'
import { invalid } from './fault.ts'
import { findProject } from './find.ts'

/** What an operator writes about a provider, checked against its kind. */

type Settings = ProviderRevision['settings']

export function findProviderKind({ kinds }: Pick<AdminContext, 'kinds'>, name: string): ProviderKind {
  const found = kinds.find(({ kind }) => kind === name)
  if (found) return found
  throw invalid(
    `There is no provider kind ${JSON.stringify(name)}.`,
    `Kinds: ${kinds.map(({ kind }) => kind).join(', ')}.`,
  )
}

/** Flags carry text, so a setting that the kind wants as a number or boolean is read as one. */
export function readSettings(
  kind: ProviderKind,
  before: Settings,
  input: { preset?: string | undefined; settings?: Settings | undefined },
): Settings {
  const given: Settings = { ...before, ...input.settings }
  if (input.preset !== undefined) given.preset = input.preset
  const wanted = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
  const known = Object.keys(kind.settings.shape)
  const direct = kind.settings.safeParse(wanted)
  const parsed = direct.success
    ? direct
    : kind.settings.safeParse(Object.fromEntries(Object.entries(wanted).map(readScalar)))
  if (parsed.success) return keepScalars(parsed.data)
  const [issue] = parsed.error.issues
  const name = issue?.path.join('.') ?? ''
  const takes = known.length === 0 ? 'none' : known.join(', ')
  throw invalid(
    `A setting is not what the kind ${kind.kind} takes: ${[name, issue?.message].filter(Boolean).join(': ')}.`,
    `Its settings: ${takes}. See: spgw providers kinds --json`,
  )
}

function readScalar([name, value]: [string, string | number | boolean]): [string, string | number | boolean] {
  if (value === 'true' || value === 'false') return [name, value === 'true']
  return [name, typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value]
}

function keepScalars(settings: Record<string, unknown>): Settings {
  const kept: Settings = {}
  for (const [name, value] of Object.entries(settings))
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') kept[name] = value
  return kept
}

/** Without the slash at its end, so that one address has one form. */
export function readBaseUrl(kind: ProviderKind, settings: Settings, text: string | undefined): string {
  if (kind.transport !== null) {
    if (text === undefined) return kind.defaultBaseUrl
    throw invalid(`A provider of the kind ${kind.kind} answers by itself.`, 'Leave the base URL out.')
  }
  const given = text ?? defaultBaseUrl(kind, settings)
  if (given === '')
    throw invalid(
      `A provider of the kind ${kind.kind} needs a base URL.`,
      "Add --base-url: what the vendor's own SDK would be given.",
    )
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw invalid('The base URL is no http or https address.', 'Write it as https://host/v1.')
  if (url.username !== '' || url.password !== '')
    throw invalid('The base URL carries a credential.', 'Take it out, and give it with --credential-stdin.')
  if (url.hash !== '') throw invalid('The base URL has a fragment (#…).', 'Take it out.')
  return given.replace(/\/+$/, '')
}

const credentialHeaders = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'cookie',
])
const ownHeaders = /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-length|content-type)$/

/** Headers are shown to whoever may see the provider, so a secret has no place in them. */
export function checkHeaders(headers: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw invalid(`${JSON.stringify(name)} is no header that can be sent.`, 'Write --header NAME=VALUE.')
    if (credentialHeaders.has(name.toLowerCase()))
      throw invalid(`The header ${name} carries a credential.`, 'Give it with --credential-stdin, which seals it.')
    if (ownHeaders.test(name.toLowerCase()))
      throw invalid(`The header ${name} is the gateway's to set.`, 'Leave it out.')
  }
  return headers
}

export async function readProjects(context: AdminContext, names: string[] | undefined): Promise<string[] | null> {
  if (names === undefined || names.length === 0) return null
  const found = await Promise.all(names.map((name) => findProject(context, name)))
  return [...new Set(found.map(({ id }) => id))]
}
