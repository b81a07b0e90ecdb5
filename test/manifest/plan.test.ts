import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkOutcome } from '../../src/manifest/check.ts'
import { type ManifestPlan, makePlan } from '../../src/manifest/plan.ts'
import { keyOf, type ManifestEntry, type ManifestResource } from '../../src/manifest/resource.ts'
import { entriesOf, outcomeOf, resource } from './entries.ts'

const plan = (
  resources: ManifestResource[],
  entries: ManifestEntry[],
  more: { prune?: boolean; force?: boolean; owner?: string } = {},
) => makePlan({ resources, entries, owner: 'file', prune: false, force: false, ...more })

const told = ({ changes }: ManifestPlan) =>
  changes.map(({ action, kind, name, changed }) => [action, kind, name, changed])

const openai = resource(
  { kind: 'provider', name: 'openai' },
  { kind: 'openai', active: true, base_url: 'https://a', projects: null, 'timeouts.connect': 1000 },
)

describe('a plan', () => {
  it('changes what the file names, and leaves the rest alone', async () => {
    const made = await plan([openai], entriesOf('providers:\n  - { name: openai, base_url: "https://b" }'))
    expect(told(made)).toEqual([['change', 'provider', 'openai', ['base_url']]])
    expect(made.changes[0]?.after).toEqual({ ...openai.fields, base_url: 'https://b' })
    expect((await plan([openai], entriesOf('providers:\n  - { name: openai, active: true }'))).changes).toEqual([])
  })

  it('makes what is not there, each after what it refers to', async () => {
    const text = `
routes: [{ model: m, project: search, provider: p }]
keys: [{ name: ci, project: search, policy: small }]
policies: [{ name: small }]
providers: [{ name: p, kind: demo }]
projects: [{ name: search, environments: [production] }]
`
    const made = await plan([], entriesOf(text))
    expect(made.changes.map(({ kind }) => kind)).toEqual([
      'project',
      'environment',
      'provider',
      'policy',
      'key',
      'route',
    ])
    expect(await checkOutcome(made, serves)).toEqual([])
  })

  it('never changes the kind of a provider', async () => {
    const { problems } = await plan([openai], entriesOf('providers:\n  - { name: openai, kind: anthropic }'))
    expect(problems).toEqual([
      {
        place: 'config.yaml:2:21',
        message: 'the kind of provider openai cannot be changed; use another name for a provider of another kind',
      },
    ])
  })

  it('removes with --prune only what a file owned', async () => {
    const owned = resource({ kind: 'policy', name: 'old' }, {}, 'file')
    const byHand = resource({ kind: 'policy', name: 'mine' }, {})
    const another = resource({ kind: 'policy', name: 'theirs' }, {}, 'search')
    const state = [owned, byHand, another]
    expect(told(await plan(state, [], { prune: true }))).toEqual([['remove', 'policy', 'old', []]])
    const kept = await plan(state, [])
    expect([kept.changes, kept.notes]).toEqual([
      [],
      ['policy old: no longer in these files (owner file); --prune removes them'],
    ])
  })

  it('names a few of many that files no longer name, and still says what that means', async () => {
    const many = Array.from({ length: 4000 }, (_, index) => resource({ kind: 'policy', name: `p${index}` }, {}, 'file'))
    const { notes } = await plan(many, [])
    expect(notes).toEqual([
      'policy p0, policy p1, policy p2, policy p3, policy p4 and 3995 more: no longer in these files (owner file); --prune removes them',
    ])
  })

  it('says that another name is a removal and a creation', async () => {
    const { notes } = await plan(
      [resource({ kind: 'policy', name: 'old' }, {}, 'file')],
      entriesOf('policies: [new]'.replace('[new]', '[{ name: new }]')),
      { prune: true },
    )
    expect(notes).toEqual(['A renamed policy is created under its new name, and the old one is removed'])
  })

  it('refuses what another file owns, and takes it over by force', async () => {
    const theirs = resource({ kind: 'policy', name: 'small' }, { max_body: 1000 }, 'search')
    const entries = entriesOf('policies: [{ name: small, max_body: 2KB }]')
    expect((await plan([theirs], entries)).problems[0]?.message).toContain(
      'max_body of policy small is managed by the files of owner "search"',
    )
    const forced = await plan([theirs], entries, { force: true })
    expect([forced.problems, told(forced)]).toEqual([[], [['change', 'policy', 'small', ['max_body']]]])
    // Two files that say the same do not quarrel.
    expect(await plan([theirs], entriesOf('policies: [{ name: small, max_body: 1KB }]'))).toMatchObject({
      problems: [],
      changes: [],
      own: [],
    })
  })

  it('claims nothing for files without an owner, and still respects that of others', async () => {
    const theirs = resource({ kind: 'policy', name: 'small' }, { max_body: 1000 }, 'search')
    const more = { owner: 'none', prune: true }
    const made = await plan([theirs], entriesOf('policies: [{ name: new, max_body: 2KB }]'), more)
    expect([made.own, told(made)]).toEqual([[], [['create', 'policy', 'new', ['max_body']]]])
    expect((await plan([theirs], entriesOf('policies: [{ name: small, max_body: 2KB }]'), more)).problems).toHaveLength(
      1,
    )
  })

  it('releases what the file names no more', async () => {
    const own = resource({ kind: 'policy', name: 'small' }, { max_body: 1000, lanes: [] }, 'file')
    const { release, changes } = await plan([own], entriesOf('policies: [{ name: small, max_body: 1KB }]'))
    expect([changes, release]).toEqual([[], [{ key: keyOf(own), field: 'lanes' }]])
  })
})

