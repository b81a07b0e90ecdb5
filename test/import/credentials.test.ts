import { describe, expect, it, vi } from 'vitest'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { type Converted, writeConverted } from '../../src/import/converted.ts'
import { convertLitellm } from '../../src/import/litellm.ts'
import { convertPortkey } from '../../src/import/portkey.ts'

const litellm = (...list: object[]) =>
  convertLitellm(
    parseSettingsFile(
      JSON.stringify({
        model_list: list.map((params, place) => ({ model_name: `m${place}`, litellm_params: params })),
      }),
      'source',
    ),
  )
const portkey = (...targets: object[]) =>
  convertPortkey(parseSettingsFile(JSON.stringify({ strategy: { mode: 'fallback' }, targets }), 'source'), '*')

/** The variable of the credential that each target is called with, in the order of the file. */
function variables({ providers, routes }: Converted): (string | undefined)[] {
  const byName = new Map(providers.map(({ name, credential }) => [name, credential?.slice(2, -1)]))
  return routes.flatMap(({ targets }) => targets.map(({ provider }) => byName.get(provider)))
}

const claude = { model: 'bedrock/anthropic.claude-3', aws_region_name: 'eu-west-1' }
const gemini = { model: 'vertex_ai/gemini-2.5-pro', vertex_project: 'p' }
const azure = { model: 'azure/gpt-4o', api_base: 'https://r.openai.azure.com' }
const secret = (number: number) => `sk-canary-${number}`
const env = (name: string) => `os.environ/${name}`

/** Two accounts under one variable would send the requests of one with the key of the other. */
describe('two accounts of LiteLLM keep two credentials', () => {
  it.each<[string, object[], string[]]>([
    [
      'a key in the file before the variable of that name',
      [
        { model: 'openai/a', api_key: secret(1) },
        { model: 'openai/b', api_key: env('OPENAI_API_KEY') },
      ],
      ['OPENAI_API_KEY_2', 'OPENAI_API_KEY'],
    ],
    [
      'a key in the file before the one that LiteLLM finds by itself',
      [{ model: 'openai/a', api_key: secret(1) }, { model: 'openai/b' }],
      ['OPENAI_API_KEY_2', 'OPENAI_API_KEY'],
    ],
    [
      'keys in the file, of which a variable has the next name',
      [
        { model: 'groq/a', api_key: secret(1) },
        { model: 'groq/b', api_key: secret(2) },
        { model: 'groq/c', api_key: env('GROQ_API_KEY_2') },
      ],
      ['GROQ_API_KEY', 'GROQ_API_KEY_3', 'GROQ_API_KEY_2'],
    ],
    [
      'access keys at Bedrock',
      [
        { ...claude, aws_access_key_id: 'AKIA1', aws_secret_access_key: secret(1) },
        { ...claude, aws_access_key_id: 'AKIA2', aws_secret_access_key: secret(2) },
        { ...claude, aws_access_key_id: 'AKIA1', aws_secret_access_key: secret(1) },
      ],
      ['BEDROCK_CREDENTIAL', 'BEDROCK_CREDENTIAL_2', 'BEDROCK_CREDENTIAL'],
    ],
    [
      'service accounts at Vertex',
      [
        { ...gemini, vertex_credentials: '/etc/a.json' },
        { ...gemini, vertex_credentials: '/etc/b.json' },
        { ...gemini, vertex_credentials: env('B_JSON') },
        gemini,
      ],
      ['VERTEX_CREDENTIAL', 'VERTEX_CREDENTIAL_2', 'B_JSON', 'VERTEX_CREDENTIAL_3'],
    ],
    [
      'principals at Azure',
      [
        { ...azure, tenant_id: 't', client_id: 'a', client_secret: env('A') },
        { ...azure, tenant_id: 't', client_id: 'b', client_secret: env('B') },
      ],
      ['AZURE_CREDENTIAL', 'AZURE_CREDENTIAL_2'],
    ],
    [
      'a principal of which the file says but its tenant, or but its secret',
      [
        { ...azure, tenant_id: 't' },
        { ...azure, client_secret: env('S') },
        { ...azure, api_key: secret(1) },
      ],
      ['AZURE_CREDENTIAL', 'AZURE_CREDENTIAL_2', 'AZURE_API_KEY'],
    ],
    [
      'a key at Azure beside the usual one',
      [{ ...azure, api_key: secret(1) }, azure],
      ['AZURE_API_KEY_2', 'AZURE_API_KEY'],
    ],
  ])('%s', (_what, list, wanted) => {
    const converted = litellm(...list)
    expect(variables(converted)).toEqual(wanted)
    expect(writeConverted(converted, 'source')).not.toContain('canary')
  })

  it('and one that is said in two ways stays one', () => {
    const usual = { aws_access_key_id: env('AWS_ACCESS_KEY_ID'), aws_secret_access_key: env('AWS_SECRET_ACCESS_KEY') }
    expect(variables(litellm(claude, { ...claude, ...usual }))).toEqual(['BEDROCK_CREDENTIAL', 'BEDROCK_CREDENTIAL'])
    const server = { model: 'openai/x', api_base: 'http://10.0.0.8:8000/v1' }
    expect(variables(litellm({ model: 'openai/a', api_key: secret(1) }, server))).toEqual(['OPENAI_API_KEY', undefined])
  })
})

