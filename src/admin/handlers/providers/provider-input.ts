import { X509Certificate } from 'node:crypto'
import type { z } from 'zod'
import { credentialParameters } from '../../../core/secrets/address-credentials.ts'
import { maskKeys } from '../../../core/secrets/mask-keys.ts'
import { closestNames } from '../../../core/text/closest-names.ts'
import { evaluateHost } from '../../../providers/address-guard.ts'
import type { ProviderKind } from '../../../providers/contract.ts'
import { defaultBaseUrl } from '../../../providers/index.ts'
import type { ProviderRevision } from '../../../store/api.ts'
import {
  type KindSettingsInput,
  type ListedKindSetting,
  listedKindSettings,
} from '../../contract/providers/kind-settings.ts'
import type { AdminContext } from '../context.ts'
import { invalid } from '../fault.ts'
import { findProject } from '../find.ts'
import { kindSchema } from './kind-schema.ts'

/** What an operator writes about a provider, checked against its kind. */

type RevisionSettings = ProviderRevision['settings']

export function findProviderKind({ kinds }: Pick<AdminContext, 'kinds'>, name: string): ProviderKind {
  const found = kinds.find(({ kind }) => kind === name)
  if (found) return found
  throw invalid(
    `There is no provider kind ${JSON.stringify(name)}.`,
    `Kinds: ${kinds.map(({ kind }) => kind).join(', ')}.`,
  )
}

export function ownSettings({ kind }: ProviderKind): ListedKindSetting[] {
  return listedKindSettings.filter(({ kinds }) => kinds.includes(kind))
}

/** The settings as they will be, from those before and what was given of them. */
export function readSettings(kind: ProviderKind, before: RevisionSettings, input: KindSettingsInput): RevisionSettings {
  const wanted: Record<string, unknown> = { ...before }
  for (const { field, setting, flag, kinds } of listedKindSettings) {
    const value = input[field]
    if (value === undefined) continue
    if (!kinds.includes(kind.kind))
      throw invalid(`A provider of the kind ${kind.kind} has no ${flag}.`, `Leave it out; ${nameSettings(kind)}`)
    wanted[setting] = value ?? undefined
  }
  const parsed = kindSchema(kind).safeParse(wanted)
  if (parsed.success) return checkAuthorities(checkProxy(keepScalars(parsed.data)))
  throw wrongSetting(kind, wanted, parsed.error.issues[0])
}

function checkProxy(settings: RevisionSettings): RevisionSettings {
  const { proxy } = settings
  if (typeof proxy !== 'string' || proxy === 'direct') return settings
  const hint = 'Write --proxy http://host:port, or --proxy direct.'
  const url = URL.canParse(proxy) ? new URL(proxy) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw invalid('The proxy is not an http or https address.', hint)
  // Settings are shown to whoever may see the provider.
  if (url.username !== '' || url.password !== '')
    throw invalid(
      'The address of the proxy contains a credential.',
      `${hint} Set a proxy with a password in HTTPS_PROXY.`,
    )
  const { refused } = evaluateHost(url.hostname, true)
  if (refused !== null) throw invalid(refused, hint)
  return settings
}

/** Forms and shells lose line ends, without which it is no PEM. */
function checkAuthorities(settings: RevisionSettings): RevisionSettings {
  if (typeof settings.authorities !== 'string') return settings
  const form = /-----BEGIN CERTIFICATE-----([\sA-Za-z0-9+/=]+)-----END CERTIFICATE-----/g
  const found = [...settings.authorities.matchAll(form)].map(([, body = '']) => {
    const lines = body.replace(/\s+/g, '').match(/.{1,64}/g) ?? []
    return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
  })
  if (found.length === 0 || found.some((pem) => !isCertificate(pem)))
    throw invalid('The authorities are not certificates.', 'Give them as PEM: --authorities "$(cat ca.pem)".')
  return { ...settings, authorities: found.join('') }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined
  } catch {
    return false
  }
}

function nameSettings(kind: ProviderKind): string {
  const flags = ownSettings(kind).map(({ flag }) => flag)
  return flags.length === 0 ? 'this kind has no settings.' : `this kind has ${flags.join(', ')}.`
}

