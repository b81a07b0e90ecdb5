import { RouteIndex, type RouteShape } from '../routing/route-index.ts'
import { validateRoute } from '../routing/validate-route.ts'
import type { ConvertedRoute, ConvertedTarget } from './converted.ts'
import type { Source } from './source.ts'

const noRoutes = new RouteIndex([])

/** Without what `apply` would reject, by the same rules; all that is left out is reported. */
export function keepUsableRoutes(routes: readonly ConvertedRoute[], source: Source): ConvertedRoute[] {
  const names = new Set<string>()
  const single = routes.flatMap((route) => {
    const targets = route.targets.filter((target) => isUsable(route, target, source))
    const kept = { ...route, targets }
    if (targets.length === 0) return []
    if (names.has(route.model)) {
      const advice = 'Give it another name, or merge the targets of both.'
      source.skip([], `another route ${route.model}`, 'a model name has one route', advice)
      return []
    }
    names.add(route.model)
    return [kept]
  })
  const shapes = single.map((route) => shapeOf(route))
  const order = new Map(shapes.map((shape, place) => [shape.id, place]))
  const index = new RouteIndex(shapes)
  return single.filter((route, place) => {
    const shape = shapes[place]
    const rival = shape === undefined ? null : index.rival(shape)
    if (rival === null || (order.get(rival.id) ?? place) > place) return true
    const reason = `it is as exact as ${rival.model}, which matches some of the same names`
    source.skip([], `route ${route.model}`, reason, 'Add it with a longer pattern.')
    return false
  })
}

function isUsable(route: ConvertedRoute, target: ConvertedTarget, source: Source): boolean {
  const problem = validateRoute(shapeOf({ ...route, targets: [target] }), noRoutes)
  if (problem === null) return true
  const upstream = target.upstream_model === undefined ? '' : `:${target.upstream_model}`
  const what =
    problem.field === 'model' ? `route ${route.model}` : `target ${target.provider}${upstream} of ${route.model}`
  source.skip([], what, problem.message.replace(/\.$/, ''), 'Add it by hand.')
  return false
}

function shapeOf({ model, targets }: ConvertedRoute): RouteShape {
  return {
    id: model,
    projectId: 'default',
    environmentId: null,
    model,
    targets: targets.map(({ upstream_model, weight = 1, priority = 0 }) => ({
      upstreamModel: upstream_model ?? null,
      weight,
      priority,
    })),
  }
}
