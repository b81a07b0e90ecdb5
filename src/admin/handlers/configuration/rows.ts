import { isFormatName } from '../../../core/format.ts'
import type { LaneName, TimeLimits } from '../../../core/lane.ts'
import { policyRules } from '../../../core/policies/policy-rules.ts'
import { parseShadow } from '../../../core/routes/route-options.ts'
import { hideCredentials } from '../../../core/secrets/address-credentials.ts'
import { rulesIn } from '../../../manifest/policy-rules.ts'
import { type Fields, objectsIn, type Plain } from '../../../manifest/resource.ts'
import type { Environment, Key, Policy, Provider, ProviderRevision, Route } from '../../../store/api.ts'
import type { Identifiers } from './identifiers.ts'
import { settingsIn } from './prepare.ts'

/** Fields of files as rows of the store. They have passed the forms and checks of a plan, which vouch for their types. */

export function textsIn(value: Plain | undefined): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

function timeoutsIn(fields: Fields): Partial<TimeLimits> {
  const limits: Partial<TimeLimits> = {}
  const take = (name: keyof TimeLimits, value: Plain | undefined) => {
    if (typeof value === 'number') limits[name] = value
  }
  take('connect', fields['timeouts.connect'])
  take('firstByte', fields['timeouts.first_byte'])
  take('betweenChunks', fields['timeouts.between_chunks'])
  take('total', fields['timeouts.total'])
  return limits
}

export function defaultProvidersOf(fields: Fields, ids: Identifiers): Environment['defaultProviders'] {
  const named = Object.entries((fields.default_providers ?? {}) as Record<LaneName, string>)
  return Object.fromEntries(named.map(([lane, name]) => [lane, ids.ofWorkspace('provider', name)]))
}

export function providerProperties(
  fields: Fields,
  ids: Identifiers,
): Pick<Provider, 'active' | 'projects' | 'tags' | 'limits'> {
  const projects = fields.projects === null ? null : textsIn(fields.projects)
  return {
    active: fields.active === true,
    projects: projects?.map((name) => ids.ofWorkspace('project', name)) ?? null,
    tags: fields.tags as Record<string, string>,
    limits: {
      rpm: numberIn(fields.rpm),
      tpm: numberIn(fields.tpm),
      budgetUsdMonth: numberIn(fields.budget_usd_month),
    },
  }
}

function numberIn(value: Plain | undefined): number | null {
  return typeof value === 'number' ? value : null
}

/** `before`: with the address that it shows without its credential. */
export function revisionOf(
  fields: Fields,
  before: ProviderRevision | undefined,
): Pick<ProviderRevision, 'baseUrl' | 'timeouts' | 'settings'> {
  const baseUrl = String(fields.base_url)
  return {
    baseUrl: before !== undefined && hideCredentials(before.baseUrl) === baseUrl ? before.baseUrl : baseUrl,
    timeouts: timeoutsIn(fields),
    settings: settingsIn(fields),
  }
}

export function policyOf(fields: Fields, ids: Identifiers): Omit<Policy, 'id' | 'name' | 'createdAt'> {
  return {
    attachedTo: ids.attachments(textsIn(fields.attach)),
    ...rulesIn(policyRules, fields),
  }
}

export function keyProperties(fields: Fields, ids: Identifiers): Pick<Key, 'policyId' | 'tags' | 'expiresAt'> {
  return {
    policyId: typeof fields.policy === 'string' ? ids.ofWorkspace('policy', fields.policy) : null,
    tags: fields.tags as Record<string, string>,
    expiresAt: typeof fields.expires_at === 'string' ? fields.expires_at : null,
  }
}

export function secretsOf(fields: Fields): Key['secrets'] {
  return objectsIn(fields.secrets).map(({ sha256, last_four, expires_at }) => ({
    hash: Buffer.from(String(sha256), 'hex').toString('base64'),
    lastFour: String(last_four),
    expiresAt: typeof expires_at === 'string' ? expires_at : null,
  }))
}

export function routeOf(
  fields: Fields,
  ids: Identifiers,
): Omit<Route, 'id' | 'projectId' | 'environmentId' | 'model' | 'createdAt'> {
  return {
    enabled: fields.enabled === true,
    strategy: fields.strategy as Route['strategy'],
    targets: objectsIn(fields.targets).map(({ provider, upstream_model, weight, priority, format }) => ({
      providerId: ids.ofWorkspace('provider', String(provider)),
      upstreamModel: typeof upstream_model === 'string' ? upstream_model : null,
      weight: Number(weight),
      priority: Number(priority),
      format: isFormatName(format) ? format : null,
    })),
    retries: Number(fields.retries),
    fallbackOn: textsIn(fields.fallback_on),
    timeouts: timeoutsIn(fields),
    strict: fields.strict === true,
    echoModel: fields.echo_model === true,
    sticky: fields.sticky === true,
    hedge: hedgeIn(fields),
    shadow: shadowIn(fields.shadow, ids),
    reasoningText: fields.reasoning_text !== false,
    fetchMedia: fields.fetch_media === true,
    cacheMs: numberIn(fields.cache),
    keepResponsesMs: numberIn(fields.keep_responses),
  }
}

function hedgeIn({ hedge_after: after, hedge_share: share }: Fields): Route['hedge'] {
  return typeof after === 'number' || after === 'p95' ? { after, share: Number(share) } : null
}

function shadowIn(written: Plain | undefined, ids: Identifiers): Route['shadow'] {
  const target = typeof written === 'string' ? parseShadow(written) : null
  return target === null
    ? null
    : { providerId: ids.ofWorkspace('provider', target.provider), upstreamModel: target.upstreamModel }
}
