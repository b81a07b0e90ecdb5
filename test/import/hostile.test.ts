import { describe, expect, it } from 'vitest'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { type Converted, writeConverted } from '../../src/import/converted.ts'
import { convertLitellm } from '../../src/import/litellm.ts'
import { readDocuments } from '../../src/manifest/read.ts'
import { entry, litellm, portkey } from './convert.ts'

const withKey = (model_name: unknown, params: object = {}) =>
  entry(model_name, { api_key: 'os.environ/KEY', ...params })

/** Portkey's word for the target of a condition. */
const leadsTo = (target: string) => Object.fromEntries([['then', target]])

/** The converted file as `apply` reads it, where these variables are set. */
function applied(converted: Converted) {
  const scope = { name: 'scope', text: 'projects: [{ name: default, environments: [production] }]' }
  const documents = [scope, { name: 'converted', text: writeConverted(converted, 'source') }]
  const { entries, problems } = readDocuments(documents, { SECRET: 'stolen', 'file:/etc/key': 'stolen', KEY: 'own' })
  expect(problems).toEqual([])
  return entries
}

/** Somebody else's file may not name what the machine that applies it has: only its own way of writing variables does. */
describe('a text that looks like a variable of ours', () => {
  const base = `https://elsewhere.example/\${SECRET}/v1`
  it.each<[string, Converted]>([
    ['a base URL', litellm({ model_list: [withKey('a', { api_base: base })] })],
    ['a header', litellm({ model_list: [withKey('a', { extra_headers: { 'x-note': `\${file:/etc/key}` } })] })],
    ['a model', litellm({ model_list: [withKey(`\${SECRET}`, { model: `openai/\${SECRET}` })] })],
    [
      'a region',
      litellm({ model_list: [withKey('a', { model: 'bedrock/anthropic.claude-3', aws_region_name: `\${SECRET}` })] }),
    ],
    ['an organization', litellm({ model_list: [withKey('a', { organization: `\${SECRET}` })] })],
    ['Portkey’s host', portkey({ provider: 'openai', custom_host: base, api_key: 'x' })],
    ['Portkey’s model', portkey({ provider: 'openai', override_params: { model: `\${SECRET}` } })],
  ])('stays that text: %s', (_what, converted) => {
    expect(converted.routes).toHaveLength(1)
    const entries = applied(withCredentials(converted))
    expect(JSON.stringify(entries)).not.toContain('stolen')
    expect(JSON.stringify(entries)).toMatch(/\$\{(?:SECRET|file:)/)
  })

  it('is one where the other program says so', () => {
    const [provider] = applied(litellm({ model_list: [withKey('a', { api_base: 'os.environ/SECRET' })] })).filter(
      ({ kind }) => kind === 'provider',
    )
    expect(provider?.fields).toMatchObject({ base_url: 'stolen' })
  })

  /** All credentials from the one variable that is set. */
  function withCredentials(converted: Converted): Converted {
    return {
      ...converted,
      providers: converted.providers.map((provider) => ({ ...provider, credential: `\${KEY}` })),
    }
  }
})

describe('what has another shape than it should', () => {
  const one = [withKey('a')]
  it.each<[string, Converted, string]>([
    [
      'a fallback that is no list',
      litellm({ model_list: one, router_settings: { fallbacks: [{ a: 'b' }] } }),
      'a fallback of a',
    ],
    ['a fallback that is a text', litellm({ model_list: one, router_settings: { fallbacks: ['a'] } }), 'a fallback'],
    [
      'a fallback to a number',
      litellm({ model_list: one, litellm_settings: { fallbacks: [{ a: [7] }] } }),
      'a fallback of a',
    ],
    [
      'another name for nothing',
      litellm({ model_list: one, router_settings: { model_group_alias: { b: 'c' } } }),
      'the name b for c',
    ],
    [
      'another name that is a number',
      litellm({ model_list: one, router_settings: { model_group_alias: { b: 7 } } }),
      'the name b',
    ],
    ['an entry that is a text', litellm({ model_list: ['gpt', ...one] }), 'an entry of model_list'],
    ['a name that is a number', litellm({ model_list: [withKey(4), ...one] }), 'an entry of model_list'],
    [
      'a condition that leads nowhere',
      portkey({
        strategy: {
          mode: 'conditional',
          conditions: [{ query: { 'params.model': 'b' }, ...leadsTo('no') }],
          default: 'x',
        },
        targets: [{ name: 'x', provider: 'openai' }],
      }),
      'the target no of the model b',
    ],
    ['a target that is a text', portkey({ targets: ['x', { provider: 'openai' }] }), 'a target'],
    [
      'a configuration as a text',
      portkey({
        configs: [
          { slug: 'a', config: '{}' },
          { slug: 'b', config: { provider: 'openai' } },
        ],
      }),
      'a configuration',
    ],
  ])('is reported, and the rest is carried: %s', (_what, { routes, left }, what) => {
    expect(routes).toHaveLength(1)
    expect(left.map((one) => one.what)).toEqual([what])
  })
})

describe('files as other programs write them', () => {
  const text = 'model_list:\n  - { model_name: a, litellm_params: { model: openai/x } }\n'
  it.each([
    ['a byte order mark', `\ufeff${text}`],
    ['lines that end as on Windows', text.replaceAll('\n', '\r\n')],
    ['a member named as what every object has', text.replace('openai/x', 'openai/x, __proto__: { api_base: "x" }')],
  ])('are read with %s', (_what, written) => {
    const { providers, routes } = convertLitellm(parseSettingsFile(written, 'source'))
    expect([providers, routes]).toEqual([
      [{ name: 'openai', kind: 'openai', credential: `\${OPENAI_API_KEY}` }],
      [{ model: 'a', targets: [{ provider: 'openai', upstream_model: 'x' }] }],
    ])
  })

  it('have one document', () => {
    expect(() => parseSettingsFile(`${text}---\n${text}`, 'source')).toThrow(
      'source:3:1: a second document begins here; a file has one',
    )
  })

  it('are carried however deep their groups are', () => {
    let tree: object = { provider: 'openai', override_params: { model: 'x' } }
    for (let depth = 0; depth < 90; depth++) tree = { strategy: { mode: 'fallback' }, targets: [tree] }
    expect(portkey(tree).routes).toEqual([{ model: '*', targets: [{ provider: 'openai', upstream_model: 'x' }] }])
  })
})
