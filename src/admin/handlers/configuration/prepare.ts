import { ORPCError } from '@orpc/server'
import { ownValue } from '../../../core/own-value.ts'
import { hiddenHeader, isHidden } from '../../../core/secrets/hidden-header.ts'
import { mayBeSecret } from '../../../core/secrets/provider-headers.ts'
import { Secret } from '../../../core/secrets/secret.ts'
import { closestNames } from '../../../core/text/closest-names.ts'
import { mapInSlices } from '../../../core/threads/slices.ts'
import { describeUnset } from '../../../core/variables.ts'
import { keyOf, type ManifestEntry, type ManifestResource, objectsIn, type Plain } from '../../../manifest/resource.ts'
import type { ProviderKind } from '../../../providers/contract.ts'
import { defaultBaseUrl } from '../../../providers/index.ts'
import { projectsWith } from '../../contract/operators/roles.ts'
import type { KindSettingsInput } from '../../contract/providers/kind-settings.ts'
import type { AdminContext } from '../context.ts'
import { findWrongPattern } from '../policies/read-rules.ts'
import { checkNeed } from '../providers/add-provider.ts'
import { checkForm, lastFour, readCredential } from '../providers/provider-check.ts'
import { describeSecret } from '../providers/provider-headers.ts'
import {
  checkHeaders,
  findProviderKind,
  isElsewhere,
  isOtherWay,
  ownSettings,
  readBaseUrl,
  readSettings,
} from '../providers/provider-input.ts'
import type { ManifestProblems } from './manifest-problems.ts'
import { prepareAlert } from './prepare-alert.ts'

async function checkPolicy(
  { fields, name, place, placeOf }: ManifestEntry,
  { problems }: ManifestProblems,
): Promise<void> {
  const { deny_patterns: denied, content_rules: rules } = fields
  const texts = Array.isArray(denied) ? denied.filter((one) => typeof one === 'string') : []
  const patterns = objectsIn(rules).map((rule) => ({
    name: String(rule.name),
    pattern: typeof rule.pattern === 'string' ? rule.pattern : null,
  }))
  // Each by itself, so that one mistake does not hide the next.
  const found = {
    deny_patterns: await findWrongPattern(texts, []),
    content_rules: await findWrongPattern([], patterns),
  }
  for (const [field, wrong] of Object.entries(found))
    if (wrong !== null) problems.push({ place: placeOf[field] ?? place, message: `policy ${name}: ${wrong}` })
}

/** What a file says of providers, held against their kinds as `providers add` and `edit` do it; entries of other kinds pass. */
export async function prepareEntries(
  context: Pick<AdminContext, 'kinds' | 'keyring' | 'caller'>,
  entries: readonly ManifestEntry[],
  resources: readonly ManifestResource[],
  found: ManifestProblems,
): Promise<ManifestEntry[]> {
  const state = new Map(resources.map((resource) => [keyOf(resource), resource]))
  for (const entry of entries) if (entry.kind === 'policy') await checkPolicy(entry, found)
  return await mapInSlices(entries, (entry) => {
    if (entry.kind === 'alert') return prepareAlert(context, entry, state.get(keyOf(entry)) ?? null, found)
    if (entry.kind !== 'provider') return entry
    const current = state.get(keyOf(entry)) ?? null
    const prepared = { ...entry, fields: { ...entry.fields } }
    // Each rule by itself, so that one mistake does not hide the next.
    const attempt = (field: string, run: () => void) => {
      try {
        run()
      } catch (error) {
        if (!(error instanceof ORPCError)) throw error
        const place = entry.placeOf[field] ?? entry.place
        const message = `provider ${entry.name}: ${withoutStop(error.message)}`
        // A credential is read for its fingerprint, and for its form.
        if (!found.problems.some((one) => one.place === place && one.message === message))
          found.problems.push({ place, message })
      }
    }
    attempt('credentials', () => prepareCredentials(context, prepared, current, found))
    attempt('headers', () => prepareHeaders(context, prepared, current, found))
    attempt('kind', () => prepareProvider(context, prepared, current, attempt))
    return prepared
  })
}

