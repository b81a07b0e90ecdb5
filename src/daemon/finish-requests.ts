import { type Counters, requestsInFlight, requestsServed } from '../policy/counters.ts'

/** Nobody sends anything more: load balancers ask about once a second. */
const quietMs = 1000
const lookMs = 25

/** Resolves when nothing runs and nothing new has come for a second, or at the limit; with how many requests run then. */
export async function finishRequests(counters: Pick<Counters, 'read'>, limitMs: number): Promise<number> {
  const running = () => counters.read(requestsInFlight)
  const until = performance.now() + limitMs
  let served = counters.read(requestsServed)
  for (let quietSince = performance.now(); performance.now() < until; ) {
    await new Promise((resolve) => setTimeout(resolve, lookMs))
    const [now, before] = [performance.now(), served]
    served = counters.read(requestsServed)
    if (running() > 0 || served !== before) quietSince = now
    else if (now - quietSince >= quietMs) return 0
  }
  return running()
}
