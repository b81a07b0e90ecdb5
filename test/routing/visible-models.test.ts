import { describe, expect, it } from 'vitest'
import type { LaneName } from '../../src/core/lane.ts'
import type { KindFacts, Kinds } from '../../src/routing/candidates.ts'
import { compileRoutes, findVisibleModel, visibleModels } from '../../src/routing/plan.ts'
import type { SnapshotProvider, SnapshotRoute } from '../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makeProvider, makeRoute, makeTarget } from '../support/snapshot.ts'

const listed = ['gpt-4o', 'gpt-4o-mini', 'whisper'].map((name) => ({
  name,
  contextTokens: 128_000,
  outputTokens: 16_384,
}))
const one = makeProvider('one', { models: listed })
const claude = makeProvider('claude', { kind: 'anthropic' })
const vendor = makeProvider('vendor', {
  kind: 'openai-compatible',
  models: [{ name: 'openai/gpt-5', contextTokens: null, outputTokens: null }],
})

const kinds: Kinds = new Map<string, KindFacts>([
  ['openai', { lanes: ['openai'] }],
  ['anthropic', { lanes: ['anthropic'] }],
  ['openai-compatible', { lanes: ['openai'] }],
])

function list(
  routes: SnapshotRoute[],
  parts: { lane?: LaneName; maySee?: (model: string) => boolean } = {},
  providers: SnapshotProvider[] = [one, claude, vendor],
) {
  const compiled = compileRoutes(makeConfiguration({ providers, routes }))
  const scope = { projectId: 'prj_a', environmentId: 'env_a1' }
  return visibleModels({ lane: 'openai', kinds, ...scope, ...parts }, compiled)
}

const names = (...input: Parameters<typeof list>) => list(...input).map(({ name }) => name)

describe('findVisibleModel', () => {
  const find = (name: string, routes: SnapshotRoute[], maySee = (_model: string) => true) => {
    const compiled = compileRoutes(makeConfiguration({ providers: [one, claude, vendor], routes }))
    const scope = { projectId: 'prj_a', environmentId: 'env_a1' }
    const query = { lane: 'openai' as const, kinds, ...scope, maySee }
    return findVisibleModel(query, compiled, name)
  }

  it('finds a name that a pattern serves, listed by its provider or not', () => {
    const routes = [makeRoute('gpt-*', [makeTarget('one')])]
    expect(find('gpt-4o', routes)).toMatchObject({ name: 'gpt-4o', contextTokens: 128_000 })
    expect(find('gpt-9', routes)).toMatchObject({ name: 'gpt-9', providerKind: 'openai', contextTokens: null })
    expect(find('claude-4', routes)).toBeNull()
  })

  it('finds nothing that the key may not see, that is off, or that the lane does not serve', () => {
    const routes = [makeRoute('gpt-*', [makeTarget('one')])]
    expect(find('gpt-9', routes, (model) => model !== 'gpt-9')).toBeNull()
    expect(find('gpt-9', [makeRoute('gpt-*', [makeTarget('one')], { enabled: false })])).toBeNull()
    expect(find('claude-4', [makeRoute('claude-*', [makeTarget('claude')])])).toBeNull()
  })
})

describe('visibleModels', () => {
  it('shows exact names with what is known of their limits', () => {
    const routes = [
      makeRoute('mine', [makeTarget('one:gpt-4o')], { id: 'rte_mine' }),
      makeRoute('other', [makeTarget('one:unknown')], { id: 'rte_other' }),
    ]
    expect(list(routes)).toEqual([
      { name: 'mine', routeId: 'rte_mine', providerKind: 'openai', contextTokens: 128_000, outputTokens: 16_384 },
      { name: 'other', routeId: 'rte_other', providerKind: 'openai', contextTokens: null, outputTokens: null },
    ])
  })

  it("shows for a pattern what the provider's own list has", () => {
    expect(names([makeRoute('gpt-*', [makeTarget('one')])])).toEqual(['gpt-4o', 'gpt-4o-mini'])
  })

  it('maps the names of a renamed pattern back', () => {
    expect(names([makeRoute('gpt-*', [makeTarget('vendor:openai/gpt-*')])])).toEqual(['gpt-5'])
    expect(names([makeRoute('gpt-*', [makeTarget('one:gpt-4o')])])).toEqual([])
  })

  it('shows only what an enabled route with an active provider serves on the lane', () => {
    const off = makeProvider('off', { active: false })
    const limited = makeProvider('limited', { projects: ['prj_b'] })
    const routes = [
      makeRoute('disabled', [makeTarget('one')], { enabled: false }),
      makeRoute('inactive', [makeTarget('off')]),
      makeRoute('strangers', [makeTarget('limited')]),
      makeRoute('claude', [makeTarget('claude')]),
      makeRoute('elsewhere', [makeTarget('one')], { projectId: 'prj_b' }),
    ]
    expect(names(routes, {}, [one, claude, off, limited])).toEqual([])
    expect(names(routes, { lane: 'anthropic' }, [one, claude, off, limited])).toEqual(['claude'])
  })

  it('shows each name once, through the route that would take it', () => {
    const routes = [
      makeRoute('gpt-*', [makeTarget('one')]),
      makeRoute('gpt-4o', [makeTarget('claude')], { environmentId: 'env_a1', environment: 'production' }),
      makeRoute('*', [makeTarget('one')]),
    ]
    expect(names(routes)).toEqual(['gpt-4o-mini', 'whisper'])
  })

  it('shows nothing that a policy hides', () => {
    expect(names([makeRoute('*', [makeTarget('one')])], { maySee: (model) => model === 'whisper' })).toEqual([
      'whisper',
    ])
  })
})

describe('what a model reads and writes at most', () => {
  it('is as its provider lists it, else as the query knows it of the model that is asked', () => {
    const scope = { projectId: 'prj_a', environmentId: 'env_a1' }
    const routes = [
      makeRoute('mine', [makeTarget('one:gpt-4o')]),
      makeRoute('yours', [makeTarget('vendor:openai/gpt-5')]),
    ]
    const compiled = compileRoutes(makeConfiguration({ providers: [one, vendor], routes }))
    const priceOf = ({ name }: SnapshotProvider, model: string) =>
      model === 'openai/gpt-5' ? { max_input: 272_000, max_output: name.length } : { max_input: 9, max_output: 9 }
    const found = visibleModels({ lane: 'openai', kinds, ...scope, priceOf }, compiled)
    expect(found.map(({ name, contextTokens, outputTokens }) => [name, contextTokens, outputTokens])).toEqual([
      ['mine', 128_000, 16_384],
      ['yours', 272_000, 6],
    ])
  })
})