const withoutStop = (text: string) => text.replace(/\.$/, '')

type CheckField = (field: string, run: () => void) => void

function prepareProvider(
  context: Pick<AdminContext, 'kinds'>,
  entry: ManifestEntry,
  current: ManifestResource | null,
  attempt: CheckField,
): void {
  const { fields } = entry
  const named = fields.kind ?? current?.fields.kind
  if (typeof named !== 'string') {
    attempt('kind', () => {
      throw new ORPCError('invalid', { message: 'a new provider needs its kind' })
    })
    return
  }
  const kind = findProviderKind(context, named)
  const settings = prepareSettings(kind, entry, current, attempt)
  const { base_url } = fields
  const before = settingsIn(current?.fields ?? {})
  const followed = current === null || current.fields.base_url === defaultBaseUrl(kind, before)
  if (typeof base_url === 'string' || followed)
    attempt('base_url', () => {
      // As an export writes one that holds a credential, of an earlier version.
      if (base_url !== undefined && base_url === current?.fields.base_url) return
      const url = readBaseUrl(kind, settings, typeof base_url === 'string' ? base_url : undefined)
      fields.base_url = url
      refuseElsewhere(entry, url, current)
    })
  attempt('settings.proxy', () => {
    if (isOtherWay(before, settings)) refuseUngiven(entry, current, 'another way')
  })
  attempt('credentials', () => {
    for (const credential of entry.credentials ?? []) checkForm(kind, readCredential(credential.reveal()))
  })
  const pool = fields.credentials ?? current?.fields.credentials
  if (entry.missing.length === 0)
    attempt('credentials', () => checkNeed(kind, settings, Array.isArray(pool) && pool.length > 0))
}

/** As `providers edit` does it; a file gives the whole pool, so all of it can move. */
function refuseElsewhere(entry: ManifestEntry, url: string, current: ManifestResource | null): void {
  const before = current?.fields.base_url
  if (typeof before === 'string' && isElsewhere(before, url))
    refuseUngiven(entry, current, 'to another host, scheme or port')
}

function refuseUngiven(entry: ManifestEntry, current: ManifestResource | null, where: string): void {
  const { base_url: before, credentials: stored, headers: sent = {} } = current?.fields ?? {}
  const headers = (entry.fields.headers ?? sent) as Record<string, string>
  const kept = Object.keys(headers).find((name) => isHidden(headers[name] ?? '') && entry.headers?.[name] === undefined)
  if (kept !== undefined)
    throw new ORPCError('invalid', {
      message: `its header ${kept} was given for ${String(before)}, and is not sent ${where}; give it in the file together with the new address or setting`,
    })
  if (!Array.isArray(stored) || stored.length === 0 || entry.credentials !== null) return
  throw new ORPCError('invalid', {
    message: `its stored credentials were given for ${String(before)}, and are not sent ${where}; give them in the file together with the new address or setting`,
  })
}

type GivenSettings = Record<string, string | number | boolean>

function prepareSettings(
  kind: ProviderKind,
  entry: ManifestEntry,
  current: ManifestResource | null,
  attempt: CheckField,
): GivenSettings {
  const known = ownSettings(kind)
  const before = settingsIn(current?.fields ?? {})
  const input: Record<string, Plain> = {}
  for (const [path, value] of Object.entries(entry.fields)) {
    if (!path.startsWith('settings.')) continue
    const name = path.slice('settings.'.length)
    const own = known.find(({ setting }) => setting === name)
    if (own !== undefined) input[own.field] = value
    else
      attempt(path, () => {
        throw unknownSetting(
          kind,
          name,
          known.map(({ setting }) => setting),
        )
      })
  }
  let settings: GivenSettings = before
  attempt('settings', () => {
    settings = readSettings(kind, before, input as KindSettingsInput)
  })
  return settings
}

