import type { Fault } from '../../core/errors.ts'
import type { Limit } from '../../core/policies/policy-limits.ts'
import type { Call } from './call.ts'
import { amountsOf, recordLimits } from './take-limits.ts'

/** The longest that a request waits for all its limits, for example on a node that has just started or is busy. */
const longestWaitMs = 1000

/** Like `takeLimits`, for limits that nodes share: requests what this node does not have yet, and waits for it. */
export async function takeSharedLimits(call: Call, limits: readonly Limit[]): Promise<Fault | null> {
  const { gateway, inspection, arrival } = call
  const asked = amountsOf(call)
  const until = performance.now() + longestWaitMs
  for (;;) {
    const taken = gateway.limits.admit(limits, inspection.endUser, asked)
    const rest = until - performance.now()
    const want = 'taken' in taken || rest <= 0 || arrival.abort.aborted ? null : taken.want
    if (want === null) return recordLimits(call, taken)
    await gateway.limits.askOthers(want, rest)
  }
}
