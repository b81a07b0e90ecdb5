import type { RequestRecord } from '../../core/record.ts'
import type { ProjectName, StoreClient } from '../../store/api.ts'
import type { Runtime } from './context.ts'
import { type GrantScope, isAble, isSeen } from './scope.ts'

/** The running gateway as far as the scope goes. Named one by one, so that nothing new is let through unthought of. */
export function scopeRuntime(runtime: Runtime, scope: GrantScope, store: Pick<StoreClient, 'projects'>): Runtime {
  if (scope.able === null) return runtime
  const { version, startedAt, gatewayUrl, consoleUrl, dataDirectory, settingsFile } = runtime
  const refuse = () => {
    throw scope.refuse()
  }
  const requireAble = (projectId: string) => {
    if (!isAble(scope, projectId)) throw scope.refuse()
  }
  return {
    version,
    startedAt,
    gatewayUrl,
    consoleUrl,
    dataDirectory,
    settingsFile,
    publish: () => runtime.publish(),
    ingest: () => runtime.ingest(),
    changes: () => runtime.changes(),
    onChange: (listener) => runtime.onChange(listener),
    health: (...asked) => runtime.health(...asked),
    inspect: (...asked) => runtime.inspect(...asked),
    describeCall: (...asked) => runtime.describeCall(...asked),
    inspectContent: (...asked) => runtime.inspectContent(...asked),
    latency: (...asked) => runtime.latency(...asked),
    recall: (keys) => runtime.recall(keys),
    isUsable: (...asked) => runtime.isUsable(...asked),
    // A limit that several projects share is met by the keys of each.
    limitUsage: (...asked) => runtime.limitUsage(...asked),
    prices: () => runtime.prices(),
    targets: (slot) => runtime.targets(slot),
    shownSince: (...asked) => runtime.shownSince(...asked),
    // What of it is a sum over all projects is left out where it is shown.
    status: () => runtime.status(),
    bodiesKeptMs: () => runtime.bodiesKeptMs(),
    degraded: () => runtime.degraded(),
    snapshot: () => scopeSnapshot(runtime, scope),
    records: (signal, allStates) => scopeRecords(runtime.records(signal, allStates), store),
    closeStreams: (keyId) => runtime.closeStreams(keyId),
    async tryRoute(call) {
      requireAble(call.projectId)
      return runtime.tryRoute(call)
    },
    send(call, signal) {
      requireAble(call.key.projectId)
      return runtime.send(call, signal)
    },
    check: refuse,
    markReady: refuse,
    backup: refuse,
    departure: { begun: runtime.departure.begun, begin: refuse, undo: refuse, finish: refuse },
    // What is of the whole cluster is for the workspace's own; a key's revocation waits for all nodes.
    cluster: runtime.cluster,
  }
}

/** Providers stay, since routes lead to them; whoever shows them asks the store. */
function scopeSnapshot(runtime: Runtime, scope: GrantScope): ReturnType<Runtime['snapshot']> {
  const { configuration, keys } = runtime.snapshot()
  const seen = ({ projectId }: { projectId: string }) => isSeen(scope, projectId)
  return { configuration: { ...configuration, routes: configuration.routes.filter(seen) }, keys: keys.filter(seen) }
}

/** Records carry names, and a project may be renamed while somebody looks on. */
async function* scopeRecords(records: ReturnType<Runtime['records']>, store: Pick<StoreClient, 'projects'>) {
  for await (const record of records) {
    if (isRecordSeen(record, await store.projects.names())) yield hideOthers(record)
  }
}

/** Whether it is of a project to which one of these names belonged when the request came. */
export function isRecordSeen(record: Pick<RequestRecord, 'project' | 'time'>, names: readonly ProjectName[]): boolean {
  const { project, time } = record
  return names.some(({ name, since, until }) => name === project && time >= since && (until === null || time < until))
}

type Hidden = { routing_signals: { rule: string; verdict: string }[] }

/** The notes of these rules say where else there is a route, and whose an object is. */
const aboutOthers: readonly string[] = ['route', 'object']

export function hideOthers<Record extends Hidden>(record: Record): Record {
  const kept = record.routing_signals.filter(({ rule, verdict }) => verdict !== 'note' || !aboutOthers.includes(rule))
  return { ...record, routing_signals: kept }
}