function unknownSetting(kind: ProviderKind, name: string, known: string[]) {
  const [near] = closestNames(name, known)
  const hint = near === undefined ? `it has ${known.length === 0 ? 'none' : known.join(', ')}` : `did you mean ${near}?`
  return new ORPCError('invalid', { message: `the kind ${kind.kind} has no setting ${name}; ${hint}` })
}

export function settingsIn(fields: Readonly<Record<string, Plain>>): GivenSettings {
  const entries = Object.entries(fields).filter(([path, value]) => path.startsWith('settings.') && value !== null)
  return Object.fromEntries(entries.map(([path, value]) => [path.slice('settings.'.length), value])) as GivenSettings
}

/**
 * What stands in a plan of a credential is its fingerprint. Without its variable, a provider that has one keeps it: so an
 * export can be compared where no credential is at hand. To whoever may not change it nothing is compared: with a plan for
 * each guess he would find out a short one.
 */
function prepareCredentials(
  { keyring, caller }: Pick<AdminContext, 'keyring' | 'caller'>,
  entry: ManifestEntry,
  current: ManifestResource | null,
  found: ManifestProblems,
): void {
  const { credentials, missing, fields } = entry
  const stored = objectsIn(current?.fields.credentials).length > 0
  if (missing.length > 0) return prepareUnset(entry, stored, found)
  if (credentials === null) return
  const compares = projectsWith(caller.grants, 'admin') === null
  if (!compares && stored) {
    found.notes.push(`provider ${entry.name}: its credential was not compared, which needs the role admin`)
    return
  }
  const read = credentials.map((secret) => readCredential(secret.reveal())).filter((secret) => secret !== null)
  fields.credentials = read.map((secret) => ({
    ...(compares ? { fingerprint: keyring.fingerprint(secret.reveal()) } : {}),
    last_four: lastFour(secret),
  }))
}

/** The same of headers that may hold a secret. */
function prepareHeaders(
  context: Pick<AdminContext, 'keyring' | 'caller'>,
  entry: ManifestEntry,
  current: ManifestResource | null,
  found: ManifestProblems,
): void {
  if (entry.fields.headers === undefined) return
  const given = Object.entries(entry.fields.headers as Record<string, string>)
  const stored = (current?.fields.headers ?? {}) as Record<string, string>
  checkHeaders(Object.fromEntries(given.filter(([, value]) => value !== hiddenHeader)))
  const compares = projectsWith(context.caller.grants, 'admin') === null
  const secrets: Record<string, Secret> = {}
  const shown = given.map(([name, value]) => {
    const before = ownValue(stored, name)
    const say = (text: string) => `provider ${entry.name}: its header ${name} ${text}`
    if (value === hiddenHeader && before === undefined) {
      const place = entry.placeOf.headers ?? entry.place
      found.unset.push({ place, message: say('has a variable that is not set') })
    } else if (value === hiddenHeader) found.notes.push(say('stays as it is: its variable is not set'))
    if (value === hiddenHeader || !mayBeSecret(name, value))
      return [name, value === hiddenHeader ? (before ?? value) : value]
    secrets[name] = new Secret(value)
    if (compares) return [name, describeSecret(context, value)]
    if (before !== undefined) found.notes.push(say('was not compared, which needs the role admin'))
    return [name, before ?? hiddenHeader]
  })
  entry.fields.headers = Object.fromEntries(shown)
  entry.headers = secrets
}

function prepareUnset(
  { name, missing, fields, placeOf, place }: ManifestEntry,
  stored: boolean,
  found: ManifestProblems,
): void {
  const message = `provider ${name}: ${describeUnset(missing)}`
  if (stored) found.notes.push(`${message}; its credential stays as it is`)
  else {
    found.unset.push({ place: placeOf.credentials ?? place, message })
    fields.credentials = [{ unset: missing.join(', ') }]
  }
}
