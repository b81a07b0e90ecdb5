import { fault } from '../core/errors.ts'
import { idTime } from '../core/ids.ts'
import type { ListedModel } from '../lanes/contract.ts'
import { effectivePolicy, mayUseModel } from '../policy/admit.ts'
import { visibleModels } from '../routing/plan.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { ownAnswerHeaders, refuse } from './respond.ts'
import { settle } from './settle.ts'

/** The lane's list of models, or one entry of it: those that the key may use, and nothing else (contract.md rule 6). */
export async function answerModels(gateway: Gateway, exchange: Exchange): Promise<void> {
  const models = modelsFor(gateway, exchange)
  const lane = exchange.lane!
  const match = exchange.match!
  if (match.endpoint.served === 'model-list')
    return answer(gateway, exchange, lane.renderModels(models, exchange.query))
  const wanted = match.pathModel
  const model = models.find(({ name }) => name === wanted)
  if (model === undefined)
    return refuse(
      gateway,
      exchange,
      fault('model_not_found', `There is no model ${JSON.stringify(wanted)} for this key.`),
    )
  return answer(gateway, exchange, lane.renderModel(model))
}

function modelsFor(gateway: Gateway, exchange: Exchange): ListedModel[] {
  const key = exchange.key!
  const { routes, policies } = gateway.model.configuration
  const policy = effectivePolicy(policies, key)
  const lane = exchange.lane!.name
  const { projectId, environmentId } = key
  const maySee = (model: string) => mayUseModel(policy, model)
  return visibleModels({ lane, projectId, environmentId, formatsOf: gateway.formatsOf, maySee }, routes).map(
    ({ name, providerKind, contextTokens, outputTokens, routeId }) => ({
      name,
      owner: providerKind,
      contextTokens,
      outputTokens,
      created: Math.floor((idTime(routeId) ?? 0) / 1000),
    }),
  )
}

async function answer(gateway: Gateway, exchange: Exchange, body: Buffer): Promise<void> {
  exchange.responseBytes = body.length
  exchange.capture?.ownAnswer(['content-type', 'application/json'], body)
  await settle(gateway, exchange, { status: 200, error: null, tokens: null })
  if (exchange.gone) return
  const headers = [
    ...ownAnswerHeaders(gateway, exchange),
    'content-type',
    'application/json',
    'content-length',
    String(body.length),
  ]
  exchange.response.writeHead(200, headers)
  exchange.response.end(body)
}
