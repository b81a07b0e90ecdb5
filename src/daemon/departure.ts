import type { Runtime } from '../admin/handlers/context.ts'
import type { Counters } from '../policy/counters.ts'
import type { WorkerPool } from './threads/worker-pool.ts'

/** How the gateway is taken out of service: `/readyz` says so on every thread, while all that comes is served. */
export function departureOf(
  workers: Pick<WorkerPool, 'leaving' | 'setLeaving'>,
  counters: Pick<Counters, 'read'>,
  limitMs: () => number,
): Runtime['departure'] {
  return {
    get begun() {
      return workers.leaving
    },
    begin: () => workers.setLeaving(true),
    undo: () => workers.setLeaving(false),
    finish: async () => (await import('./finish-requests.ts')).finishRequests(counters, limitMs()),
  }
}
