import { newId } from '../../../core/ids.ts'
import { noAccountLimits } from '../../../core/policies/policy-limits.ts'
import type { ProviderKind } from '../../../providers/contract.ts'
import { credentialNeed } from '../../../providers/index.ts'
import type { Provider, ProviderRevision } from '../../../store/api.ts'
import type { KindSettingsInput } from '../../contract/providers/kind-settings.ts'
import { audited } from '../audited.ts'
import type { AdminContext } from '../context.ts'
import { conflict, invalid } from '../fault.ts'
import { mergePairs, readTimeouts, type TimeoutInput } from '../moments.ts'
import { readLimits, type WrittenLimits } from './account-usage.ts'
import { checkFirst, checkForm, readCredential, sealCredential } from './provider-check.ts'
import { sealHeaders } from './provider-headers.ts'
import { checkHeaders, findProviderKind, readBaseUrl, readProjects, readSettings } from './provider-input.ts'
import { auditProvider, loadUsage, resource, showProvider } from './show-provider.ts'

export interface AddProvider extends TimeoutInput, KindSettingsInput, WrittenLimits {
  name: string
  kind: string
  baseUrl?: string | undefined
  credential?: string | undefined
  headers?: Record<string, string> | undefined
  projects?: string[] | undefined
  tags?: Record<string, string> | undefined
  skipCheck: boolean
  inactive: boolean
}

/** Everything is read and checked before anything is stored. */
export async function addProvider(context: AdminContext, input: AddProvider) {
  if ((await context.store.providers.find(input.name)) !== null)
    throw conflict(`The provider ${input.name} already exists.`, `Change it: spgw providers edit ${input.name}`)
  const kind = findProviderKind(context, input.kind)
  const settings = readSettings(kind, {}, input)
  const baseUrl = readBaseUrl(kind, settings, input.baseUrl)
  const credential = readCredential(input.credential)
  checkForm(kind, credential)
  checkNeed(kind, settings, credential !== null)
  const given = checkHeaders(mergePairs({}, input.headers))
  const projects = await readProjects(context, input.projects)
  const target = { name: input.name, kind: kind.kind, revision: { baseUrl, settings } }
  const { readiness, models } = await checkFirst(context, kind, target, credential, input.skipCheck)

  const id = newId('prv')
  const headers = sealHeaders(context, id, given, {})
  const createdAt = new Date().toISOString()
  const revision: ProviderRevision = {
    number: 1,
    baseUrl,
    headers,
    timeouts: readTimeouts(input),
    settings,
    credentials: credential === null ? [] : [sealCredential(context, id, credential)],
    createdAt,
    createdBy: context.caller.name,
  }
  const provider: Provider = {
    id,
    name: input.name,
    kind: kind.kind,
    active: !input.inactive,
    projects,
    tags: mergePairs({}, input.tags),
    activeRevision: 1,
    readiness,
    models: models ?? [],
    limits: readLimits(noAccountLimits, input),
    createdAt,
    revision,
  }
  const usage = await loadUsage(context)
  const after = auditProvider(provider, usage)
  const line = { operation: 'providers.add', resource: resource(provider), before: null, after }
  const stored = await audited(context, line).providers.insert(provider, revision)
  await context.runtime.publish()
  return showProvider(stored, usage)
}

export function checkNeed(kind: ProviderKind, settings: ProviderRevision['settings'], given: boolean): void {
  const need = credentialNeed(kind, settings)
  if (need === 'required' && !given)
    throw invalid(
      `A provider of the kind ${kind.kind} needs a credential.`,
      'Give it with --credential-stdin or --credential-env VAR.',
    )
  if (need === 'none' && given)
    throw invalid(`A provider of the kind ${kind.kind} takes no credential.`, 'Leave the credential out.')
}
