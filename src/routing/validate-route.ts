import { mostTargets } from '../core/routes/written-target.ts'
import { quote } from '../core/text/quote.ts'
import type { RouteIndex, RouteShape } from './route-index.ts'

interface RouteProblem {
  field: 'model' | 'targets' | 'shadow'
  /** What is wrong and what to do. */
  message: string
}

/** Why a route cannot be made or changed so; null: it can. `others` are all routes, itself included or not. */
export function validateRoute(route: RouteShape, others: RouteIndex): RouteProblem | null {
  return validateModel(route.model) ?? validateTargets(route) ?? validateShadow(route) ?? validateAgainst(route, others)
}

function validateModel(model: string): RouteProblem | null {
  if (model === '' || model !== model.trim()) return reject('model', 'The model needs a name without spaces around it.')
  if (!isPlainName(model)) return reject('model', notPlain(model))
  if (countStars(model) > 1) return reject('model', `${quote(model)} has more than one *; a pattern may have one.`)
  return null
}

function validateTargets({ model, targets }: RouteShape): RouteProblem | null {
  if (targets.length === 0) return reject('targets', 'The route has no target; name at least one provider.')
  if (targets.length > mostTargets) return reject('targets', `A route has at most ${mostTargets} targets.`)
  for (const { upstreamModel, weight, priority } of targets) {
    if (!(Number.isFinite(weight) && weight >= 0)) return reject('targets', 'A weight is a number from 0 up.')
    if (!Number.isInteger(priority)) return reject('targets', 'A priority is a whole number; lower goes first.')
    const problem = validateUpstream(model, upstreamModel)
    if (problem !== null) return reject('targets', problem)
  }
  return null
}

function validateShadow({ model, shadow }: RouteShape): RouteProblem | null {
  const problem = validateUpstream(model, shadow?.upstreamModel ?? null)
  return problem === null ? null : reject('shadow', problem)
}

function validateUpstream(model: string, upstreamModel: string | null): string | null {
  if (upstreamModel === null) return null
  if (upstreamModel === '') return 'An upstream model cannot be empty; leave it out for the same name.'
  if (!isPlainName(upstreamModel)) return notPlain(upstreamModel)
  if (countStars(upstreamModel) <= countStars(model)) return null
  return `${quote(upstreamModel)} has a * that nothing fills: it takes what the one * of the route's model matched.`
}

/** Two patterns of one scope tie when some name matches both and neither has more literal characters. */
function validateAgainst(route: RouteShape, others: RouteIndex): RouteProblem | null {
  if (others.twin(route) !== null)
    return reject('model', `This scope already has a route for ${quote(route.model)}; edit that one.`)
  const rival = others.rival(route)
  if (rival === null) return null
  return reject(
    'model',
    `${quote(route.model)} and ${quote(rival.model)} match some of the same names and are equally exact; make one longer.`,
  )
}

/** As long as a client's may be. */
const longestName = 512

/** Marks that turn or hide what stands around them would make one name look like another. */
function isPlainName(name: string): boolean {
  return name.length <= longestName && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(name)
}

function notPlain(name: string): string {
  return `${quote(name)} has characters that nobody can see, or more than ${longestName} of them.`
}

function countStars(text: string): number {
  return text.split('*').length - 1
}

function reject(field: RouteProblem['field'], message: string): RouteProblem {
  return { field, message }
}
