import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makePlan } from '../../src/manifest/plan.ts'
import { readDocuments } from '../../src/manifest/read.ts'
import type { Fields, ManifestResource } from '../../src/manifest/resource.ts'
import { writeDocument } from '../../src/manifest/write.ts'
import { countTurns } from '../support/count-turns.ts'
import { resource } from './entries.ts'

/** Texts that YAML could take for something else, and that variables could be taken from. */
const text = fc.oneof(
  fc.constantFrom(
    'null',
    'yes',
    '0x1F',
    '1e3',
    '~',
    '- a',
    'a: b',
    '#x',
    '"',
    "'",
    '*',
    '&a',
    '!!str 1',
    ' a ',
    '2027-01-31',
  ),
  fc.constantFrom(
    `\${HOME}`,
    `$\${HOME}`,
    '$$',
    '${',
    `a\${B}c`,
    'line\nline',
    'tab\there',
    'Zürich',
    '𝒳',
    '%',
    '@',
    '|',
    '>',
  ),
  fc.string({ minLength: 1, maxLength: 20 }).filter((one) => !/[\ud800-\udfff]/.test(one)),
)
const slug = fc.constantFrom('a', 'b-c', '0x1', '1e3', 'null', 'yes', 'on', '007', 'x.y_z', '2027-01-31')
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const timeout = fc.option(fc.integer({ min: 1, max: 90_000_000 }))
const hash = fc.stringMatching(/^[0-9a-f]{64}$/)
const ending = fc.stringMatching(/^[0-9A-Za-z]{4}$/)
const moment = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((at) => at.toISOString())
const pairs = fc.dictionary(fc.stringMatching(/^[a-z][a-z-]{0,8}$/), text, { maxKeys: 3 })

