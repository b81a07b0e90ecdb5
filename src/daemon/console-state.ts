import type { Runtime, RuntimeStatus } from '../admin/handlers/context.ts'
import type { GatewayState, ProviderState } from '../console/gateway-state.ts'
import { partNames } from '../core/degraded.ts'
import { compilePattern, matchesPattern } from '../core/pattern.ts'
import { findKind } from '../providers/index.ts'
import type { ConfigurationSnapshot, SnapshotProvider } from '../store/snapshot.ts'

/** What the console shows, from memory alone: a store that does not answer keeps nobody waiting. */
export function readGatewayState(runtime: Runtime): GatewayState {
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
    parts: showParts(now),
    providers: configuration.providers.map((provider) => showProvider(provider, runtime)),
    routes: configuration.routes.length,
    keys: live.size,
    databaseBytes: now.store?.databaseBytes ?? null,
    journalBytes: now.store?.journalBytes ?? null,
    recordLagMs: now.store?.storedAt ? Math.max(0, Date.now() - Date.parse(now.store.storedAt)) : null,
    setAside: now.store?.setAside ?? [],
    entriesLost: now.entriesLost,
    exampleModel: findExample(configuration),
  }
}

function showParts({ degraded, degradedTimes }: RuntimeStatus): GatewayState['parts'] {
  return partNames.map((part) => {
    const sick = degraded.find((each) => each.part === part)
    return { part, reason: sick?.reason ?? null, since: sick?.since ?? null, times: degradedTimes.get(part) ?? 0 }
  })
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
