import { createHash } from 'node:crypto'
import { newId } from '../../src/core/ids.ts'
import { noAccountLimits } from '../../src/core/policies/policy-limits.ts'
import { mintGatewayKey } from '../../src/core/secrets/gateway-key.ts'
import { findKind } from '../../src/providers/index.ts'
import type { Provider, StoreClient } from '../../src/store/api.ts'
import { applications, models } from './traffic.ts'

const createdBy = 'fill-records'

/** Ids of the keys that the records name, by name: those that are there, and invented ones for the rest. */
export async function findKeyIds(store: StoreClient): Promise<Map<string, string>> {
  const found = await store.keys.list(null, null)
  return new Map(
    applications.map(({ key }) => [key, found.find(({ name }) => name === key)?.id ?? newId('key', 1_780_000_000_000)]),
  )
}

/** The providers (of kind `demo`: nothing leaves the machine), routes and keys that the records name, as far as they are missing. */
export async function makeResources(store: StoreClient): Promise<void> {
  const [project] = await store.projects.list()
  const environment = project && (await store.environments.list(project.id))[0]
  if (!project || !environment) throw new Error('the data directory has no project with an environment')
  const names = new Set(
    models.flatMap(({ provider, fallback }) => [provider, ...(fallback ? [fallback.provider] : [])]),
  )
  for (const name of names) if ((await store.providers.find(name)) === null) await addProvider(store, name)
  for (const { key } of applications) {
    const scope = { projectId: project.id, environmentId: environment.id }
    if ((await store.keys.find(key, project.id, environment.id)) === null) await addKey(store, key, scope)
  }
  const routes = await store.routes.list(project.id)
  for (const model of new Set(models.map(({ route }) => route)))
    if (!routes.some((route) => route.model === model)) await addRoute(store, model, project.id)
}

async function addProvider(store: StoreClient, name: string): Promise<void> {
  const kind = findKind('demo')
  if (kind === null) throw new Error('there is no kind demo')
  const createdAt = new Date().toISOString()
  const revision = {
    number: 1,
    baseUrl: kind.defaultBaseUrl,
    headers: {},
    timeouts: {},
    settings: {},
    credentials: [],
    createdAt,
    createdBy,
  }
  const listed = models.filter(({ provider }) => provider === name)
  const provider: Provider = {
    id: newId('prv'),
    name,
    kind: kind.kind,
    active: true,
    projects: null,
    tags: {},
    activeRevision: 1,
    readiness: { state: 'ready', reason: null, since: createdAt },
    models: listed.map(({ upstream }) => ({ name: upstream, contextTokens: 128_000, outputTokens: 16_000 })),
    limits: noAccountLimits,
    createdAt,
    revision,
  }
  await store.providers.insert(provider, revision)
}

async function addRoute(store: StoreClient, model: string, projectId: string): Promise<void> {
  const served = models.find(({ route }) => route === model)
  const names = served === undefined ? [] : [served.provider, ...(served.fallback ? [served.fallback.provider] : [])]
  const providers = await Promise.all(names.map((name) => store.providers.find(name)))
  await store.routes.insert({
    id: newId('rte'),
    projectId,
    environmentId: null,
    model,
    enabled: true,
    strategy: 'priority',
    targets: providers
      .filter((provider) => provider !== null)
      .map(({ id }, priority) => ({ providerId: id, upstreamModel: null, weight: 1, priority, format: null })),
    retries: 1,
    fallbackOn: [],
    timeouts: {},
    strict: false,
    echoModel: false,
    sticky: false,
    hedge: null,
    shadow: null,
    reasoningText: true,
    fetchMedia: false,
    cacheMs: null,
    keepResponsesMs: null,
    createdAt: new Date().toISOString(),
  })
}

/** Nobody is shown the secret: the key is there to be looked at. */
async function addKey(
  store: StoreClient,
  name: string,
  scope: { projectId: string; environmentId: string },
): Promise<void> {
  const clear = mintGatewayKey()
  const hash = createHash('sha256').update(clear).digest('base64')
  await store.keys.insert({
    id: newId('key'),
    name,
    ...scope,
    policyId: null,
    tags: { team: applications.find(({ key }) => key === name)?.team ?? '' },
    createdAt: new Date().toISOString(),
    createdBy,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    secrets: [{ hash, lastFour: clear.slice(-4), expiresAt: null }],
  })
}
