import { policyRules } from '../../../core/policies/policy-rules.ts'
import { usualHedgeShare, writeShadow } from '../../../core/routes/route-options.ts'
import { hideCredentials } from '../../../core/secrets/address-credentials.ts'
import { mapInSlices } from '../../../core/threads/slices.ts'
import { ruleFields } from '../../../manifest/policy-rules.ts'
import type { Fields, ManifestResource, Plain } from '../../../manifest/resource.ts'
import type { Keyring } from '../../../sealing/keyring.ts'
import { SealError } from '../../../sealing/seal-error.ts'
import type {
  Alert,
  Environment,
  Key,
  Policy,
  Provider,
  Route,
  SealedCredential,
  StoredConfiguration,
} from '../../../store/api.ts'
import { openReceiver } from '../alerts/receiver.ts'
import { openSealed } from '../providers/provider-check.ts'
import { describeHeaders } from '../providers/provider-headers.ts'
import { showTarget } from '../routes/route-targets.ts'

/** The configuration as files describe it: by names, without what the gateway found or counted. */
export interface CurrentState {
  head: string | null
  resources: ManifestResource[]
  /** Keys that are revoked: what a file says of them is passed over. */
  revoked: ManifestResource[]
  /** By id, as they are stored. */
  providers: Map<string, Provider>
  alerts: Map<string, Alert>
}

type NameOf = (id: string) => string

export async function describeState(
  { stored, alerts, owned, head }: StoredConfiguration,
  keyring: Keyring,
): Promise<CurrentState> {
  const names = new Map<string, string>()
  for (const row of [
    ...stored.projects,
    ...stored.environments,
    ...stored.providers,
    ...stored.policies,
    ...stored.keys,
  ])
    names.set(row.id, row.name)
  const nameOf: NameOf = (id) => names.get(id) ?? id
  const owners = Map.groupBy(owned, ({ resourceId }) => resourceId)
  const own = (id: string) => Object.fromEntries((owners.get(id) ?? []).map(({ field, owner }) => [field, owner]))
  const make = (
    kind: ManifestResource['kind'],
    row: { id: string; name: string },
    fields: Fields,
  ): ManifestResource => ({
    ...{ kind, name: row.name, project: null, environment: null },
    ...{ id: row.id, fields, owned: own(row.id) },
  })
  const keys = await mapInSlices(stored.keys, (key) => ({
    resource: {
      ...make('key', key, keyFields(key, nameOf)),
      project: nameOf(key.projectId),
      environment: nameOf(key.environmentId),
    },
    revoked: key.revokedAt !== null,
  }))
  const attachment = attachmentWords(stored, nameOf)
  return {
    head,
    resources: [
      ...stored.projects.map((project) => make('project', project, {})),
      ...(await mapInSlices(stored.environments, (environment) => ({
        ...make('environment', environment, environmentFields(environment, nameOf)),
        project: nameOf(environment.projectId),
      }))),
      ...(await mapInSlices(stored.providers, (provider) =>
        make('provider', provider, providerFields(provider, nameOf, keyring)),
      )),
      ...(await mapInSlices(stored.policies, (policy) => make('policy', policy, policyFields(policy, attachment)))),
      ...keys.filter(({ revoked }) => !revoked).map(({ resource }) => resource),
      ...(await mapInSlices(stored.routes, (route) => ({
        ...make('route', { id: route.id, name: route.model }, routeFields(route, nameOf)),
        project: route.project,
        environment: route.environment,
      }))),
      ...alerts.map((alert) => make('alert', alert, alertFields(alert, keyring))),
    ],
    revoked: keys.filter(({ revoked }) => revoked).map(({ resource }) => resource),
    providers: new Map(stored.providers.map((provider) => [provider.id, provider])),
    alerts: new Map(alerts.map((alert) => [alert.id, alert])),
  }
}

function environmentFields({ defaultProviders }: Environment, nameOf: NameOf): Fields {
  const entries = Object.entries(defaultProviders).map(([lane, id]) => [lane, nameOf(id)])
  return { default_providers: Object.fromEntries(entries) }
}

function timeoutFields(timeouts: Provider['revision']['timeouts']): Fields {
  return {
    'timeouts.connect': timeouts.connect ?? null,
    'timeouts.first_byte': timeouts.firstByte ?? null,
    'timeouts.between_chunks': timeouts.betweenChunks ?? null,
    'timeouts.total': timeouts.total ?? null,
  }
}

