import { bytesPerToken } from '../../core/cost/estimated-tokens.ts'
import type { Inspection } from '../../lanes/contract.ts'
import { mayBeSigned } from '../../lanes/conversation.ts'
import { mayUseModel } from '../../policy/admit.ts'
import { type Candidate, offersChoice } from '../../routing/candidates.ts'
import { denyUnpriced } from '../../routing/deny-unpriced.ts'
import type { Pin } from '../../routing/pinned-plan.ts'
import { type Plan, plan } from '../../routing/plan.ts'
import type { SnapshotKey } from '../../store/configuration/snapshot.ts'
import type { Call } from '../request/call.ts'

/** The candidates of a call, in order; writes the reasons to its record. */
export function planFor(call: Call): Plan {
  const { model, additionalModels } = call.inspection
  const found = planModel(call, model, call.pin, additionalModels)
  const planned = withoutUnpriced(call, found, [model, ...(additionalModels ?? []).map(({ name }) => name)])
  for (const signal of planned.signals) {
    if (signal.rule === 'target' && signal.verdict === 'skipped') call.trace.skipped(signal)
    else call.trace.routingSignals.push(signal)
  }
  call.trace.route = planned.route?.model ?? null
  return planned
}

/** Drops candidates without a price, if a policy denies them. */
export function withoutUnpriced(call: Call, found: Plan, names: readonly (string | null)[]): Plan {
  const { unpriced } = call.arrival
  const models = names.filter((name) => name !== null)
  if (unpriced?.denies !== true || models.length === 0) return found
  return denyUnpriced(found, { models, policy: unpriced.policy, isPriced: (candidate) => isPriced(call, candidate) })
}

/** Calls without tokens and the built-in provider need no price, and count as priced. */
export function isPriced({ gateway, match }: Call, candidate: Candidate): boolean {
  const { provider, upstreamModel, additionalUpstreamModels = [] } = candidate
  const live = gateway.model.configuration.providers.get(provider.id)
  if (live === undefined || live.kind.transport !== null || !match.endpoint.usesTokens) return true
  return [upstreamModel, ...additionalUpstreamModels].every((model) => gateway.model.priceOf(live, model) !== null)
}

/** Plans for one model without writing to the record, also for additional models that a request names. */
export function planModel(
  call: Call,
  model: string | null,
  pin: Pin | null,
  additional?: Inspection['additionalModels'],
): Plan {
  const { gateway, key, arrival, caller } = call
  const { format, counts, embeds } = call.match.endpoint
  return plan(
    {
      lane: call.lane.name,
      model,
      additionalModels: additional,
      projectId: key.projectId,
      environmentId: key.environmentId,
      onlyDemo: key.onlyDemo,
      providerName: arrival.request.headers['x-sp-provider']?.toString() ?? null,
      pin: pin ?? chosenPlace(key),
      kinds: gateway.kinds,
      operation: call.match.endpoint.operation,
      format: format ?? (model === null ? null : (counts ?? null)),
      counts: counts !== undefined,
      embeds: embeds === true,
      health: (slot, credentials, target) => gateway.health.view(slot, arrival.receivedAt, credentials, target, caller),
      now: arrival.receivedAt,
      maySee: (each) => mayUseModel(call.policy, each),
      random: gateway.random,
      figures: call,
    },
    gateway.model.configuration.routes,
  )
}

/** Providers do not cache shorter prompts. */
const leastBytes = 1024 * bytesPerToken

/** Whether to prefer the conversation's previous target: there is a choice, and the route or the request asks for it. */
export function mayUseAffinity({ match, body, pin }: Call, { route, candidates }: Plan): boolean {
  if (route === null || pin !== null || !offersChoice(candidates)) return false
  const { bytes } = body
  if (route.sticky && bytes.length >= leastBytes) return true
  const { signedReasoning } = match.endpoint
  return signedReasoning !== undefined && mayBeSigned(bytes, signedReasoning)
}

/** The provider that an operator chose for a replayed request. */
function chosenPlace({ onlyProviderId }: SnapshotKey): Pin | null {
  if (onlyProviderId === undefined) return null
  return { providerId: onlyProviderId, credentialId: null, what: 'replay', chosen: true }
}
