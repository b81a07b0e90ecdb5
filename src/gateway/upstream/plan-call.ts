import type { Inspection } from '../../lanes/contract.ts'
import { mayUseModel } from '../../policy/admit.ts'
import type { Pin } from '../../routing/pinned-plan.ts'
import { type Plan, plan } from '../../routing/plan.ts'
import type { Call } from '../request/call.ts'

/** The candidates of a call, in order; what decided is on its record. */
export function planFor(call: Call): Plan {
  const { model, additionalModels } = call.inspection
  const planned = planModel(call, model, call.pin, additionalModels)
  for (const signal of planned.signals) {
    if (signal.rule === 'target' && signal.verdict === 'skipped') call.trace.skipped(signal)
    else call.trace.routingSignals.push(signal)
  }
  call.trace.route = planned.route?.model ?? null
  return planned
}

/** Records nothing: also for what a request names besides its model. */
export function planModel(
  call: Call,
  model: string | null,
  pin: Pin | null,
  additional?: Inspection['additionalModels'],
): Plan {
  const { gateway, key, arrival } = call
  const caller = callerOf(call)
  return plan(
    {
      lane: call.lane.name,
      model,
      additionalModels: additional,
      projectId: key.projectId,
      environmentId: key.environmentId,
      providerName: arrival.header('x-sp-provider'),
      pin,
      formatsOf: gateway.formatsOf,
      operation: call.match.endpoint.operation,
      serves: gateway.serves,
      health: (slot, credentials, target) => gateway.health.view(slot, arrival.receivedAt, credentials, target, caller),
      now: arrival.receivedAt,
      maySee: (each) => mayUseModel(call.policy, each),
      random: gateway.random,
    },
    gateway.model.configuration.routes,
  )
}

/** Whose failures count apart from others'; null in a gateway with a single key, whose failures count for all. */
export function callerOf({ gateway, key }: Call): string | null {
  return gateway.model.hasSingleKey ? null : key.id
}
