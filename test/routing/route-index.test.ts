import fc, { array, constantFrom, integer, property, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePattern, isExact, matchesPattern, type Pattern } from '../../src/core/pattern.ts'
import { RouteIndex, type RouteShape } from '../../src/routing/plan.ts'
import { growth } from '../support/count-steps.ts'

function shape(model: string, id: number, environmentId: string | null = null): RouteShape {
  return { id: `rte_${id}`, projectId: 'prj_a', environmentId, model, targets: [] }
}

/** Whether some name matches both: those of the longer sides do, if any does. */
function overlap(one: Pattern, other: Pattern): boolean {
  const [before, after] = [0, 1].map((part) => longer(one.parts[part], other.parts[part]))
  const name = `${before}${after}`
  return matchesPattern(one, name) && matchesPattern(other, name)
}

function longer(one = '', other = ''): string {
  return one.length > other.length ? one : other
}

describe('an index of routes', () => {
  const letters = (most: number) => array(constantFrom('a', 'b'), { maxLength: most }).map((all) => all.join(''))
  const model = tuple(letters(4), letters(4), integer({ min: 0, max: 3 })).map(([one, other, star]) =>
    star === 0 ? one + other : `${one}*${other}`,
  )

  it('finds a rival exactly where comparing with each route does', () => {
    fc.assert(
      property(array(model, { maxLength: 12 }), (models) => {
        const routes = [...new Set(models)].map((name, id) => shape(name, id, id % 3 === 0 ? 'env' : null))
        const index = new RouteIndex(routes)
        for (const route of routes) {
          const pattern = compilePattern(route.model)
          const rivals = routes.filter((other) => {
            const rival = compilePattern(other.model)
            if (other === route || other.environmentId !== route.environmentId) return false
            return (
              !(isExact(pattern) || isExact(rival)) && rival.literals === pattern.literals && overlap(pattern, rival)
            )
          })
          const found = index.rival(route)
          expect(found === null).toBe(rivals.length === 0)
          if (found !== null) expect(rivals).toContain(found)
          expect(index.twin(route)).toBeNull()
        }
      }),
      { numRuns: 3000 },
    )
  })

  it.each([
    ['that end alike', (id: number) => `model-${String(id).padStart(6, '0')}*`],
    ['that begin alike', (id: number) => `*${String(id).padStart(6, '0')}-model`],
    [
      'that meet in the middle',
      (id: number) => (id % 2 === 0 ? `a*x${String(id).padStart(6, '0')}` : `ab*${String(id).padStart(6, '0')}`),
    ],
    ['of names', (id: number) => `model-${id}`],
  ])('compares thousands of patterns %s with a few of them each', async (_what, name) => {
    const check = (count: number) => {
      const routes = Array.from({ length: count }, (_, id) => shape(name(id), id))
      const index = new RouteIndex(routes)
      return routes.filter((route) => index.rival(route) !== null || index.twin(route) !== null)
    }
    expect(check(100)).toEqual([])
    expect(await growth(check, 500)).toBeLessThan(2.4)
  })
})
