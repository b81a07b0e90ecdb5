import type { Runtime } from '../admin/handlers/context.ts'
import { recall } from '../routing/affinity.ts'
import type { Shared } from './health/memory.ts'

/** What decides where requests go, at this moment, as all threads know it. */
export function routingView({
  health,
  affinities,
}: Shared): Pick<Runtime, 'health' | 'latency' | 'recall' | 'isUsable'> {
  return {
    health: (slot, credentials, target, keyId) => health.view(slot, Date.now(), credentials, target, keyId),
    latency: (target, streamed) => health.latency.find(target, streamed),
    recall: (keys) => recall(affinities, keys, Date.now()),
    isUsable: (target, credential) => health.isUsable(target, credential, Date.now()),
  }
}