/** As the kinds that the tests name do. */
const serves = (kind: string, lane: string) => kind === 'demo' || kind === lane

describe('the outcome of a plan', () => {
  const problems = async (text: string, state: ManifestResource[] = [], more = {}) => {
    const made = await plan(state, entriesOf(text), more)
    return [...made.problems, ...(await checkOutcome(made, serves))].map(({ message }) => message)
  }
  const scope = 'projects: [{ name: default, environments: [production] }]\n'

  it.each([
    ['routes: [{ model: m, provider: p }]', 'route m: there is no project default'],
    [`${scope}routes: [{ model: m, provider: p }]`, 'route m: there is no provider p'],
    [
      `${scope}providers: [{ name: p, kind: demo }]\nroutes: [{ model: m, environment: staging, provider: p }]`,
      'route m: there is no environment staging in default',
    ],
    [
      `${scope}providers: [{ name: p, kind: demo }]\nroutes: [{ model: 'a*', provider: p }, { model: '*a', provider: p }]`,
      'equally exact',
    ],
    [
      `${scope}providers: [{ name: p, kind: demo }]\nroutes: [{ model: a, provider: p, fallback_on: [never] }]`,
      'neither a status nor an error code',
    ],
    [
      `${scope}providers: [{ name: p, kind: demo, projects: [search] }]\nroutes: [{ model: m, provider: p }]`,
      'limited to other projects',
    ],
    [`${scope}keys: [{ name: ci, policy: none-such }]`, 'key ci: there is no policy none-such'],
    [
      `providers: [{ name: p, kind: anthropic }]
projects: [{ name: default, environments: [{ name: production, default_providers: { openai: p, anthropic: p } }] }]`,
      'environment production: provider p cannot be the default of openai: its kind does not serve it',
    ],
    ['policies: [{ name: a, attach: [project:search] }]', 'policy a: there is no project search'],
    ['policies: [{ name: a, attach: [everything] }]', 'nothing that a policy can apply to'],
  ])('of %j is refused', async (text, message) => {
    expect((await problems(text)).join('\n')).toContain(message)
  })

  it('keeps nothing that refers to what is removed', async () => {
    const used = resource({ kind: 'provider', name: 'p' }, { kind: 'demo', projects: null }, 'file')
    const route = resource(
      { kind: 'route', project: 'default', environment: null, name: 'm' },
      { targets: [{ provider: 'p' }] },
    )
    expect(await problems('policies: []', [used, route], { prune: true })).toEqual([
      'cannot be removed: used by route m in default (all environments)',
    ])
  })
})

const names = fc.constantFrom('a', 'b', 'c')
const lines = fc.record({
  projects: fc.uniqueArray(names),
  policies: fc.uniqueArray(
    fc.record({
      name: names,
      max_body: fc.option(fc.constantFrom('1KB', '5MB', 'none')),
      deny_models: fc.option(fc.subarray(['x', 'y*', 'z'])),
      capture: fc.option(fc.constantFrom('none', 'redacted', 'full', 'default')),
    }),
    { selector: ({ name }) => name },
  ),
  providers: fc.uniqueArray(
    fc.record({
      name: names,
      kind: fc.constant('demo'),
      active: fc.option(fc.boolean()),
      timeouts: fc.option(fc.record({ connect: fc.constantFrom('1s', '250ms', 'default') })),
      tags: fc.option(fc.dictionary(names, names)),
    }),
    { selector: ({ name }) => name },
  ),
  routes: fc.uniqueArray(
    fc.record({
      model: names,
      all_environments: fc.boolean(),
      strategy: fc.option(fc.constantFrom('priority', 'weighted')),
      targets: fc.array(fc.constantFrom('a', 'b:m', 'c,weight=2', 'a:m,priority=4'), { minLength: 1, maxLength: 3 }),
      retries: fc.option(fc.integer({ min: 0, max: 10 })),
    }),
    { selector: ({ model, all_environments }) => `${model} ${all_environments}` },
  ),
})

const shuffled = (entries: ManifestEntry[], seed: number): ManifestEntry[] =>
  entries
    .map((entry, place) => ({ entry, order: ((place + 1) * 7919 * (seed + 1)) % 104729 }))
    .sort((one, other) => one.order - other.order)
    .map(({ entry }) => entry)

describe('any plan, once it is applied,', () => {
  it('is followed by an empty one, also of other files before', async () => {
    await fc.assert(
      fc.asyncProperty(lines, lines, fc.boolean(), async (first, second, prune) => {
        const one = await plan([], entriesOf(JSON.stringify(first)))
        const between = outcomeOf(one, [], 'file')
        const entries = entriesOf(JSON.stringify(second))
        const two = await plan(between, entries, { prune })
        const again = await plan(outcomeOf(two, between, 'file'), entries, { prune })
        expect([again.changes, again.own, again.release]).toEqual([[], [], []])
      }),
    )
  })

  it('does not depend on the order of the files', async () => {
    await fc.assert(
      fc.asyncProperty(lines, lines, fc.nat(1000), async (first, second, seed) => {
        const state = outcomeOf(await plan([], entriesOf(JSON.stringify(first))), [], 'file')
        const entries = entriesOf(JSON.stringify(second))
        const ordered = await plan(state, entries, { prune: true })
        const mixed = await plan([...state].reverse(), shuffled(entries, seed), { prune: true })
        const bare = ({ changes }: typeof ordered) => changes.map(({ entry: _, ...change }) => change)
        expect(bare(mixed)).toEqual(bare(ordered))
      }),
    )
  })
})
