import type { Runtime } from '../admin/handlers/context.ts'
import type { GatewayState, ProviderState } from '../console/gateway-state.ts'
import { compilePattern, matchesPattern } from '../core/pattern.ts'
import { findKind } from '../providers/index.ts'
import type { StoreClient, StoreHealth } from '../store/api.ts'
import type { ConfigurationSnapshot, SnapshotProvider } from '../store/snapshot.ts'

/** A store that takes longer to say how it is, is told to be degraded, and the console answers without it. */
const patienceMs = 2000

type Health = Pick<StoreHealth, 'degraded'> & { databaseBytes: number | null; journalBytes: number | null }

/** What the console shows, from memory but for the store's own health. */
export async function readGatewayState(runtime: Runtime, store: Pick<StoreClient, 'health'>): Promise<GatewayState> {
  const health = await askStore(store)
  const { configuration, keys } = runtime.snapshot()
  const now = runtime.status()
  const live = new Set(keys.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id))
  return {
    startedAt: runtime.startedAt,
    gatewayUrl: runtime.gatewayUrl,
    dataDirectory: runtime.dataDirectory,
    workers: now.workers,
    inFlight: now.inFlight,
    requestsSinceStart: now.requestsSinceStart,
    parts: [
      { part: 'journal', reason: now.degraded.length === 0 ? null : now.degraded.join(' ') },
      { part: 'store', reason: health.degraded },
    ],
    providers: configuration.providers.map((provider) => showProvider(provider, runtime)),
    routes: configuration.routes.length,
    keys: live.size,
    databaseBytes: health.databaseBytes,
    journalBytes: health.journalBytes,
    exampleModel: findExample(configuration),
  }
}

async function askStore(store: Pick<StoreClient, 'health'>): Promise<Health> {
  const unknown = (degraded: string): Health => ({ degraded, databaseBytes: null, journalBytes: null })
  const overdue = Promise.withResolvers<Health>()
  const timer = setTimeout(() => overdue.resolve(unknown('The store does not answer.')), patienceMs)
  const asked = store
    .health()
    .catch((error: unknown) => unknown(error instanceof Error ? error.message : String(error)))
  const health = await Promise.race([asked, overdue.promise])
  clearTimeout(timer)
  return health
}

function showProvider(
  { name, kind, active, slot, credentials, readiness }: SnapshotProvider,
  runtime: Runtime,
): ProviderState {
  const state = active ? stateOf(runtime.health(slot, credentials.length).state, readiness.state) : 'inactive'
  return { name, kind, state, reason: active && state === 'failing' ? readiness.reason : null }
}

type LiveState = ReturnType<Runtime['health']>['state']

/** What traffic found goes first; where it found nothing bad, what the check found. */
function stateOf(live: LiveState, checked: SnapshotProvider['readiness']['state']): ProviderState['state'] {
  if (live === 'ready') return checked
  return live === 'half-open' ? 'probing' : live
}

/** A model that a call on the OpenAI lane reaches, of a name that stands in a command as it is. */
function findExample({ routes, providers }: ConfigurationSnapshot): string | null {
  const speaking = providers.filter(({ kind }) => findKind(kind)?.speaks.includes('openai'))
  const names = routes
    .filter(({ enabled }) => enabled)
    .flatMap(({ model, targets }) => {
      const pattern = compilePattern(model)
      return speaking
        .filter(({ id }) => targets.some(({ providerId }) => providerId === id))
        .flatMap(({ models }) => [
          model,
          ...models.map(({ name }) => name).filter((name) => matchesPattern(pattern, name)),
        ])
    })
  return names.find((name) => /^[\w.:/-]+$/.test(name)) ?? null
}
