import type { Runtime, RuntimeStatus } from '../admin/handlers/context.ts'
import type { GatewayState, ProviderState } from '../console/metrics.ts'
import { partNames } from '../core/degraded.ts'
import type { SnapshotProvider } from '../store/configuration/snapshot.ts'

/** What the metrics tell, from memory alone: a store that does not answer keeps nobody waiting. */
export function readGatewayState(runtime: Runtime): GatewayState {
  const { configuration, keys } = runtime.snapshot()
  const now = runtime.status()
  const live = new Set(keys.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id))
  return {
    workers: now.workers,
    inFlight: now.inFlight,
    heldBytes: now.heldBytes,
    heldLimit: now.heldLimit,
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
  }
}

function showParts({ degraded, degradedTimes }: RuntimeStatus): GatewayState['parts'] {
  return partNames.map((part) => {
    const isSick = degraded.some((each) => each.part === part)
    return { part, degraded: isSick, times: degradedTimes.get(part) ?? 0 }
  })
}

function showProvider(
  { name, kind, active, slot, credentials, readiness }: SnapshotProvider,
  runtime: Runtime,
): ProviderState {
  const state = active ? stateOf(runtime.health(slot, credentials.length).state, readiness.state) : 'inactive'
  return { name, kind, state }
}

type LiveState = ReturnType<Runtime['health']>['state']

/** What traffic found goes first; where it found nothing bad, what the check found. */
function stateOf(live: LiveState, checked: SnapshotProvider['readiness']['state']): ProviderState['state'] {
  if (live === 'ready') return checked
  if (live === 'half-open') return 'probing'
  // The value that /metrics has always had.
  return live === 'cooling-down' ? 'resting' : live
}
