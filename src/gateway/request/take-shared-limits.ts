import type { Fault } from '../../core/errors.ts'
import type { Limit } from '../../core/policy-limits.ts'
import type { Call } from './call.ts'
import { askedOf, concludeLimits } from './take-limits.ts'

/** A request waits no longer than that for all its limits together: where a node was just started, or its machine is busy. */
const longestWaitMs = 1000

/** As `takeLimits`, of limits that nodes share: what this node was not given is asked for, and waited for. */
export async function takeSharedLimits(call: Call, limits: readonly Limit[]): Promise<Fault | null> {
  const { gateway, inspection, arrival } = call
  const asked = askedOf(call)
  const until = performance.now() + longestWaitMs
  for (;;) {
    const taken = gateway.limits.admit(limits, inspection.endUser, asked)
    const rest = until - performance.now()
    const want = 'taken' in taken || rest <= 0 || arrival.abort.aborted ? null : taken.want
    if (want === null) return concludeLimits(call, taken)
    await gateway.limits.askOthers(want, rest)
  }
}
