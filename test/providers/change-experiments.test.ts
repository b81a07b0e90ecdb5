import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readFields } from '../../cli/fields.ts'
import { deriveKindSettings } from '../../scripts/kind-settings.ts'
import { fieldsOf, listSettings } from '../../src/admin/contract/providers/kind-fields.ts'
import { kindSchema } from '../../src/admin/handlers/providers/kind-schema.ts'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { findChoice, kindChoices, presetChoices } from '../../src/console/app/areas/providers/add-choices.ts'
import { convertLitellm } from '../../src/import/litellm.ts'
import { convertPortkey } from '../../src/import/portkey.ts'
import { Vendors } from '../../src/import/vendors.ts'
import type { ProviderKind } from '../../src/providers/contract.ts'
import { credentialNeed, defaultBaseUrl, findKind, indexKinds, providerKinds } from '../../src/providers/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { makeOpenaiCompatible } from '../../src/providers/openai-compatible.ts'
import { type Preset, presets } from '../../src/providers/presets.ts'
import { readError } from '../../src/providers/wire/status.ts'
import { startTestGateway } from '../admin/gateway.ts'

/** What it takes to add something: one value, put into the list that has its kind. Everything else must follow from it. */

const litellm = (text: string, kinds: readonly ProviderKind[]) =>
  convertLitellm(parseSettingsFile(text, 'litellm.yaml'), new Vendors(kinds))

describe('a new provider kind', () => {
  const acme: ProviderKind = {
    ...openai,
    kind: 'acme',
    title: 'Acme AI',
    description: 'Acme models, by tenant',
    defaultBaseUrl: 'https://api.acme.example/v1',
    settings: {
      tenant: { description: 'Tenant to bill calls to', required: true },
      project: { description: 'Acme project' },
      traced: { description: 'Trace calls at Acme', type: 'boolean' },
    },
    imports: { names: ['acme_ai'], keyVariable: 'ACME_KEY', models: /^acme-/ },
  }
  const kinds = [...providerKinds, acme]

  it('has its settings as fields of the contract and flags of the command line', () => {
    const rows = deriveKindSettings(kinds)
    // `project` means something else to every command.
    expect(rows).toMatchObject({ tenant: { kinds: ['acme'] }, acmeProject: { setting: 'project' } })
    const fields = readFields(z.strictObject(fieldsOf(listSettings(rows))))
    const own = fields.filter((field) => field.kinds?.includes('acme'))
    expect(own.map(({ flag, shape, description }) => [flag, shape, description])).toEqual([
      ['tenant', 'text', 'Tenant to bill calls to (kind acme)'],
      ['acme-project', 'text', 'Acme project (kind acme)'],
      ['traced', 'boolean', 'Trace calls at Acme (kind acme)'],
    ])
  })

  it('may not give another meaning to a setting that a kind has', () => {
    const other = { ...acme, settings: { region: { description: 'Part of the galaxy' } } }
    expect(() => deriveKindSettings([...providerKinds, other])).toThrow(
      'bedrock and acme mean different things by region',
    )
    expect(() => indexKinds([...kinds, acme])).toThrow('Two provider kinds are named acme.')
  })

  it('is listed by providers.kinds, and offered by the console', async () => {
    const { client } = await startTestGateway(null, kinds)
    const listed = await client.providers.kinds({})
    expect(listed.at(-1)).toMatchObject({
      kind: 'acme',
      description: 'Acme models, by tenant',
      default_base_url: 'https://api.acme.example/v1',
      settings: { required: ['tenant'] },
    })
    expect(kindChoices(listed).at(-1)).toMatchObject({
      word: 'acme',
      title: 'Acme AI',
      about: 'Acme models, by tenant',
    })
    expect(findChoice('acme', listed)?.kind.kind).toBe('acme')
  })

  it('is what other gateways’ files mean by its names, or by its models', () => {
    const text = 'model_list:\n  - { model_name: a, litellm_params: { model: acme_ai/fast } }\n'
    const expected = [{ name: 'acme_ai', kind: 'acme', credential: `\${ACME_KEY}` }]
    expect(litellm(text, kinds).providers).toEqual(expected)
    expect(litellm(text.replace('acme_ai/fast', 'acme-large'), kinds).providers).toEqual(expected)
    expect(litellm(text, providerKinds).providers).toEqual([])
    const portkey = parseSettingsFile('{"provider": "acme_ai", "api_key": "sk-canary"}', 'portkey.json')
    expect(convertPortkey(portkey, '*', new Vendors(kinds)).providers).toMatchObject([{ kind: 'acme' }])
  })
})

describe('a new vendor', () => {
  const vendor: Preset = {
    name: 'sparks',
    title: 'Sparks',
    baseUrl: 'https://api.sparks.example/v1',
    credential: 'required',
    unsupported: ['stream_options'],
    reasoningBeside: false,
    reasoningBack: false,
    cacheControl: false,
    reasoningBudget: false,
    logprobs: true,
    responses: false,
    responsesSocket: false,
    listsModels: false,
    exhausted: ['out of sparks'],
    importNames: ['sparks_ai'],
    note: 'Models are slow at night.',
  }
  const kind = makeOpenaiCompatible([...presets, vendor])
  const settings = { preset: 'sparks' }
  const target = { name: 'one', baseUrl: '', settings }

  it('sets the address, the need for a credential, and what is not supported', () => {
    expect(kindSchema(kind).safeParse(settings).success).toBe(true)
    const present = findKind(kind.kind)
    expect(present && kindSchema(present).safeParse(settings).success).toBe(false)
    expect([defaultBaseUrl(kind, settings), credentialNeed(kind, settings)]).toEqual([vendor.baseUrl, 'required'])
    expect(kind.address(target, 'openai', '/models')).toEqual({
      origin: 'https://api.sparks.example',
      path: '/v1/models',
    })
    expect([kind.unsupported(target), present?.unsupported(target)]).toEqual([['stream_options'], []])
    const gives = [settings, { ...settings, logprobs: false }, { preset: 'groq' }, { logprobs: true }, {}]
    expect(gives.map((one) => kind.givesLogprobs?.(one))).toEqual([true, false, false, true, false])
    expect(kind.check?.read(404, Buffer.from(''), target).ok).toBe(true)
    const answer = readError({ message: 'You are out of sparks.' })
    const head = { status: 429, headers: new Map() }
    expect(kind.classify(head, answer, settings)).toEqual({ verdict: 'quota-exhausted' })
    expect(kind.classify(head, answer, { preset: 'groq' }).verdict).toBe('retry')
    expect(present?.classify(head, answer, settings).verdict).toBe('retry')
  })

  it('is listed by providers.kinds, offered by the console, and known to import', async () => {
    const kinds = providerKinds.map((one) => (one.kind === kind.kind ? kind : one))
    const { client } = await startTestGateway(null, kinds)
    const listed = (await client.providers.kinds({})).find((one) => one.kind === kind.kind)
    expect(listed?.presets.at(-1)).toEqual({
      ...{ name: 'sparks', title: 'Sparks', base_url: vendor.baseUrl, credential: 'required', note: vendor.note },
    })
    expect(listed && presetChoices(listed).at(-1)).toMatchObject({ word: 'openai-compatible/sparks', title: 'Sparks' })
    const text = 'model_list:\n  - { model_name: a, litellm_params: { model: sparks_ai/fast } }\n'
    expect(litellm(text, kinds).providers).toEqual([
      { name: 'sparks', kind: kind.kind, credential: `\${SPARKS_AI_API_KEY}`, settings },
    ])
  })
})
