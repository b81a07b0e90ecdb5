import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { type Converted, writeConverted } from '../../src/import/converted.ts'
import { convertLitellm } from '../../src/import/litellm.ts'
import { convertPortkey } from '../../src/import/portkey.ts'
import { checkOutcome } from '../../src/manifest/check.ts'
import { makePlan } from '../../src/manifest/plan.ts'
import { readDocuments } from '../../src/manifest/read.ts'

const secret = 'sk-canary-0123456789abcdef'
const sometimes = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 3 })

/** What people write in such places, right and wrong. */
const name = fc.constantFrom(
  'gpt-4o',
  'GPT 4o!',
  'openai/*',
  '*',
  '*-*',
  'a'.repeat(80),
  `${'a'.repeat(80)}b`,
  '東京',
  '__proto__',
  'constructor',
  ' spaced ',
  '',
)
const number = fc.constantFrom<unknown>(0, 1, 2, 0.5, 1e-9, -1, 1e12, '3', '', 'many', null, Number.MAX_SAFE_INTEGER)
const address = fc.constantFrom(
  'http://127.0.0.1:8000/v1',
  'https://api.openai.com/v1/',
  'https://my.openai.azure.com/openai/deployments/x',
  'os.environ/BASE',
  'not an address',
  'ftp://host/x',
  `https://${'long-name.'.repeat(9)}example.com/v1`,
  `https://${'long-name.'.repeat(9)}example.org/v1`,
)
const model = fc.constantFrom(
  'openai/gpt-4o',
  'gpt-4o',
  'claude-sonnet-4-5',
  'azure/deployment',
  'azure/',
  'bedrock/eu-west-1/anthropic.claude-3',
  'bedrock/meta.llama',
  'vertex_ai/gemini-2.5-pro',
  'ollama/llama3',
  'groq/llama-3.1',
  'nobody/knows',
  'openai/*',
  '',
)
const key = fc.constantFrom(secret, `${secret}2`, 'os.environ/SOME_KEY', 'fake', '')
const headers = fc.constantFrom<unknown>(
  { 'x-team': 'search' },
  { authorization: `Bearer ${secret}` },
  { 'bad name': 'x' },
  { 'x-lines': 'a\nb' },
  { host: 'elsewhere' },
  'none',
)

const litellm = fc.record(
  {
    model_list: fc.array(
      fc.record(
        {
          model_name: sometimes(name),
          litellm_params: fc.record(
            {
              model: sometimes(model),
              api_key: sometimes(key),
              api_base: sometimes(address),
              extra_headers: sometimes(headers),
              weight: sometimes(number),
              order: sometimes(number),
              timeout: sometimes(number),
              stream_timeout: sometimes(number),
              num_retries: sometimes(number),
              rpm: sometimes(number),
              organization: sometimes(name),
              api_version: sometimes(name),
              aws_region_name: sometimes(name),
              vertex_location: sometimes(name),
            },
            { requiredKeys: [] },
          ),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 6 },
    ),
    router_settings: sometimes(
      fc.record(
        {
          routing_strategy: sometimes(fc.constantFrom('simple-shuffle', 'latency-based-routing', 'odd')),
          num_retries: sometimes(number),
          timeout: sometimes(number),
          fallbacks: sometimes(fc.array(fc.dictionary(name, fc.array(name, { maxLength: 3 }), { maxKeys: 2 }))),
          model_group_alias: sometimes(fc.dictionary(name, name, { maxKeys: 3 })),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
)

const leaf = fc.record(
  {
    provider: sometimes(
      fc.constantFrom('openai', 'anthropic', 'azure-openai', 'bedrock', '@openai-prod', 'nobody', ''),
    ),
    virtual_key: sometimes(fc.constantFrom('openai-prod', 'azure-eu', 'x'.repeat(80), '東京')),
    api_key: sometimes(key),
    custom_host: sometimes(address),
    weight: sometimes(number),
    override_params: sometimes(fc.record({ model: sometimes(name) }, { requiredKeys: [] })),
    azure_resource_name: sometimes(name),
    aws_region: sometimes(name),
    retry: sometimes(fc.record({ attempts: number })),
    request_timeout: sometimes(number),
  },
  { requiredKeys: [] },
)
const { tree: group } = fc.letrec<{ tree: object }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record(
      {
        strategy: sometimes(
          fc.record(
            {
              mode: fc.constantFrom('fallback', 'loadbalance', 'single', 'conditional'),
              on_status_codes: sometimes(fc.array(fc.constantFrom<unknown>(429, '503', 200, 'x'))),
              conditions: sometimes(
                fc.array(
                  fc.tuple(name, fc.constantFrom('0', '1', 'a')).map(([wanted, to]) =>
                    Object.fromEntries([
                      ['query', { 'params.model': wanted }],
                      ['then', to],
                    ]),
                  ),
                ),
              ),
              default: sometimes(fc.constantFrom('0', '1', 'a')),
            },
            { requiredKeys: [] },
          ),
        ),
        targets: fc.array(tie('tree'), { maxLength: 3 }),
        retry: sometimes(fc.record({ attempts: number })),
        request_timeout: sometimes(number),
        weight: sometimes(number),
      },
      { requiredKeys: ['targets'] },
    ),
  ),
}))
const portkey = fc.oneof(
  group,
  fc.record({
    configs: fc.array(fc.record({ slug: sometimes(name), config: group }, { requiredKeys: [] }), { maxLength: 4 }),
  }),
)

/** What `apply` would say of the file, with every variable set. */
async function problemsOf(converted: Converted): Promise<unknown[]> {
  const text = writeConverted(converted, 'source')
  const variables = Object.fromEntries([...text.matchAll(/\$\{(\w+)\}/g)].map(([, variable = '']) => [variable, 'x']))
  const scope = { name: 'scope', text: 'projects: [{ name: default, environments: [production] }]' }
  const { entries, problems } = readDocuments([scope, { name: 'converted', text }], variables)
  const plan = await makePlan({ resources: [], entries, owner: 'file', prune: false, force: false })
  return [...problems, ...plan.problems, ...(await checkOutcome(plan, () => true))]
}

async function check(convert: (text: string) => Converted, tree: unknown): Promise<void> {
  const text = JSON.stringify(tree)
  const converted = convert(text)
  expect(writeConverted(converted, 'source')).not.toContain('canary')
  expect(JSON.stringify(converted.left)).not.toContain(secret)
  expect(await problemsOf(converted), writeConverted(converted, 'source')).toEqual([])
  expect(convert(text)).toEqual(converted)
}

describe('whatever the file holds, what comes of it can be applied and holds no secret', () => {
  it('from LiteLLM', async () => {
    await fc.assert(
      fc.asyncProperty(litellm, (tree) => check((text) => convertLitellm(parseSettingsFile(text, 'source')), tree)),
      { numRuns: 300 },
    )
  })

  it('from Portkey', async () => {
    await fc.assert(
      fc.asyncProperty(portkey, (tree) =>
        check((text) => convertPortkey(parseSettingsFile(text, 'source'), '*'), tree),
      ),
      { numRuns: 300 },
    )
  })
})
