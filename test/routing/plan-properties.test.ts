import fc, { array, boolean, constantFrom, property, record, shuffledSubarray } from 'fast-check'
import { expect, it } from 'vitest'
import { compilePattern, matchesPattern } from '../../src/core/pattern.ts'
import { compileRoutes, plan, RouteIndex, type RouteShape, validateRoute } from '../../src/routing/plan.ts'
import type { SnapshotRoute } from '../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makeProvider, makeRoute, makeTarget } from '../support/snapshot.ts'

const short = array(constantFrom('a', 'b'), { maxLength: 3 }).map((parts) => parts.join(''))
const modelText = record({ before: short, after: short, star: boolean() }).map(({ before, after, star }) =>
  star ? `${before}*${after}` : `${before}${after}x`,
)
const anyRoute = record({ model: modelText, environment: constantFrom(null, 'env_a1', 'env_a2'), enabled: boolean() })

/** Only routes that could be made one after the other. */
const anyRoutes = array(anyRoute, { maxLength: 12 }).map((drafts) => {
  const routes: SnapshotRoute[] = []
  for (const { model, environment, enabled } of drafts) {
    const route = makeRoute(model, [makeTarget('one')], { environmentId: environment, environment, enabled })
    if (validateRoute(route, new RouteIndex(routes)) === null) routes.push(route)
  }
  return routes
})

function rank(route: RouteShape): number {
  const pattern = compilePattern(route.model)
  return (route.environmentId === null ? 0 : 1000) + (pattern.parts.length === 1 ? 100 : 0) + pattern.literals
}

function winner(routes: SnapshotRoute[], model: string): string | null {
  const compiled = compileRoutes(makeConfiguration({ providers: [makeProvider('one')], routes }))
  const query = { model, projectId: 'prj_a', environmentId: 'env_a1', providerName: null, lane: 'openai' as const }
  const ports = {
    kinds: new Map([['openai', { lanes: ['openai' as const] }]]),
    operation: null,
    health: () => ({ state: 'ready' as const }),
    random: () => 0,
    figures: { latencyOf: () => null, costOf: () => null },
    now: 0,
  }
  return plan({ ...query, ...ports }, compiled).route?.id ?? null
}

it('takes exactly the one highest-ranked route, whatever the order of routes', () => {
  const cases = anyRoutes.chain((routes) =>
    record({
      routes: constantFrom(routes),
      shuffled: shuffledSubarray(routes, { minLength: routes.length }),
      model: short,
    }),
  )
  fc.assert(
    property(cases, boolean(), ({ routes, shuffled, model: name }, exact) => {
      const model = exact ? `${name}x` : name
      const matching = routes.filter(
        ({ enabled, environmentId, model: text }) =>
          enabled && environmentId !== 'env_a2' && matchesPattern(compilePattern(text), model),
      )
      const best = Math.max(...matching.map(rank))
      const expected = matching.filter((route) => rank(route) === best)
      expect(expected.length).toBe(matching.length === 0 ? 0 : 1)
      expect(winner(routes, model)).toBe(expected[0]?.id ?? null)
      expect(winner(shuffled, model)).toBe(expected[0]?.id ?? null)
    }),
    { numRuns: 500 },
  )
})
