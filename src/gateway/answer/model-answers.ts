import { fault } from '../../core/errors.ts'
import { idTime } from '../../core/ids.ts'
import type { ListedModel } from '../../lanes/contract.ts'
import { mayUseModel } from '../../policy/admit.ts'
import { findVisibleModel, type ModelsQuery, type VisibleModel, visibleModels } from '../../routing/plan.ts'
import type { SnapshotProvider } from '../../store/configuration/snapshot.ts'
import type { Call } from '../request/call.ts'
import { answerOwn } from './answer-own.ts'
import { reject } from './respond.ts'

/** Answers with the lane's list of models, or one entry of it: only models that the key may use (contract.md rule 6). */
export async function answerModels(call: Call): Promise<void> {
  const { lane, match, arrival } = call
  const query = queryFor(call)
  const { routes } = call.gateway.model.configuration
  if (match.endpoint.served === 'model-list')
    return answerOwn(call, lane.renderModels(visibleModels(query, routes).map(toListed), arrival.query))
  const wanted = match.pathModel
  const model = wanted === null ? null : findVisibleModel(query, routes, wanted)
  if (model === null)
    return reject(arrival, fault('model_not_found', `There is no model ${JSON.stringify(wanted)} for this key.`))
  return answerOwn(call, lane.renderModel(toListed(model)))
}

function queryFor({ gateway, key, lane, policy }: Call): ModelsQuery {
  const { projectId, environmentId, onlyDemo } = key
  const maySee = (model: string) => mayUseModel(policy, model)
  const priceOf = ({ id }: SnapshotProvider, model: string) => {
    const provider = gateway.model.configuration.providers.get(id)
    return provider === undefined ? null : gateway.model.priceOf(provider, model)
  }
  return { lane: lane.name, projectId, environmentId, onlyDemo, kinds: gateway.kinds, maySee, priceOf }
}

function toListed({ name, providerKind, contextTokens, outputTokens, routeId }: VisibleModel): ListedModel {
  const created = Math.floor((idTime(routeId) ?? 0) / 1000)
  return { name, owner: providerKind, contextTokens, outputTokens, created }
}
