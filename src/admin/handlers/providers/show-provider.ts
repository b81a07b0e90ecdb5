import { hideCredentials } from '../../../core/secrets/address-credentials.ts'
import { showHeaders } from '../../../core/secrets/provider-headers.ts'
import type { AttemptSums, Provider, ProviderRevision, Route, SealedCredential } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { type LiveStates, readStates, showState, showTargets, showWithoutModel } from '../live-states.ts'
import { showTimeouts } from '../moments.ts'
import { loadNames, type NamesById } from '../names.ts'
import { type AccountUsage, showAccountUsage, showLimits } from './account-usage.ts'
import { readLastHour } from './last-hour.ts'
import { describeHeaders } from './provider-headers.ts'

/** What is shown beside the configuration: how it is used. */
export interface Usage {
  names: NamesById
  /** By provider id. */
  routes: Map<string, Route[]>
  states: LiveStates
  /** By provider name. */
  lastHour: Map<string, AttemptSums>
  /** Of its account. */
  limits(provider: Provider): AccountUsage
  /** With fingerprints: else a change of what is hidden would be none, for the audit and for files that own it. */
  headers(provider: Provider): Record<string, string>
}

export async function loadUsage(
  context: Pick<AdminContext, 'store' | 'keyring' | 'scope' | 'runtime'>,
): Promise<Usage> {
  const [names, routes, lastHour] = await Promise.all([
    loadNames(context),
    context.store.routes.list(null),
    readLastHour(context),
  ])
  const byProvider = new Map<string, Route[]>()
  for (const route of routes)
    for (const id of new Set(route.targets.map((target) => target.providerId))) {
      const found = byProvider.get(id)
      if (found === undefined) byProvider.set(id, [route])
      else found.push(route)
    }
  const limits = (provider: Provider) => showAccountUsage(context, provider)
  const headers = ({ id, revision }: Provider) => describeHeaders(context, id, revision.headers)
  return { names, routes: byProvider, states: readStates(context), lastHour, limits, headers }
}

export const resource = ({ id, name }: Provider) => ({ kind: 'provider', id, name })

/** A provider as anybody may see it: of a credential the last four. */
export function showProvider(provider: Provider, usage: Usage) {
  const lastHour = usage.lastHour.get(provider.name)
  const routes = usage.routes.get(provider.id) ?? []
  return {
    ...configuration(provider.revision),
    base_url: hideCredentials(provider.revision.baseUrl) || null,
    id: provider.id,
    name: provider.name,
    kind: provider.kind,
    active: provider.active,
    ...showState(usage.states.provider(provider.id, provider.readiness)),
    state_code: provider.readiness.code ?? null,
    targets: showTargets(provider, routes, usage.states),
    calls_without_model: showWithoutModel(provider, usage.states),
    projects: provider.projects?.map(usage.names.project) ?? null,
    tags: provider.tags,
    models: provider.models.map(({ name, contextTokens, outputTokens }) => ({
      name,
      context_tokens: contextTokens,
      output_tokens: outputTokens,
    })),
    ...showLimits(provider.limits),
    limits: usage.limits(provider),
    revision: provider.activeRevision,
    routes: routes.length,
    last_hour: {
      requests: lastHour?.tried ?? 0,
      errors: lastHour?.failed ?? 0,
      tried: lastHour?.tried ?? 0,
      failed: lastHour?.failed ?? 0,
      fell_back: lastHour?.fell_back ?? 0,
      duration_p95_ms: lastHour?.duration_p95_ms ?? null,
    },
    owned: usage.names.owned(provider.id),
    created_at: provider.createdAt,
  }
}

export function showRevision(revision: ProviderRevision, active: number) {
  return {
    number: revision.number,
    active: revision.number === active,
    ...configuration(revision),
    created_at: revision.createdAt,
    created_by: revision.createdBy,
  }
}

function configuration({ baseUrl, headers, timeouts, settings, credentials }: ProviderRevision) {
  return {
    // Earlier versions accepted a credential there.
    base_url: hideCredentials(baseUrl),
    headers: showHeaders(headers),
    timeouts: showTimeouts(timeouts),
    settings,
    credentials: credentials.map(showCredential),
  }
}

export const showCredential = ({ id, lastFour, addedAt }: SealedCredential) => ({
  id,
  last_four: lastFour,
  added_at: addedAt,
})

/** For the audit: what an operator decided, without what the gateway found or counted. */
export function auditProvider(provider: Provider, { names, headers }: Usage) {
  return {
    ...configuration(provider.revision),
    headers: headers(provider),
    id: provider.id,
    name: provider.name,
    kind: provider.kind,
    active: provider.active,
    projects: provider.projects?.map(names.project) ?? null,
    tags: provider.tags,
    ...showLimits(provider.limits),
    revision: provider.activeRevision,
  }
}
