import type { Inspection } from '../lanes/contract.ts'
import { effectivePolicy, mayUseModel } from '../policy/admit.ts'
import type { Pin } from '../routing/pinned-plan.ts'
import { type Plan, plan } from '../routing/plan.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'

export function planFor(gateway: Gateway, exchange: Exchange): Plan {
  const { model, additionalModels: further } = exchange.inspection!
  const planned = planModel(gateway, exchange, model, exchange.pin, further)
  exchange.routingSignals.push(...planned.signals)
  exchange.route = planned.route?.model ?? null
  return planned
}

/** Notes nothing: also for what a request names besides its model. */
export function planModel(
  gateway: Gateway,
  exchange: Exchange,
  model: string | null,
  pin: Pin | null,
  further?: Inspection['additionalModels'],
): Plan {
  const { configuration } = gateway.model
  const policy = effectivePolicy(configuration.policies, exchange.key!)
  return plan(
    {
      lane: exchange.lane!.name,
      model,
      further,
      projectId: exchange.key!.projectId,
      environmentId: exchange.key!.environmentId,
      providerName: exchange.header('x-sp-provider'),
      pin,
      formatsOf: gateway.formatsOf,
      operation: exchange.match!.endpoint.operation,
      serves: gateway.serves,
      health: (slot, credentials) => gateway.health.view(slot, exchange.receivedAt, credentials),
      now: exchange.receivedAt,
      maySee: (each) => mayUseModel(policy, each),
      random: gateway.random,
    },
    configuration.routes,
  )
}