const provider = fc.record({
  kind: fc.constant('openai'),
  active: fc.boolean(),
  base_url: fc.webUrl(),
  headers: pairs,
  projects: fc.option(fc.uniqueArray(slug, { minLength: 1 }).map((names) => names.sort())),
  'timeouts.connect': timeout,
  'timeouts.total': timeout,
  tags: pairs,
  'settings.organization': some(text),
  'settings.allow_private': some(fc.boolean()),
  credentials: fc.array(fc.record({ last_four: ending, fingerprint: hash }), { maxLength: 3 }),
})
const policy = fc.record({
  allow_models: fc.uniqueArray(text),
  deny_models: fc.uniqueArray(text),
  lanes: fc.subarray(['anthropic', 'gemini', 'openai']),
  budget_usd_month: fc.option(fc.integer({ min: 0, max: 9999 }).map((cents) => cents / 100)),
  rpm: fc.option(fc.integer({ min: 0, max: 1_000_000 })),
  unpriced: fc.option(fc.oneof(fc.constantFrom('allow', 'deny'), fc.integer({ min: 0, max: 100 }))),
  per: fc.option(fc.constantFrom('key', 'user')),
  max_output_tokens: fc.option(fc.integer({ min: 0, max: 1_000_000 })),
  cap_output: fc.boolean(),
  addresses: fc.subarray(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']),
  hours: fc.subarray(['Mon-Fri 08:00-18:00', 'Sat,Sun 10:00-24:00', '22:00-06:00']),
  max_body: fc.option(fc.integer({ min: 1, max: 10_000_000_000 })),
  capture: fc.option(fc.constantFrom('none', 'redacted', 'full')),
})
const key = fc.record({
  tags: pairs,
  expires_at: fc.option(moment),
  secrets: fc
    .tuple(hash, ending, fc.option(fc.tuple(hash, ending, moment)))
    .map(([sha256, last_four, former]) => [
      { sha256, last_four, expires_at: null },
      ...(former === null ? [] : [{ sha256: former[0], last_four: former[1], expires_at: former[2] }]),
    ]),
})
const route = fc.record({
  enabled: fc.boolean(),
  strategy: fc.constantFrom('priority', 'weighted', 'latency', 'cost'),
  targets: fc.array(
    fc.record({
      provider: slug,
      upstream_model: fc.option(text),
      weight: fc.constantFrom(0, 0.5, 1, 7),
      priority: fc.integer({ min: 0, max: 3 }),
      format: fc.constantFrom(null, 'chat', 'generate'),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  retries: fc.integer({ min: 0, max: 10 }),
  fallback_on: fc.uniqueArray(fc.constantFrom('500', '429', 'provider_timeout')),
  'timeouts.first_byte': timeout,
  strict: fc.boolean(),
  echo_model: fc.boolean(),
  sticky: fc.boolean(),
  hedge_after: fc.constantFrom(null, 'p95', 10, 120, 2000),
  hedge_share: fc.integer({ min: 1, max: 100 }),
  shadow: fc.constantFrom(null, 'openai', 'openai:gpt-4o'),
  reasoning_text: fc.boolean(),
  cache: fc.constantFrom(null, 60_000, 3_600_000),
})

const named = <T>(fields: fc.Arbitrary<T>, names: fc.Arbitrary<string> = slug) =>
  fc.uniqueArray(fc.tuple(names, fields), { selector: ([name]) => name, maxLength: 4 })
const given = (fields: object): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields

const everything = fc
  .record({ providers: named(provider), policies: named(policy), keys: named(key), routes: named(route, text) })
  .map(({ providers, policies, keys, routes }): ManifestResource[] => {
    const place = { project: 'default', environment: 'production' }
    return [
      resource({ kind: 'project', name: 'default' }, {}, 'file'),
      resource({ kind: 'environment', project: 'default', name: 'production' }, {}, 'file'),
      ...providers.map(([name, fields]) => resource({ kind: 'provider', name }, given(fields), 'file')),
      ...policies.map(([name, fields]) => resource({ kind: 'policy', name }, given(fields), 'file')),
      ...keys.map(([name, fields]) => resource({ kind: 'key', name, ...place }, given(fields), 'file')),
      ...routes.map(([name, fields]) => resource({ kind: 'route', name, ...place }, given(fields), 'file')),
    ]
  })

/** Every variable that the text asks for. */
const variablesIn = (written: string) =>
  Object.fromEntries([...written.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, 'sk-canary']))

describe('what is exported', () => {
  it('reads back as what it was, so that applying it changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(everything, async (resources) => {
        const { text: written } = await writeDocument(resources, 'file', ' Made by a test.')
        const variables = variablesIn(written)
        const { entries, owner, problems } = readDocuments([{ name: 'export.yaml', text: written }], variables)
        expect([problems, owner]).toEqual([[], 'file'])
        const plan = await makePlan({ resources, entries, owner, prune: true, force: false })
        const changed = plan.changes.map(({ kind, name, changed, before, after }) => [
          kind,
          name,
          changed,
          before,
          after,
        ])
        expect([plan.problems, changed]).toEqual([[], []])
      }),
      { numRuns: 300 },
    )
  })

  it('is the same text for the same resources, in whatever order they come, as YAML and as JSON', async () => {
    await fc.assert(
      fc.asyncProperty(everything, async (resources) => {
        const one = await writeDocument(resources, 'file', '')
        const other = await writeDocument([...resources].reverse(), 'file', '')
        expect(other).toEqual(one)
        const variables = variablesIn(one.text)
        const entriesIn = (text: string) =>
          readDocuments([{ name: 'x', text }], variables).entries.map(({ kind, name, fields }) => [kind, name, fields])
        expect(entriesIn(JSON.stringify(one.tree))).toEqual(entriesIn(one.text))
      }),
      { numRuns: 100 },
    )
  })

  it('has one variable per credential, and none of the credentials', async () => {
    const credentials = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ last_four: `end${index}`, fingerprint: 'f' }))
    const resources = ['azure-eu', 'azure.eu', '1st'].map((name, index) =>
      resource({ kind: 'provider', name }, { kind: 'demo', credentials: credentials(index + 1) }),
    )
    const { text } = await writeDocument(resources, null, ' Exported.')
    expect(text).toBe(`# Exported.

# The owner of these settings. With none, applying the file claims nothing, and others may change what it says.
owner: none

# Credentials and headers that may hold one are not exported: each is read from the environment variable in its place.
providers:
  - name: 1st
    kind: demo
    credentials:
      - \${_1ST_CREDENTIAL_1} # ends in end0
      - \${_1ST_CREDENTIAL_2} # ends in end1
      - \${_1ST_CREDENTIAL_3} # ends in end2
  - name: azure-eu
    kind: demo
    credential: \${AZURE_EU_CREDENTIAL} # ends in end0
  - name: azure.eu
    kind: demo
    credentials:
      - \${AZURE_EU_CREDENTIAL_2_1} # ends in end0
      - \${AZURE_EU_CREDENTIAL_2_2} # ends in end1
`)
  })

  it('asks for each credential and each URL by a name of its own', async () => {
    const names = fc.constantFrom(
      'a-b',
      'a.b',
      'a_b',
      'a-b-2',
      'a-b_credential',
      'a.b.credential.1',
      '1st',
      '_1st',
      'url',
    )
    const providers = fc.uniqueArray(fc.tuple(names, fc.integer({ min: 1, max: 4 })), { selector: ([name]) => name })
    const alerts = fc.uniqueArray(names)
    await fc.assert(
      fc.asyncProperty(providers, alerts, async (counted, named) => {
        const resources = [
          ...counted.map(([name, count]) =>
            resource({ kind: 'provider', name }, { kind: 'demo', credentials: Array(count).fill({ last_four: '' }) }),
          ),
          ...named.map((name) => resource({ kind: 'alert', name }, { url: { shown: 'https://hooks.example/…' } })),
        ]
        const { text } = await writeDocument(resources, null, '')
        const asked = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name)
        expect(asked).toHaveLength(counted.reduce((sum, [, count]) => sum + count, 0) + named.length)
        expect(asked.filter((name, place) => asked.indexOf(name) !== place)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  it('is written in slices where it is large, and reads as one file', async () => {
    const place = { project: 'default', environment: 'production' }
    const routes = Array.from({ length: 450 }, (_, at) =>
      resource({ kind: 'route', name: `m${at}`, ...place }, { targets: [] }),
    )
    const provider = resource({ kind: 'provider', name: 'p' }, { kind: 'demo', credentials: [] })
    let text = ''
    const turns = await countTurns(async () => {
      text = (await writeDocument([provider, ...routes], 'file', ' Made by a test.')).text
    })
    expect(turns).toBeGreaterThanOrEqual(5)
    expect(text.match(/^routes:$/gm)).toHaveLength(1)
    const { entries } = readDocuments([{ name: 'x', text }], {})
    expect(entries.map(({ name }) => name).sort()).toEqual(['p', ...routes.map(({ name }) => name)].sort())
  })
})
