import { mintSecret } from '../admin/handlers/keys/mint-secret.ts'
import { newId } from '../core/ids.ts'
import { noAccountLimits } from '../core/policies/policy-limits.ts'
import { demoActor } from '../core/secrets/gateway-key.ts'
import { demo } from '../providers/demo.ts'
import type { Environment, Project, StoreClient } from '../store/api.ts'
import { firstEnvironment, firstProject } from './foundation.ts'

const name = 'demo'
const model = 'demo*'

/**
 * What `serve --demo` makes when it is missing: the demo provider, a route to it, and a policy that keeps the demo key
 * to that route. The key is new at each start, and the one before is revoked (contract.md rule 19). Whatever an operator
 * sets up beside them, the key reaches no other provider: the publisher marks it by `demoActor`.
 */
export async function prepareDemo(store: StoreClient): Promise<{ key: string }> {
  const project = (await store.projects.find(firstProject)) ?? (await store.projects.list())[0]
  const environment =
    project &&
    ((await store.environments.find(project.id, firstEnvironment)) ?? (await store.environments.list(project.id))[0])
  if (!project || !environment)
    throw new Error('The demo needs a project with an environment. Add one and start again.')
  const providerId = await ensureProvider(store)
  await ensureRoute(store, project, providerId)
  const policyId = await ensurePolicy(store)
  return { key: await renewKey(store, project, environment, policyId) }
}

function audited(store: StoreClient, operation: string, id: string, resource = name) {
  const [noun = ''] = operation.split('.')
  const kind = noun.replace(/ies$/, 'y').replace(/s$/, '')
  return store.audited({
    actor: demoActor,
    surface: 'gateway',
    operation,
    resource: { kind, id, name: resource },
    before: null,
    after: { name: resource },
  })
}

async function ensureProvider(store: StoreClient): Promise<string> {
  const found = await store.providers.find(name)
  if (found !== null) return found.id
  const createdAt = new Date().toISOString()
  const revision = {
    number: 1,
    baseUrl: demo.defaultBaseUrl,
    headers: {},
    timeouts: {},
    settings: {},
    credentials: [],
    createdAt,
    createdBy: demoActor,
  }
  const provider = {
    id: newId('prv'),
    name,
    kind: 'demo',
    active: true,
    projects: null,
    tags: {},
    activeRevision: 1,
    readiness: { state: 'ready' as const, reason: null, since: createdAt },
    models: [...(demo.fixedModels ?? [])],
    limits: noAccountLimits,
    createdAt,
    revision,
  }
  await audited(store, 'providers.add', provider.id).providers.insert(provider, revision)
  return provider.id
}

async function ensureRoute(store: StoreClient, project: Project, providerId: string): Promise<void> {
  const routes = await store.routes.list(project.id)
  if (routes.some((route) => route.model === model)) return
  const route = {
    id: newId('rte'),
    projectId: project.id,
    environmentId: null,
    model,
    enabled: true,
    strategy: 'priority' as const,
    targets: [{ providerId, upstreamModel: null, weight: 1, priority: 0, format: null }],
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
  }
  await audited(store, 'routes.add', route.id, model).routes.insert(route)
}

async function ensurePolicy(store: StoreClient): Promise<string> {
  const found = await store.policies.find(name)
  if (found !== null) return found.id
  const policy = {
    id: newId('pol'),
    name,
    attachedTo: { workspace: false, ids: [] },
    allowModels: [model],
    createdAt: new Date().toISOString(),
  }
  await audited(store, 'policies.add', policy.id).policies.insert(policy)
  return policy.id
}

async function renewKey(
  store: StoreClient,
  project: Project,
  environment: Environment,
  policyId: string,
): Promise<string> {
  const before = await store.keys.list(project.id, environment.id)
  const revokedAt = new Date().toISOString()
  for (const key of before) {
    if (key.name === name && key.revokedAt === null)
      await audited(store, 'keys.revoke', key.id).keys.update(key.id, { revokedAt })
  }
  const { key: clear, secret } = mintSecret()
  const key = {
    id: newId('key'),
    name,
    projectId: project.id,
    environmentId: environment.id,
    policyId,
    tags: {},
    createdAt: revokedAt,
    createdBy: demoActor,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    secrets: [secret],
  }
  await audited(store, 'keys.create', key.id).keys.insert(key)
  return clear
}
