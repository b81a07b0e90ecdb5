import { hideCredentials } from '../../../core/secrets/address-credentials.ts'
import { hiddenHeader, isHidden } from '../../../core/secrets/hidden-header.ts'
import type { Secret } from '../../../core/secrets/secret.ts'
import type { ProviderKind } from '../../../providers/contract.ts'
import { defaultBaseUrl } from '../../../providers/index.ts'
import type { Provider, ProviderRevision, SealedCredential } from '../../../store/api.ts'
import { audited } from '../audited.ts'
import { confirmReach } from '../confirm-reach.ts'
import type { AdminContext } from '../context.ts'
import { conflict, invalid } from '../fault.ts'
import { findProvider } from '../find.ts'
import { mergePairs, readTimeouts } from '../moments.ts'
import { readLimits } from './account-usage.ts'
import { type AddProvider, checkNeed } from './add-provider.ts'
import {
  checkFirst,
  checkForm,
  type Found,
  found,
  openSealed,
  readCredential,
  sealCredential,
  unchecked,
} from './provider-check.ts'
import { findHeaderShut, sealHeaders } from './provider-headers.ts'
import {
  checkHeaders,
  findProviderKind,
  isElsewhere,
  isOtherWay,
  readBaseUrl,
  readProjects,
  readSettings,
} from './provider-input.ts'
import { auditProvider, loadUsage, resource, showProvider, type Usage } from './show-provider.ts'

export interface EditProvider extends Omit<AddProvider, 'kind' | 'inactive'> {
  rename?: string | undefined
  replace?: string | undefined
  allProjects: boolean
  inactive?: boolean | undefined
}

/** What its calls depend on becomes the next revision, checked before it becomes active; name, projects and tags do not. */
export async function editProvider(context: AdminContext, input: EditProvider) {
  const provider = await findProvider(context, input.name)
  if (input.rename !== undefined && input.rename !== provider.name)
    if ((await context.store.providers.find(input.rename)) !== null)
      throw conflict(`The provider ${input.rename} already exists.`, 'Choose another name.')
  const usage = await loadUsage(context)
  const properties = {
    name: input.rename ?? provider.name,
    tags: mergePairs(provider.tags, input.tags),
    projects: await changeProjects(context, provider, input),
    limits: readLimits(provider.limits, input),
    active: input.inactive === undefined ? provider.active : !input.inactive,
  }
  const next = readNext(context, provider, input)
  const checked = await findNext(context, provider, next, input.skipCheck)

  const { name, tags, projects, limits, active } = provider
  if (!same(properties, { name, tags, projects, limits, active }))
    await writeProperties(context, provider, properties, usage)
  const current = { ...provider, ...properties }
  if (next.changed) await addRevision(context, current, next.revision, checked, usage)
  await context.runtime.publish()
  const changed = showProvider(await findProvider(context, provider.id), await loadUsage(context))
  return { ...changed, nodes: await confirmReach(context) }
}

/** `…`, as it is shown, leaves a header as it is. */
function readHeaders(context: AdminContext, { id, revision }: Provider, given: Record<string, string> = {}) {
  const written = Object.entries(given).filter(([, value]) => value !== hiddenHeader)
  checkHeaders(mergePairs({}, Object.fromEntries(written)))
  return sealHeaders(context, id, mergePairs(revision.headers, given), revision.headers)
}

interface Next {
  revision: ProviderRevision
  changed: boolean
  /** Address, settings or credential changed: what the check looks at. */
  check: boolean
  credential: Secret | null
}

function readNext(context: AdminContext, provider: Provider, input: EditProvider): Next {
  const { revision: before } = provider
  const kind = findProviderKind(context, provider.kind)
  const settings = readSettings(kind, before.settings, input)
  const credential = readCredential(input.credential)
  checkForm(kind, credential)
  const credentials =
    credential === null ? before.credentials : replaceCredential(context, provider, credential, input.replace)
  checkNeed(kind, settings, credentials.length > 0)
  const after = {
    baseUrl: readNextBaseUrl(kind, before, settings, input.baseUrl),
    headers: readHeaders(context, provider, input.headers),
    timeouts: readTimeouts(input, before.timeouts),
    settings,
    credentials,
  }
  if (isElsewhere(before.baseUrl, after.baseUrl))
    refuseElsewhere(provider, credential, after.headers, 'to another host, scheme or port')
  if (isOtherWay(before.settings, settings)) refuseElsewhere(provider, credential, after.headers, 'another way')
  const revision = { ...before, ...after }
  const check = after.baseUrl !== before.baseUrl || !same(settings, before.settings) || credential !== null
  return { revision, changed: !same(revision, before), check, credential }
}