describe('two accounts of Portkey keep two credentials', () => {
  const at = (provider: string, more: object) => ({
    provider,
    override_params: { model: 'anthropic.claude-3' },
    ...more,
  })

  it.each<[string, object[], string[]]>([
    [
      'keys of two resources at Azure',
      [
        at('azure-openai', { azure_resource_name: 'r1', api_key: secret(1) }),
        at('azure-openai', { azure_resource_name: 'r2', api_key: secret(2) }),
      ],
      ['AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_API_KEY_2'],
    ],
    [
      'access keys at Bedrock',
      [
        at('bedrock', { aws_region: 'eu-west-1', aws_access_key_id: 'a', aws_secret_access_key: secret(1) }),
        at('bedrock', { aws_region: 'us-west-1', aws_access_key_id: 'b', aws_secret_access_key: secret(2) }),
      ],
      ['BEDROCK_CREDENTIAL', 'BEDROCK_CREDENTIAL_2'],
    ],
    [
      'virtual keys that differ in what a variable cannot have',
      [at('openai', { virtual_key: 'openai_prod' }), at('openai', { virtual_key: 'openai-prod' })],
      ['OPENAI_PROD_API_KEY', 'OPENAI_PROD_API_KEY_2'],
    ],
    [
      'a key in the file beside none',
      [at('openai', { api_key: secret(1) }), at('openai', {})],
      ['OPENAI_API_KEY', 'OPENAI_API_KEY_2'],
    ],
  ])('%s', (_what, targets, wanted) => {
    const converted = portkey(...targets)
    expect(variables(converted)).toEqual(wanted)
    expect(writeConverted(converted, 'source')).not.toContain('canary')
    const named = converted.left.flatMap(({ advice }) => /variable (\w+)/.exec(advice)?.[1] ?? [])
    expect(wanted).toEqual(expect.arrayContaining(named))
  })
})

describe('a file of many accounts', () => {
  it('takes a time that grows with it', () => {
    const asked = vi.spyOn(Set.prototype, 'has')
    const cost = (count: number) => {
      asked.mockClear()
      const keys = Array.from({ length: count }, (_, place) => ({ model: 'openai/a', api_key: secret(place) }))
      expect(new Set(variables(litellm(...keys))).size).toBe(count)
      return asked.mock.calls.length
    }
    const [some, many] = [cost(100), cost(400)]
    asked.mockRestore()
    expect(many).toBeLessThan(some * 6)
  })
})

describe('headers of LiteLLM', () => {
  const headersOf = (params: object) => {
    const { providers, left } = litellm({ model: 'openai/a', ...params })
    return { headers: providers[0]?.headers, left: left.map(({ what, advice }) => `${what}: ${advice}`) }
  }

  it.each([
    ['helicone-auth', `Bearer ${secret(1)}`],
    ['Ocp-Apim-Subscription-Key', secret(1)],
    ['x-session-token', secret(1)],
    ['x-team', `Basic ${secret(1)}`],
    ['x-upstream', secret(1)],
    ['x-session-token', 'canary'],
  ])('go into a variable where they may be a secret: %s', (name, value) => {
    const { headers, left } = headersOf({ extra_headers: { [name]: value } })
    const variable = name.toUpperCase().replaceAll('-', '_')
    expect(headers).toEqual({ [name]: `\${${variable}}` })
    expect(left).toEqual([`header ${name}: Put its value into the variable ${variable}.`])
  })

  it('stay where they are none, or name a variable themselves', () => {
    const extra_headers = { 'x-team': 'search', 'x-api-token': env('TOKEN'), 'x-size': 3, 'x-on': true }
    const { headers, left } = headersOf({ extra_headers, headers: { 'x-team': 'other', 'x-more': 'y' } })
    expect(headers).toEqual({
      'x-team': 'search',
      'x-more': 'y',
      'x-api-token': `\${TOKEN}`,
      'x-size': '3',
      'x-on': 'true',
    })
    expect(left).toEqual([])
  })

  it.each([
    ['a list as a value', { extra_headers: { 'x-list': ['a'] } }, 'header x-list'],
    ['a text in their place', { extra_headers: env('HEADERS') }, 'extra_headers'],
    ['a list in their place', { headers: ['x-a: b'] }, 'headers'],
  ])('are reported where they are left out: %s', (_what, params, what) => {
    const { headers, left } = headersOf(params)
    expect(headers).toBeUndefined()
    expect(left).toEqual([expect.stringContaining(what)])
  })
})

describe('the key of OpenAI', () => {
  const credential = (base: string) => {
    const [provider] = litellm({ model: 'openai/gpt-4o', api_base: base }).providers
    return [provider?.kind, provider?.credential]
  }

  it.each([
    'https://api.openai.com/v1',
    'https://api.openai.com',
    'https://eu.api.openai.com/v1',
    'https://API.openai.com:443/v1/',
  ])('goes to OpenAI’s own hosts: %s', (base) => {
    expect(credential(base)).toEqual(['openai', `\${OPENAI_API_KEY}`])
  })

  // The name of the one in the address of the other made it look like OpenAI's.
  it.each([
    'https://proxy.example/api.openai.com/v1',
    'https://api.openai.com.proxy.example/v1',
    'https://myapi.openai.com.example/v1',
    'https://notapi.openai.com/v1',
    'https://proxy.example/v1?upstream=api.openai.com',
    'http://api.openai.com@proxy.example/v1',
    'http://localhost:8000/v1',
  ])('goes to no other server: %s', (base) => {
    expect(credential(base)).toEqual(['openai-compatible', undefined])
  })
})
