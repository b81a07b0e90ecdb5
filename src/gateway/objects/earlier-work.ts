import { mayUseModel } from '../../policy/admit.ts'
import { holdOf, increment } from '../../policy/limits/expected-use.ts'
import type { Pin } from '../../routing/pinned-plan.ts'
import { visibleModels } from '../../routing/plan.ts'
import type { Call } from '../request/call.ts'
import { budgetsOf } from '../upstream/hold-budgets.ts'
import { planModel } from '../upstream/plan-call.ts'
import { scopeOf } from './find-owner.ts'
import type { EarlierWork } from './object-notes.ts'

/**
 * For a call under a budget whose body names no model: the earlier work that it continues. If that is unknown (it was created before there
 * was a budget, or the node that made it cannot be reached), the most expensive model that the key may use there is assumed, and noted on
 * the record.
 */
export async function findEarlierWork(call: Call, pin: Pin): Promise<EarlierWork | null> {
  const { gateway, arrival, trace } = call
  const { providerId, credentialId = null } = pin
  if (budgetsOf(arrival) === null && !gateway.model.configuration.limitsAccounts) return null
  const workId = runOf(call)
  const held = await gateway.objects.work(workId, { providerId, credentialId }, scopeOf(call.key))
  if (held !== null && held.model !== null) {
    const input = held.step?.input ?? held.tokens.input
    return { model: held.model, input, output: held.limited === true ? 0 : null, held }
  }
  const model = dearestModel(call, pin)
  const counted =
    model === null
      ? 'this call holds almost nothing'
      : `this call is estimated as one of ${model}, the most expensive model there`
  trace.policySignals.push({
    rule: 'unpriced',
    verdict: 'flag',
    text: `It is not known here which model ${workId} uses: ${counted}, and its usage is counted once a call shows that it has ended.`,
    data: { model, provider: gateway.model.configuration.providers.get(providerId)?.row.name ?? null },
  })
  return model === null ? null : { model, input: 0, output: call.inspection.streamed ? null : increment, held: null }
}

/** The run's id in the path. */
function runOf({ match }: Call): string {
  const place = match.endpoint.path.split('/').indexOf('{run}')
  return match.path.split('/')[place] ?? ''
}

/** The model's name at the provider. */
function dearestModel(call: Call, pin: Pin): string | null {
  const { gateway, key, lane, policy } = call
  const live = gateway.model.configuration.providers.get(pin.providerId)
  if (live === undefined) return null
  const { projectId, environmentId } = key
  const maySee = (model: string) => mayUseModel(policy, model)
  const query = { lane: lane.name, projectId, environmentId, kinds: gateway.kinds, maySee }
  let dearest: { model: string; usd: bigint } | null = null
  for (const { name } of visibleModels(query, gateway.model.configuration.routes)) {
    const { route, candidates } = planModel(call, name, pin)
    const model = route === null ? undefined : candidates[0]?.upstreamModel
    const price = model === undefined ? null : gateway.model.priceOf(live, model)
    if (model === undefined || price === null) continue
    const usd = holdOf(price, increment, increment)
    if (dearest === null || usd > dearest.usd) dearest = { model, usd }
  }
  return dearest?.model ?? null
}