/** Whoever may edit may not read credentials: sent to an address of his choice, he would have them in clear. */
function refuseElsewhere(
  { name, revision: { baseUrl, credentials, headers: stored } }: Provider,
  given: Secret | null,
  headers: Record<string, string>,
  where: string,
): void {
  const kept = Object.keys(headers).find(
    (header) => isHidden(headers[header] ?? '') && headers[header] === stored[header],
  )
  if (kept !== undefined)
    throw invalid(
      `The header ${kept} of ${name} was given for ${hideCredentials(baseUrl)}: it is not sent ${where}.`,
      `Give it again together with the new address, or remove it: --header ${kept}=`,
    )
  if (credentials.length > 1)
    throw invalid(
      `${name} has a pool of ${credentials.length} credentials, given for ${hideCredentials(baseUrl)}: they are not sent ${where}.`,
      'Add another provider for that address; or remove all but one, and give that again with the new address.',
    )
  if (credentials.length === 1 && given === null)
    throw invalid(
      `The credential of ${name} was given for ${hideCredentials(baseUrl)}: it is not sent ${where}.`,
      'Give it again together with the new address: --credential-stdin or --credential-env VAR.',
    )
}

/** One that followed from the settings goes on following them. */
function readNextBaseUrl(
  kind: ProviderKind,
  before: ProviderRevision,
  settings: ProviderRevision['settings'],
  given: string | undefined,
): string {
  const followed = before.baseUrl === defaultBaseUrl(kind, before.settings)
  return given === undefined && !followed ? before.baseUrl : readBaseUrl(kind, settings, given)
}

/** It keeps its place in the pool: its position, which resting and affinity go by, and its id, by which objects are found that were made with it. */
function replaceCredential(
  context: AdminContext,
  provider: Provider,
  credential: Secret,
  which: string | undefined,
): SealedCredential[] {
  const pool = provider.revision.credentials
  if (pool.length === 0) return [sealCredential(context, provider.id, credential)]
  const place = which === undefined ? (pool.length === 1 ? 0 : -1) : findCredential(pool, which)
  if (place === -1)
    throw invalid(
      which === undefined
        ? `${provider.name} has a pool of ${pool.length} credentials.`
        : `${provider.name} has no credential ${JSON.stringify(which)}.`,
      `Say which with --replace: spgw providers credentials list ${provider.name}`,
    )
  return pool.map((one, index) => (index === place ? sealCredential(context, provider.id, credential, one.id) : one))
}

export function findCredential(pool: readonly SealedCredential[], which: string): number {
  return pool.findIndex(({ id, lastFour }) => id === which || (lastFour !== '' && lastFour === which))
}

/** null: nothing new is known of it. */
async function findNext(context: AdminContext, provider: Provider, next: Next, skip: boolean): Promise<Found | null> {
  const { id, readiness, revision } = provider
  const shut = findHeaderShut(context, id, next.revision.headers)
  if (shut !== null) return found({ ok: false, reason: 'credential_sealed', message: shut, models: [] })
  if (next.check) return await checkNext(context, provider, next, skip)
  return readiness.state === 'failing' && readiness.reason === findHeaderShut(context, id, revision.headers)
    ? unchecked()
    : null
}

/** The new credential is what is asked with; without one, the first of the pool. */
async function checkNext(context: AdminContext, provider: Provider, next: Next, skip: boolean): Promise<Found> {
  const kind = findProviderKind(context, provider.kind)
  const [first] = next.revision.credentials
  const credential = next.credential ?? (first === undefined ? null : openSealed(context, provider.id, first))
  return checkFirst(context, kind, { ...provider, revision: next.revision }, credential, skip)
}

type Properties = Pick<Provider, 'name' | 'tags' | 'projects' | 'limits' | 'active'>

async function writeProperties(context: AdminContext, provider: Provider, to: Properties, usage: Usage) {
  const before = auditProvider(provider, usage)
  const after = auditProvider({ ...provider, ...to }, usage)
  const line = { operation: 'providers.edit', resource: resource(provider), before, after }
  await audited(context, line).providers.update(provider.id, to)
}

/** Adds the next revision and makes it active; what the check found is kept with it. */
export async function addRevision(
  context: AdminContext,
  provider: Provider,
  change: ProviderRevision,
  checked: Found | null,
  usage: Usage,
  operation = 'providers.edit',
): Promise<void> {
  const numbers = (await context.store.providers.revisions(provider.id)).map((one) => one.number)
  const revision: ProviderRevision = {
    ...change,
    number: Math.max(0, ...numbers) + 1,
    createdAt: new Date().toISOString(),
    createdBy: context.caller.name,
  }
  const before = auditProvider(provider, usage)
  const after = auditProvider({ ...provider, activeRevision: revision.number, revision }, usage)
  const line = { operation, resource: resource(provider), before, after }
  await audited(context, line).providers.addRevision(provider.id, revision)
  if (checked !== null) await context.store.providers.setReadiness(provider.id, checked.readiness, checked.models)
}

async function changeProjects(
  context: AdminContext,
  provider: Provider,
  input: EditProvider,
): Promise<string[] | null> {
  if (input.allProjects && input.projects !== undefined)
    throw invalid('--project and --all-projects exclude each other.', 'Give one of them.')
  if (input.allProjects) return null
  return input.projects === undefined ? provider.projects : readProjects(context, input.projects)
}

/** Plain data whose members come in one order. */
function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
