import { describe, expect, it } from 'vitest'
import { RouteIndex, type RouteShape, validateRoute } from '../../src/routing/plan.ts'

function shape(model: string, parts: Partial<RouteShape> & { upstream?: string } = {}): RouteShape {
  const targets = [{ upstreamModel: parts.upstream ?? null, weight: 1, priority: 0 }]
  return { id: `rte_${model}`, projectId: 'prj_a', environmentId: null, targets, ...parts, model }
}

const target = { upstreamModel: null, weight: 1, priority: 0 }

const refused: [string, RouteShape, RouteShape[], RegExp][] = [
  ['no target', shape('m', { targets: [] }), [], /no target/],
  ['an empty model', shape(''), [], /needs a name/],
  ['blanks around the model', shape(' m'), [], /spaces/],
  ['a name that moves the cursor', shape('\u001b[31mred'), [], /nobody can see/],
  ['a name that turns the text around', shape('a\u202eb'), [], /nobody can see/],
  ['half a character', shape('a\ud800'), [], /nobody can see/],
  ['a name without an end', shape('m'.repeat(513)), [], /512/],
  ['such a name upstream', shape('m', { upstream: 'a\nb' }), [], /nobody can see/],
  ['two stars', shape('a*b*'), [], /more than one \*/],
  ['a star that nothing fills', shape('m', { upstream: 'x-*' }), [], /nothing fills/],
  ['two stars upstream', shape('m*', { upstream: '*x*' }), [], /nothing fills/],
  ['an empty upstream model', shape('m', { upstream: '' }), [], /cannot be empty/],
  ['a negative weight', shape('m', { targets: [{ ...target, weight: -1 }] }), [], /weight/],
  ['a broken priority', shape('m', { targets: [{ ...target, priority: 0.5 }] }), [], /priority/],
  [
    'more targets than are looked at for a request',
    shape('m', { targets: Array(257).fill(target) }),
    [],
    /at most 256/,
  ],
  ['the same name twice', shape('m', { id: 'rte_new' }), [shape('m')], /already has a route/],
  ['a tie', shape('ab*'), [shape('*cd')], /equally exact/],
  ['a tie of nested ends', shape('a*cd'), [shape('ab*d')], /equally exact/],
]

const allowed: [string, RouteShape, RouteShape[]][] = [
  ['itself, edited', shape('gpt-*'), [shape('gpt-*')]],
  ['the same name in another environment', shape('m', { id: 'rte_2', environmentId: 'env_1' }), [shape('m')]],
  ['a tie with another project', shape('ab*'), [shape('*cd', { projectId: 'prj_b' })]],
  ['as many literals that never meet', shape('gpt-*'), [shape('foo-*')]],
  ['more literals', shape('gpt-*'), [shape('gpt-4*')]],
  ['an exact name as long as a pattern', shape('gpt-4'), [shape('gpt-4*')]],
  ['a star that the star fills', shape('gpt-*', { upstream: 'openai/gpt-*' }), []],
]

describe('validateRoute', () => {
  for (const [name, route, others, message] of refused) {
    it(`refuses ${name}`, () => expect(validateRoute(route, new RouteIndex(others))?.message).toMatch(message))
  }
  for (const [name, route, others] of allowed) {
    it(`allows ${name}`, () => expect(validateRoute(route, new RouteIndex(others))).toBeNull())
  }
})