function wrongSetting(kind: ProviderKind, wanted: Record<string, unknown>, issue: z.core.$ZodIssue | undefined) {
  const setting = String(issue?.path[0] ?? '')
  const flag = ownSettings(kind).find((own) => own.setting === setting)?.flag ?? setting
  const value = JSON.stringify(wanted[setting])
  if (value === undefined)
    return invalid(
      `A provider of the kind ${kind.kind} needs ${flag}.`,
      `${kind.settings[setting]?.description ?? ''}.`,
    )
  if (issue?.code !== 'invalid_value')
    return invalid(`${flag} cannot be ${value}: ${issue?.message}.`, 'See: spgw providers kinds --json')
  const known = issue.values.map(String)
  const near = closestNames(String(wanted[setting]), known)
  const hint = near.length === 0 ? '' : `Did you mean ${near.join(' or ')}? `
  return invalid(`${flag} cannot be ${value}.`, `${hint}Known: ${known.join(', ')}.`)
}

function keepScalars(settings: Record<string, unknown>): RevisionSettings {
  const kept: RevisionSettings = {}
  for (const [name, value] of Object.entries(settings))
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') kept[name] = value
  return kept
}

/** Without the slash at its end, so that one address has one form. */
export function readBaseUrl(kind: ProviderKind, settings: RevisionSettings, text: string | undefined): string {
  if (kind.transport !== null) {
    if (text === undefined) return kind.defaultBaseUrl
    throw invalid(`A provider of the kind ${kind.kind} answers by itself.`, 'Leave the base URL out.')
  }
  const given = (text ?? defaultBaseUrl(kind, settings)).trim()
  if (given === '')
    throw invalid(
      `A provider of the kind ${kind.kind} needs a base URL.`,
      "Add --base-url: the address that you would give the vendor's SDK.",
    )
  // A line break within is no part of an address, and would be one of each address that is made of it.
  const url = !/\s/.test(given) && URL.canParse(given) ? new URL(given) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw invalid('The base URL is not an http or https address.', 'Write it as https://host/v1.')
  // It is shown to whoever may see the provider.
  const [parameter] = credentialParameters(given)
  if (parameter !== undefined)
    throw invalid(
      `The base URL contains a credential: its parameter ${parameter}.`,
      'Remove the parameter and give the credential with --credential-stdin, which seals it.',
    )
  if (url.username !== '' || url.password !== '' || maskKeys(given) !== given)
    throw invalid('The base URL contains a credential.', 'Remove it and give it with --credential-stdin.')
  if (url.hash !== '') throw invalid('The base URL has a fragment (#…).', 'Remove it.')
  const { refused } = evaluateHost(url.hostname, true)
  if (refused !== null) throw invalid(refused, "Give the provider's own address.")
  return given.replace(/\/+$/, '')
}

/** A credential goes where it was given for: to one scheme, host and port. */
export function isElsewhere(before: string, after: string): boolean {
  return before !== after && (!URL.canParse(before) || new URL(before).origin !== new URL(after).origin)
}

/** Whoever says through whom it goes, and who is believed on the way, could read it there. */
export function isOtherWay(before: RevisionSettings, after: RevisionSettings): boolean {
  return before.proxy !== after.proxy || before.authorities !== after.authorities
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
      throw invalid(`${JSON.stringify(name)} is not a header that can be sent.`, 'Write --header NAME=VALUE.')
    if (credentialHeaders.has(name.toLowerCase()))
      throw invalid(`The header ${name} contains a credential.`, 'Give it with --credential-stdin, which seals it.')
    if (ownHeaders.test(name.toLowerCase())) throw invalid(`The header ${name} is set by the gateway.`, 'Leave it out.')
  }
  return headers
}

export async function readProjects(context: AdminContext, names: string[] | undefined): Promise<string[] | null> {
  if (names === undefined || names.length === 0) return null
  const found = await Promise.all(names.map((name) => findProject(context, name)))
  return [...new Set(found.map(({ id }) => id))]
}
