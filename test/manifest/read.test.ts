import { describe, expect, it } from 'vitest'
import { readDocuments } from '../../src/manifest/read.ts'
import { entriesOf, mistakesIn } from './entries.ts'

const reads = (text: string, variables: Record<string, string> = {}) =>
  entriesOf(text, variables).map(({ kind, project, environment, name, fields }) => [
    kind,
    project,
    environment,
    name,
    fields,
  ])

describe('a configuration file', () => {
  it('says what it names, and nothing else', () => {
    const text = `
projects:
  - default
  - name: search
    environments: [production, { name: staging, default_providers: { openai: azure } }]
providers:
  - name: openai
    kind: openai
    base_url:
    timeouts: { connect: 2s, total: default }
    settings: { organization: none }
routes:
  - { model: gpt-4o, provider: openai, upstream_model: gpt-4o-2024 }
  - { model: 'claude-*', all_environments: true, targets: [a, 'b:m:8b,weight=3'], strategy: weighted }
policies:
  - { name: small, allow_models: gpt-4o-mini, max_body: 1MB }
`
    expect(reads(text)).toEqual([
      ['project', null, null, 'default', {}],
      ['project', null, null, 'search', {}],
      ['environment', 'search', null, 'production', {}],
      ['environment', 'search', null, 'staging', { default_providers: { openai: 'azure' } }],
      [
        'provider',
        null,
        null,
        'openai',
        { kind: 'openai', 'timeouts.connect': 2000, 'timeouts.total': null, 'settings.organization': null },
      ],
      [
        'route',
        'default',
        'production',
        'gpt-4o',
        { targets: [{ provider: 'openai', upstream_model: 'gpt-4o-2024', weight: 1, priority: null, format: null }] },
      ],
      [
        'route',
        'default',
        null,
        'claude-*',
        {
          targets: [
            { provider: 'a', upstream_model: null, weight: 1, priority: null, format: null },
            { provider: 'b', upstream_model: 'm:8b', weight: 3, priority: null, format: null },
          ],
          strategy: 'weighted',
        },
      ],
      ['policy', null, null, 'small', { allow_models: ['gpt-4o-mini'], max_body: 1_000_000 }],
    ])
  })

  it('may hold settings, which are passed over', () => {
    expect(reads('gateway: { listen: nonsense }\nconsole: {}\n')).toEqual([])
  })

  it.each([
    ['providers:\n  - name: openai\n    kinnd: openai', 'config.yaml:3:5: unknown name kinnd; did you mean kind?'],
    ['route:\n  - model: a', 'config.yaml:1:1: unknown name route; did you mean routes?'],
    [
      'model_list: []',
      'config.yaml:1:1: model_list is of LiteLLM; convert the file first: spgw import litellm FILE > gateway.yaml',
    ],
    ['routes:\n  - provider: a', 'config.yaml:2:5: a route needs its model'],
    ['routes:\n  - model: a\n    retries: 99', 'config.yaml:3:5: retries: expected a whole number from 0 to 10'],
    [
      'routes:\n  - model: a\n    timeouts: { conect: 5s }',
      'config.yaml:3:17: unknown name timeouts.conect; did you mean timeouts.connect?',
    ],
    ['providers: openai', 'config.yaml:1:1: providers: expected a list, each with a dash before it'],
    [
      'keys:\n  - name: ci\n    expires_at: 30d',
      'config.yaml:3:5: expires_at: expected a time such as 2027-01-31T12:00:00Z, or never',
    ],
    [
      'keys:\n  - name: ci\n    sha256: abc',
      'config.yaml:3:5: sha256: expected the SHA-256 of the key in 64 hexadecimal digits',
    ],
    ['projects: [a, a]', 'config.yaml:1:15: project a is already at config.yaml:1:12'],
    [
      `routes:\n  - model: \${M}\n    provider: a`,
      'config.yaml:2:5: model: the variable M is not set; set it and apply again',
    ],
    ['owner: Not A Name', 'config.yaml:1:1: owner: expected a name of lower-case letters, digits, dots and hyphens'],
    ['a: [', 'config.yaml:1:5: Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ])('is refused with the place of %j', (text, mistake) => {
    expect(mistakesIn(text)).toContain(mistake)
  })

  it('says what keeps no bodies where they are kept for no time', () => {
    expect(mistakesIn('policies:\n  - name: a\n    bodies_retention: 0s').join()).toContain(
      'capture none keeps no bodies',
    )
    expect(
      mistakesIn('policies:\n  - name: a\n    bodies_retention: none\n  - name: b\n    bodies_retention: 1d'),
    ).toEqual([])
  })

  it('never repeats a value: it may be a secret in the wrong place', () => {
    const text =
      'keys:\n  - name: sk-canary-1234 5678\nroutes:\n  - model: a\n    retries: sk-canary-1234\n    strict: sk-canary-1234'
    const mistakes = mistakesIn(text)
    expect(mistakes).toHaveLength(3)
    expect(mistakes.join()).not.toContain('sk-canary')
  })

  it('does not quote what is no YAML', () => {
    const mistakes = mistakesIn(`a: { b: 1 }}\nsk-canary-1234: x\n"sk-canary-5678" sk-canary\n`.repeat(5))
    expect(mistakes.length).toBeGreaterThan(0)
    expect(mistakes.length).toBeLessThan(4)
    expect(mistakes.join()).not.toContain('canary')
  })

  it('takes variables, and keeps a credential secret', () => {
    const text = `providers:\n  - name: openai\n    kind: openai\n    credential: \${KEY}\n    tags:\n      team: \${TEAM}\n      price: $\${TEAM}\n`
    const [entry] = entriesOf(text, { KEY: 'sk-canary', TEAM: 'search' })
    expect(entry?.fields.tags).toEqual({ team: 'search', price: `\${TEAM}` })
    expect(JSON.stringify(entry)).not.toContain('sk-canary')
    expect(entry?.credentials?.[0]?.reveal()).toBe('sk-canary')
    const [unset] = entriesOf(text, { TEAM: 'search' })
    expect([unset?.credentials, unset?.missing]).toEqual([null, ['KEY']])
  })

  it('has one owner, also where it is several files', () => {
    const read = (...texts: string[]) =>
      readDocuments(
        texts.map((text, place) => ({ name: `${place}.yaml`, text })),
        {},
      )
    expect(read('projects: [a]').owner).toBe('file')
    expect(read('owner: platform', 'owner: platform\nprojects: [a]')).toMatchObject({ owner: 'platform', problems: [] })
    expect(read('owner: platform', 'owner: search').problems).toEqual([
      {
        place: '1.yaml:1:1',
        message: 'owner search differs from platform at 0.yaml:1:1; apply their files separately',
      },
    ])
  })
})

it('stops at fifty mistakes, however many there are', () => {
  // The places of all 60,000 would take a minute: the test's own limit is the measure.
  const text = Array.from({ length: 60_000 }, (_, index) => `k${index}: 1\n`).join('')
  const { problems } = readDocuments([{ name: 'a.yaml', text }], {})
  expect(problems).toHaveLength(51)
  expect(problems.at(-1)).toEqual({ place: 'a.yaml:51:1', message: 'there are more problems; fix these first' })
})
