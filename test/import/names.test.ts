import { describe, expect, it } from 'vitest'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { convertLitellm } from '../../src/import/litellm.ts'
import { convertPortkey } from '../../src/import/portkey.ts'

/** What one entry of `model_list` comes to; null: it was left out. */
function convert(params: Record<string, unknown>) {
  const tree = { model_list: [{ model_name: 'm', litellm_params: { api_key: 'os.environ/KEY', ...params } }] }
  const { providers, routes, left } = convertLitellm(parseSettingsFile(JSON.stringify(tree), 'source'))
  const [provider] = providers
  const upstream = routes[0]?.targets[0]?.upstream_model ?? 'm'
  return provider === undefined ? null : { ...provider, upstream, left: left.map(({ what }) => what) }
}

describe('the vendor of a LiteLLM model', () => {
  it.each([
    ['a prefix', { model: 'anthropic/claude-sonnet-4-5' }, 'anthropic', 'claude-sonnet-4-5'],
    [
      'custom_llm_provider, whatever the prefix',
      { model: 'meta/llama', custom_llm_provider: 'openai' },
      'openai',
      'meta/llama',
    ],
    [
      'custom_llm_provider, which is the prefix',
      { model: 'openai/gpt-4o', custom_llm_provider: 'openai' },
      'openai',
      'gpt-4o',
    ],
    ['the name alone', { model: 'gpt-4o' }, 'openai', 'gpt-4o'],
    [
      'a server of its own',
      { model: 'org/model', api_base: 'http://10.0.0.8:8000/v1' },
      'openai-compatible',
      'org/model',
    ],
  ])('is said by %s', (_what, params, kind, upstream) => {
    expect(convert(params)).toMatchObject({ kind, upstream })
  })

  it.each([
    ['without a region of its own', { model: 'vertex_ai/gemini-2.5-pro', vertex_project: 'p' }, 'vertex-us-central1'],
    ['in a region that a variable names', { model: 'bedrock/anthropic.claude-3' }, 'bedrock'],
    ['at a resource that a variable names', { model: 'azure/a', api_base: 'os.environ/BASE' }, 'azure'],
    ['at a resource by its other name', { model: 'azure/a', base_url: 'https://r.openai.azure.com' }, 'r'],
    [
      'by its older settings',
      { model: 'vertex_ai/gemini-2.5-pro', vertex_ai_project: 'p', vertex_ai_location: 'europe-west4' },
      'vertex-europe-west4',
    ],
  ])('that is a cloud gets a name %s', (_what, params, name) => {
    expect(convert({ api_key: null, ...params })).toMatchObject({ name, left: expect.not.arrayContaining(['model']) })
  })

  it.each([
    ['a resource at Azure', { model: 'azure/gpt-4o' }, 'the file does not name the resource', '--base-url'],
    [
      'a deployment at Azure',
      { model: 'azure/', api_base: 'https://r.openai.azure.com' },
      'it names no deployment',
      '',
    ],
    ['a server', { model: 'openai_like/m' }, 'it has no api_base', '--base-url'],
  ])('without %s is left out, with what to do', (_what, params, reason, advice) => {
    const tree = { model_list: [{ model_name: 'm', litellm_params: params }] }
    const { providers, left } = convertLitellm(parseSettingsFile(JSON.stringify(tree), 'source'))
    expect(providers).toEqual([])
    expect(left).toMatchObject([{ reason, advice: expect.stringContaining(advice) }])
  })

  it('that nothing says is left out', () => {
    expect(convert({ model: 'some-model' })).toBeNull()
  })
})

describe('a server of one’s own', () => {
  const named = (api_base: string) => convert({ model: 'openai/gpt-4o', api_base })

  it.each([
    ['http://10.0.0.8:8000/v1', 'server-8000'],
    ['http://localhost/v1', 'server-80'],
    ['https://10.0.0.8/v1', 'server-443'],
    ['http://[::1]:8000/v1', 'server-8000'],
    ['https://llm.corp.example/v1/', 'llm.corp.example'],
    ['https://-x-.example_/v1', 'x-.example'],
  ])('%s is called %s', (address, name) => {
    expect(named(address)).toMatchObject({ name, kind: 'openai-compatible', base_url: address.replace(/\/$/, '') })
  })

  it('is called like its variable', () => {
    const own = { model: 'openai_like/m', api_base: 'os.environ/LLM_BASE' }
    expect(convert(own)).toMatchObject({ name: 'llm_base', base_url: `\${LLM_BASE}` })
    expect(convert({ ...own, model: 'openai/m' })).toMatchObject({ kind: 'openai', base_url: `\${LLM_BASE}` })
  })

  it('is none at the address of the vendor itself', () => {
    expect(named('https://api.openai.com/v1/')).not.toHaveProperty('base_url')
    expect(named('https://api.openai.com')).toHaveProperty('base_url', 'https://api.openai.com')
  })

  it('gets no key of the vendor whose format it speaks', () => {
    const own = convert({ model: 'openai/gpt-4o', api_base: 'https://llm.corp.example/v1', api_key: null })
    expect(own).not.toHaveProperty('credential')
    expect(convert({ model: 'openai/gpt-4o', api_key: null })).toHaveProperty('credential', `\${OPENAI_API_KEY}`)
  })
})

describe('the region of a model at Bedrock', () => {
  const region = (params: object) => convert({ api_key: null, ...params })

  it.each([
    ['the model’s prefix', { model: 'bedrock/eu-west-1/anthropic.claude-3' }, 'eu-west-1'],
    ['behind a form of call', { model: 'bedrock/converse/us-gov-west-1/anthropic.claude-3' }, 'us-gov-west-1'],
    [
      'its own setting, before the prefix',
      { model: 'bedrock/eu-west-1/anthropic.claude-3', aws_region_name: 'us-east-1' },
      'us-east-1',
    ],
    ['the environment', { model: 'bedrock/anthropic.claude-3' }, `\${AWS_REGION}`],
  ])('is that of %s', (_what, params, wanted) => {
    expect(region(params)).toMatchObject({ upstream: 'anthropic.claude-3', settings: { region: wanted } })
  })
})

it('Portkey’s target at Bedrock has to say its region', () => {
  const tree = { provider: 'bedrock', override_params: { model: 'anthropic.claude-3' } }
  const { routes, left } = convertPortkey(parseSettingsFile(JSON.stringify(tree), 'source'), 'm')
  expect(routes).toEqual([])
  expect(left).toMatchObject([
    { reason: 'the file does not say where it runs', advice: expect.stringMatching(/--region/) },
  ])
})

it('Portkey’s groups in an order come one after the other, each in its own order', () => {
  const leaf = (model: string, more: object = {}) => ({ provider: 'openai', override_params: { model }, ...more })
  const inner = { strategy: { mode: 'loadbalance' }, targets: [leaf('b', { weight: 3 }), leaf('c')] }
  const tree = { strategy: { mode: 'fallback' }, targets: [leaf('a'), inner, leaf('d')] }
  const { routes } = convertPortkey(parseSettingsFile(JSON.stringify(tree), 'source'), 'm')
  const shown = routes[0]?.targets.map(({ upstream_model, priority = 0 }) => [upstream_model, priority])
  expect(shown).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 1],
    ['d', 2],
  ])
})
