import { fault } from '../../core/errors.ts'
import type { ObjectName } from '../../core/stored-object.ts'
import type { Reference } from '../../lanes/contract.ts'
import type { Exchange } from '../exchange.ts'
import type { Gateway } from '../gateway.ts'
import { refuse, refuseWith } from '../respond.ts'
import { resultsOf } from './batch-results.ts'
import { findOwner, type Ownership } from './find-owner.ts'
import { namedObjects } from './named-objects.ts'

/**
 * Before anything is planned: whether the caller may name what the call names. Null where it names nothing; else resolves
 * to whether the request goes on, which then has its `pin`. What is refused has its answer.
 */
export function checkObjects(gateway: Gateway, exchange: Exchange): Promise<boolean> | null {
  const names = namedObjects(exchange)
  if ('code' in names) return refuse(gateway, exchange, names).then(() => false)
  return names.length === 0 ? null : check(gateway, exchange, names)
}

async function check(gateway: Gateway, exchange: Exchange, names: readonly Reference[]): Promise<boolean> {
  const found = await findAll(gateway, exchange, names)
  if (found.kind === 'owned') {
    exchange.pin = found.pin
    exchange.named = names
    exchange.results = resultsOf(exchange, found.object)
    return true
  }
  if (found.kind === 'refused') await refuse(gateway, exchange, found.fault)
  else await answerNotFound(gateway, exchange, found.name, found.why)
  return false
}

/** With what the files refer to that are given to be carried out. */
async function findAll(gateway: Gateway, exchange: Exchange, names: readonly Reference[]): Promise<Ownership> {
  const found = await findOwner(gateway, exchange, names)
  const inputs = names.filter(({ input }) => input === true)
  if (inputs.length === 0 || found.kind !== 'owned') return found
  exchange.pin = found.pin
  const { checkInputs } = await import('./check-inputs.ts')
  return await checkInputs(gateway, exchange, names, inputs, found)
}

/** As if the provider had said it: nobody learns here what others have. */
export async function answerNotFound(
  gateway: Gateway,
  exchange: Exchange,
  name: ObjectName,
  why: string,
): Promise<void> {
  exchange.routingSignals.push({ rule: 'object', verdict: 'deny', text: why })
  const rendered = exchange.lane!.objects.notFound(exchange.match!, name, exchange.id)
  const reason = fault('object_not_found', `There is no ${name.type.replaceAll('_', ' ')} of that id for this key.`)
  await refuseWith(gateway, exchange, reason, rendered)
}