function providerFields(provider: Provider, nameOf: NameOf, keyring: Keyring): Fields {
  const { revision } = provider
  const settings = Object.entries(revision.settings).map(([name, value]) => [`settings.${name}`, value])
  return {
    kind: provider.kind,
    active: provider.active,
    base_url: hideCredentials(revision.baseUrl),
    credentials: revision.credentials.map((credential) => credentialField(provider.id, credential, keyring)),
    headers: describeHeaders({ keyring }, provider.id, revision.headers),
    projects: provider.projects === null ? null : provider.projects.map(nameOf).sort(),
    ...timeoutFields(revision.timeouts),
    rpm: provider.limits.rpm,
    tpm: provider.limits.tpm,
    budget_usd_month: provider.limits.budgetUsdMonth,
    tags: provider.tags,
    ...Object.fromEntries(settings),
  }
}

function alertFields(alert: Alert, keyring: Keyring): Fields {
  const fingerprint = alertFingerprint(alert, keyring)
  return {
    url: { ...(fingerprint === null ? {} : { fingerprint }), shown: alert.shownUrl },
    format: alert.format,
    on: [...alert.events].sort(),
    active: alert.active,
  }
}

function alertFingerprint(alert: Alert, keyring: Keyring): string | null {
  try {
    return keyring.fingerprint(openReceiver({ keyring }, alert).url)
  } catch (error) {
    if (error instanceof SealError) return null
    throw error
  }
}

/** One that does not open differs from every other. */
function credentialField(providerId: string, credential: SealedCredential, keyring: Keyring): Plain {
  return { fingerprint: fingerprintOf(providerId, credential, keyring), last_four: credential.lastFour }
}

export function fingerprintOf(providerId: string, credential: SealedCredential, keyring: Keyring): string | null {
  try {
    return keyring.fingerprint(openSealed({ keyring }, providerId, credential).reveal())
  } catch (error) {
    if (error instanceof SealError) return null
    throw error
  }
}

function policyFields(policy: Policy, attachment: NameOf): Fields {
  const { workspace, ids } = policy.attachedTo
  return {
    ...ruleFields(policyRules, policy),
    attach: [...(workspace ? ['workspace'] : []), ...ids.map(attachment)].sort(),
  }
}

function attachmentWords({ projects, environments, keys }: StoredConfiguration['stored'], nameOf: NameOf): NameOf {
  const words = new Map<string, string>()
  for (const { id, name } of projects) words.set(id, `project:${name}`)
  for (const { id, name, projectId } of environments) words.set(id, `environment:${nameOf(projectId)}/${name}`)
  for (const { id, name, projectId, environmentId } of keys)
    words.set(id, `key:${nameOf(projectId)}/${nameOf(environmentId)}/${name}`)
  return (id) => words.get(id) ?? id
}

function keyFields(key: Key, nameOf: NameOf): Fields {
  const live = key.secrets.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > Date.now())
  return {
    policy: key.policyId === null ? null : nameOf(key.policyId),
    tags: key.tags,
    expires_at: key.expiresAt,
    secrets: live.map(({ hash, lastFour, expiresAt }) => ({
      sha256: Buffer.from(hash, 'base64').toString('hex'),
      last_four: lastFour,
      expires_at: expiresAt,
    })),
  }
}

function routeFields(route: Route, nameOf: NameOf): Fields {
  return {
    enabled: route.enabled,
    strategy: route.strategy,
    targets: route.targets.map((target) => showTarget(target, nameOf)),
    retries: route.retries,
    fallback_on: route.fallbackOn,
    ...timeoutFields(route.timeouts),
    strict: route.strict,
    echo_model: route.echoModel,
    sticky: route.sticky,
    hedge_after: route.hedge?.after ?? null,
    hedge_share: route.hedge?.share ?? usualHedgeShare,
    shadow: route.shadow === null ? null : writeShadow(nameOf(route.shadow.providerId), route.shadow.upstreamModel),
    reasoning_text: route.reasoningText,
    fetch_media: route.fetchMedia,
    cache: route.cacheMs,
    keep_responses: route.keepResponsesMs,
  }
}
