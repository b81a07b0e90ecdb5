import { describe, expect, it } from 'vitest'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { convertLitellm } from '../../src/import/litellm.ts'
import { convertPortkey } from '../../src/import/portkey.ts'
import { checkOutcome } from '../../src/manifest/check.ts'
import { makePlan } from '../../src/manifest/plan.ts'
import { readDocuments } from '../../src/manifest/read.ts'

/** Files come from anybody who may apply one, and from other programs. Each of these ends soon, with a problem or a result. */

const problemsIn = (text: string) => readDocuments([{ name: 'a.yaml', text }], {}).problems
const nested = (open: string, close: string, depth: number, core = '1') =>
  open.repeat(depth) + core + close.repeat(depth)

describe('a hostile file', () => {
  it.each([
    ['maps', `providers:\n  - name: a\n    tags: ${nested('{a: ', '}', 20_000)}\n`],
    ['lists', `routes: ${nested('[', ']', 20_000)}\n`],
    ['lists without an end', `routes: ${'['.repeat(20_000)}\n`],
  ])('of deep %s is rejected with a place', (_what, text) => {
    const problems = problemsIn(text)
    expect(problems.length).toBeGreaterThan(0)
    for (const { place, message } of problems) {
      expect(place).toMatch(/^a\.yaml:\d+:\d+$/)
      expect(message).not.toMatch(/call stack/)
    }
  })

  it.each([
    ['a list', 'providers: &p\n  - { name: a, tags: *p }\n'],
    ['a map', 'providers:\n  - &p { name: a, settings: *p }\n'],
    ['a merge', 'providers:\n  - &p\n    name: a\n    <<: *p\n'],
  ])('in which %s contains itself is rejected', (_what, text) => {
    expect(problemsIn(text)).toEqual([{ place: 'a.yaml', message: 'too many aliases' }])
  })

  it('whose aliases multiply is rejected', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for (let index = 1; index < 12; index++)
      lines.push(
        `a${index}: &a${index} [${Array(9)
          .fill(`*a${index - 1}`)
          .join(', ')}]`,
      )
    expect(problemsIn(lines.join('\n'))).toEqual([{ place: 'a.yaml', message: 'too many aliases' }])
  })

  it('with names of JavaScript’s own gives plain fields', () => {
    const text = 'constructor: 1\nproviders:\n  - { name: a, toString: x, tags: { __proto__: y, constructor: z } }\n'
    const { entries, problems } = readDocuments([{ name: 'a.yaml', text }], {})
    expect(problems.map(({ message }) => message)).toEqual(['unknown name constructor', 'unknown name toString'])
    expect(Object.entries(entries[0]?.fields.tags ?? {})).toEqual([
      ['__proto__', 'y'],
      ['constructor', 'z'],
    ])
    expect(({} as Record<string, unknown>).kind).toBeUndefined()
  })

  it('of many routes with stars is checked in a moment', async () => {
    const route = (index: number) => `  - { model: 'model-${String(index).padStart(4, '0')}*', provider: p }\n`
    const text =
      'projects: [{ name: default, environments: [production] }]\nproviders: [{ name: p, kind: demo }]\nroutes:\n' +
      Array.from({ length: 1000 }, (_, index) => route(index)).join('')
    const { entries, problems } = readDocuments([{ name: 'a.yaml', text }], {})
    const plan = await makePlan({ resources: [], entries, owner: 'file', prune: false, force: false })
    expect([problems, plan.problems, await checkOutcome(plan, () => true)]).toEqual([[], [], []])
  })

  it.each(['*', '**', 'a*b*', `${'*a'.repeat(200)}`, `${'a'.repeat(600)}*`])(
    'with the pattern %.20s is told so, or not',
    async (model) => {
      const text = `projects: [{ name: default, environments: [production] }]\nproviders: [{ name: p, kind: demo }]\nroutes: [{ model: '${model}', provider: p }]\n`
      const { entries } = readDocuments([{ name: 'a.yaml', text }], {})
      const plan = await makePlan({ resources: [], entries, owner: 'file', prune: false, force: false })
      const found = await checkOutcome(plan, () => true)
      expect(found.map(({ place }) => place)).toEqual(model === '*' ? [] : ['a.yaml:3:10'])
    },
  )
})

describe('a hostile file of another gateway', () => {
  const litellm = (text: string) => convertLitellm(parseSettingsFile(text, 'a.yaml'))
  const portkey = (text: string) => convertPortkey(parseSettingsFile(text, 'a.json'), '*')

  it('is rejected where it is too deep or contains itself', () => {
    expect(() => litellm(`model_list: ${nested('{a: ', '}', 20_000)}`)).toThrow('nested too deeply')
    expect(() => portkey(nested('{"targets":[', ']}', 20_000, '{}'))).toThrow('nested too deeply')
    expect(() => litellm('x-a: &a\n  <<: *a\nmodel_list: []\n')).toThrow('too many aliases')
    expect(() =>
      litellm('model_list: &a\n  - { model_name: x, litellm_params: { model: openai/x, extra: *a } }\n'),
    ).toThrow()
  })

  it('of groups within groups is converted as far as they can be read', () => {
    const { routes } = portkey(nested('{"targets":[', ']}', 100, '{"provider":"openai"}'))
    expect(routes).toMatchObject([{ targets: [{ provider: 'openai' }] }])
  })

  it.each([
    'model_list: 7',
    'model_list: [7, null, [], { model_name: 1 }, { model_name: a, litellm_params: [] }]',
    'model_list: [{ model_name: a, litellm_params: { model: "/" } }]',
    'model_list: [{ model_name: a, litellm_params: { model: toString/x } }]',
    'model_list: [{ model_name: __proto__, litellm_params: { model: constructor/x } }]',
    'router_settings: { model_group_alias: { a: { model: [] }, b: 7 }, fallbacks: [7, { a: 7 }] }',
    'credential_list: 7\nlitellm_settings: []\nrouter_settings: 9',
  ])('with wrong types converts nothing, and says so: %s', (text) => {
    expect(litellm(text).routes).toEqual([])
  })

  it.each([
    '{"targets": 7}',
    '{"targets": [7, null, []]}',
    '{"strategy": {"mode": "conditional", "conditions": [7, {"query": {"$or": []}, "then": 1}]}, "targets": [{}]}',
    '{"provider": "__proto__", "api_key": 7}',
    '{"data": {"config": {"data": {"config": {}}}}}',
    '{"configs": [7, {"config": 7}, {"slug": []}]}',
  ])('with wrong types converts no target: %s', (text) => {
    expect(portkey(text).routes).toEqual([])
  })
})
