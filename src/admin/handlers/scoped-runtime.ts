import type { StoreClient } from '../../store/api.ts'
import type { Runtime, SentCall } from './context.ts'
import { isAble, isSeen, type Scope } from './scope.ts'

/** The running gateway as far as the scope goes. */
export function scopeRuntime(runtime: Runtime, scope: Scope, store: Pick<StoreClient, 'projects'>): Runtime {
  if (scope.able === null) return runtime
  return Object.create(runtime, {
    snapshot: { value: () => scopeSnapshot(runtime, scope) },
    records: {
      value: (signal: AbortSignal, allStates?: boolean) => scopeRecords(runtime.records(signal, allStates), store),
    },
    tryRoute: {
      value: async (call: Parameters<Runtime['tryRoute']>[0]) => {
        if (!isAble(scope, call.projectId)) throw scope.refuse()
        return runtime.tryRoute(call)
      },
    },
    send: {
      value: (call: SentCall, signal: AbortSignal) => {
        if (!isAble(scope, call.key.projectId)) throw scope.refuse()
        return runtime.send(call, signal)
      },
    },
    check: { value: () => Promise.reject(scope.refuse()) },
    backup: { value: () => Promise.reject(scope.refuse()) },
  }) as Runtime
}

/** Providers stay, since routes lead to them; whoever shows them asks the store. */
function scopeSnapshot(runtime: Runtime, scope: Scope): ReturnType<Runtime['snapshot']> {
  const { configuration, keys } = runtime.snapshot()
  const seen = ({ projectId }: { projectId: string }) => isSeen(scope, projectId)
  return { configuration: { ...configuration, routes: configuration.routes.filter(seen) }, keys: keys.filter(seen) }
}

/** Records carry names, and a project may be renamed while somebody looks on. */
async function* scopeRecords(records: ReturnType<Runtime['records']>, store: Pick<StoreClient, 'projects'>) {
  for await (const record of records) {
    if ((await store.projects.list()).some(({ name }) => name === record.project)) yield hideOthers(record)
  }
}

type Hidden = { routing_signals: { rule: string; verdict: string }[] }

/** The note for operators says where else there is a route. */
export function hideOthers<Record extends Hidden>(record: Record): Record {
  const kept = record.routing_signals.filter(({ rule, verdict }) => rule !== 'route' || verdict !== 'note')
  return { ...record, routing_signals: kept }
}
