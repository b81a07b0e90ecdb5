import { describe, expect, it } from 'vitest'
import { refusal, startTestGateway } from './gateway.ts'

describe('prices', () => {
  it('ship with the gateway, are found by plainer names, and are listed by vendor and name', async () => {
    const { client } = await startTestGateway()
    expect(await client.prices.show({ model: 'gpt-4o-mini' })).toMatchObject({ vendor: 'openai', source: 'shipped' })
    expect(await client.prices.show({ model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' })).toMatchObject({
      input: 3.3,
    })
    const listed = await client.prices.list({ vendor: 'anthropic', match: 'HAIKU' })
    expect(listed.length).toBeGreaterThan(1)
    expect(listed.every(({ vendor, model }) => vendor === 'anthropic' && model.includes('haiku'))).toBe(true)
    expect(await refusal(client.prices.show({ model: 'no-such-model' }))).toMatchObject({ code: 'not_found' })
  })

  it('are set whole, published, kept for one provider or all, and removed again', async () => {
    const gateway = await startTestGateway()
    const { client } = gateway
    await client.providers.add({ kind: 'openai', name: 'eu', credential: 'sk-1', skipCheck: true })
    const set = await client.prices.set({
      model: 'gpt-4o-mini',
      input: 1,
      output: 2,
      batchInput: 0.5,
      longContextOver: 200_000,
      longContextInput: 2,
      batchLongContextInput: 1,
      batchLongContextCacheWrite1h: 3,
    })
    expect(set).toMatchObject({
      input: 1,
      cache_read: null,
      batch: { input: 0.5, long_context: { input: 1, cache_write_1h: 3 } },
      long_context: { over: 200_000, input: 2 },
      source: 'set',
      provider: null,
    })
    const published = gateway.published
    await client.prices.set({ model: 'gpt-4o-mini', provider: 'eu', input: 3, output: 4 })
    expect(gateway.published).toBe(published + 1)
    expect(await client.prices.show({ model: 'gpt-4o-mini' })).toEqual(set)
    expect(await client.prices.show({ model: 'gpt-4o-mini', provider: 'eu' })).toMatchObject({
      input: 3,
      provider: 'eu',
    })
    expect(await client.prices.list({ changed: true })).toHaveLength(2)
    await client.prices.remove({ model: 'gpt-4o-mini' })
    expect(await client.prices.show({ model: 'gpt-4o-mini' })).toMatchObject({ source: 'shipped' })
    expect(await refusal(client.prices.remove({ model: 'gpt-4o-mini' }))).toMatchObject({ code: 'not_found' })
    expect((await client.audit.list({ limit: 3 })).map(({ operation }) => operation)).toContain('prices.remove')
  })

  it('are refused where they are mistyped (litellm 20615) or say nothing', async () => {
    const { client } = await startTestGateway()
    const dear = { model: 'm', input: 2_500_000, output: 1 }
    expect(await refusal(client.prices.set(dear))).toMatchObject({ hint: expect.stringContaining('--force') })
    expect(await client.prices.set({ ...dear, force: true })).toMatchObject({ input: 2_500_000 })
    expect(await refusal(client.prices.set({ model: 'm' }))).toMatchObject({ code: 'invalid' })
    expect(await refusal(client.prices.set({ model: 'm', longContextInput: 3 }))).toMatchObject({ code: 'invalid' })
    const tierAlone = { model: 'm', input: 1, batchLongContextInput: 3 }
    expect(await refusal(client.prices.set(tierAlone))).toMatchObject({ code: 'invalid' })
    const dearTier = { ...tierAlone, longContextOver: 9, batchLongContextInput: 2_500_000 }
    expect(await refusal(client.prices.set(dearTier))).toMatchObject({ hint: expect.stringContaining('--force') })
    expect(await refusal(client.prices.set({ model: 'm', perImage: ['big=cheap'] }))).toMatchObject({ code: 'invalid' })
  })

  it('take the names of places in any letters, as answers are read', async () => {
    const { client } = await startTestGateway()
    const file = JSON.stringify({ model: 'm', input: 1, geo: { US: 1.1 } })
    await client.prices.import({ files: { 'a.json': file } })
    expect(await client.prices.show({ model: 'm' })).toMatchObject({ geo: { us: 1.1 } })
  })

  it('are imported as show prints them, and a whole table takes the place of the shipped one', async () => {
    const { client } = await startTestGateway()
    const shown = await client.prices.show({ model: 'gpt-4o-mini' })
    const file = JSON.stringify([
      { ...shown, input: 9 },
      { model: 'mine', input: 1, output: 1 },
    ])
    expect(await client.prices.import({ files: { 'prices.json': file } })).toMatchObject({ changed: 2 })
    expect(await client.prices.show({ model: 'gpt-4o-mini' })).toMatchObject({ input: 9, source: 'imported' })
    const broken = JSON.stringify([{ model: 'x', input: -1 }])
    expect(await refusal(client.prices.import({ files: { 'b.json': broken } }))).toMatchObject({
      message: expect.stringContaining('b.json, price 1.input'),
    })
    expect(await refusal(client.prices.import({ files: { 'c.json': '{' } }))).toMatchObject({
      message: expect.stringContaining('c.json is not JSON'),
    })
    const table = JSON.stringify([{ model: 'only', vendor: 'openai', input: 7, output: 7, version: '2030-01-01' }])
    expect(await client.prices.update({ files: { t: table } })).toEqual({ changed: 1, version: '2030-01-01' })
    expect(await client.prices.list({ vendor: 'openai' })).toHaveLength(1)
    await client.prices.update({ shipped: true })
    expect((await client.prices.list({ vendor: 'openai' })).length).toBeGreaterThan(100)
  })

  it('are taken from the file of LiteLLM, whatever odd values it has', async () => {
    const { client } = await startTestGateway()
    const usual = { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: 2e-6, output_cost_per_token: 1e-5 }
    const file = {
      sample_spec: { litellm_provider: 'one of https://docs.litellm.ai/docs/providers', input_cost_per_token: 0 },
      'gpt-new': {
        ...{
          ...usual,
          max_input_tokens: 272_000.5,
          max_output_tokens: '8192',
          regional_processing_uplift_multiplier_eu: 1.1,
        },
        ...{ input_cost_per_token_above_200k_tokens: 4e-6, output_cost_per_token_above_200k_tokens: 2e-5 },
        ...{
          cache_read_input_token_cost: 2e-7,
          cache_read_input_image_token_cost: 5e-7,
          input_cost_per_video_token: null,
        },
      },
      'openai/gpt-new': { ...usual, input_cost_per_token: 9e-6 },
      'claude-new': {
        ...{ ...usual, litellm_provider: 'anthropic', output_cost_per_token: -1 },
        provider_specific_entry: { us: 0, fast: 'x' },
      },
      'openai/': usual,
      odd: null,
      'gpt-odd': { ...usual, input_cost_per_token: '0.1', output_cost_per_token: null },
      elsewhere: { ...usual, litellm_provider: 'nobody' },
    }
    expect(await client.prices.update({ files: { 'a.json': JSON.stringify(file) } })).toMatchObject({ changed: 2 })
    const shown = await client.prices.show({ model: 'gpt-new' })
    expect(shown).toMatchObject({
      ...{ vendor: 'openai', source: 'shipped', input: 2, output: 10, cache_read: 0.2, image_cache_read: 0.5 },
      ...{ video_input: null, per_search: 0.01, per_file_search: 0.0025, geo: { regional: 1.1 } },
      ...{ long_context: { over: 200_000, input: 4, output: 20 }, max_input: 272_000, max_output: null },
    })
    expect(await client.prices.list({})).toMatchObject([
      { model: 'claude-new', output: null, geo: null, fast: null },
      shown,
    ])
    const none = JSON.stringify({ elsewhere: file.elsewhere })
    expect(await refusal(client.prices.update({ files: { 'a.json': none } }))).toMatchObject({ code: 'invalid' })
  })

  it('of LiteLLM have no usual rate where the whole costs something else', async () => {
    const { client } = await startTestGateway()
    const usual = { litellm_provider: 'gemini', input_cost_per_token: 1e-6, output_cost_per_token: 4e-6 }
    const model = {
      ...usual,
      ...{ output_cost_per_reasoning_token: 4e-6, output_cost_per_image_token: 4e-5, input_cost_per_audio_token: 3e-6 },
      ...{ input_cost_per_token_batches: 5e-7, output_cost_per_token_batches: 2e-6 },
      ...{ input_cost_per_token_priority: 2e-6, output_cost_per_token_priority: 8e-6 },
      ...{ input_cost_per_audio_token_priority: 5e-6 },
    }
    await client.prices.update({ files: { 'a.json': JSON.stringify({ 'gemini/thinks': model }) } })
    expect(await client.prices.show({ model: 'thinks' })).toMatchObject({
      ...{ output: 4, reasoning: null, image_output: 40, audio_input: 3 },
      batch: { input: 0.5, output: 2, image_output: 20, audio_input: 1.5 },
      priority: { input: 2, output: 8, image_output: 80, audio_input: 5 },
    })
  })

  it('of single providers are no part of a table', async () => {
    const { client } = await startTestGateway()
    const baseUrl = 'https://eu.api.openai.com/v1'
    await client.providers.add({ kind: 'openai', name: 'eu', baseUrl, credential: 'sk-1', skipCheck: true })
    expect(await client.prices.show({ model: 'gpt-5.4', provider: 'eu' })).toMatchObject({
      input: 2.75,
      provider: 'eu',
    })
    const text = JSON.stringify(await client.prices.list({}))
    await client.prices.update({ files: { 'a.json': text } })
    expect(await client.prices.show({ model: 'gpt-5.4' })).toMatchObject({ input: 2.5, vendor: 'openai' })
    expect(await client.prices.show({ model: 'gpt-5.4', provider: 'eu' })).toMatchObject({ input: 2.75 })
    // A name that only one vendor has is that vendor's, whatever it costs in a region.
    const table = JSON.stringify([
      { model: 'gpt-5.4', vendor: 'openai', input: 5 },
      { model: 'gpt-5.4@only', vendor: 'azure-openai', input: 7 },
      { model: 'gpt-5.5@only', vendor: 'openai', input: 9, geo: { regional: 1.1 } },
      { model: 'gpt-5.5', vendor: 'openai', input: 6 },
    ])
    await client.prices.update({ files: { 'a.json': table } })
    expect(await client.prices.show({ model: 'gpt-5.5@only' })).toMatchObject({ input: 9, provider: null })
  })

  it('that are wrong change nothing, and none is given twice', async () => {
    const { client } = await startTestGateway()
    const good = { model: 'good', input: 1 }
    const before = await client.prices.list({})
    for (const [wrong, message] of [
      [[good, { model: 'dear', input: 1e300 }], 'input of dear is more than'],
      [[good, { model: 'dear', input: 20_000 }], 'input of dear is $20,000.00 per million tokens.'],
      [[good, { ...good, output: 2 }], 'There are two prices of good.'],
      [[good, { model: 'free' }], 'price 2: that of free has no rate.'],
    ] as const) {
      const files = { 'a.json': JSON.stringify(wrong) }
      const expected = { code: 'invalid', message: expect.stringContaining(message) }
      expect(await refusal(client.prices.import({ files }))).toMatchObject(expected)
      expect(await refusal(client.prices.update({ files }))).toMatchObject(expected)
    }
    expect(await client.prices.list({})).toEqual(before)
  })

  it('of the shipped table have room in one input, as list prints them', async () => {
    const { client } = await startTestGateway()
    const text = JSON.stringify(await client.prices.list({}), null, 2)
    expect(JSON.stringify({ files: { 'table.json': text } }).length).toBeLessThan((4 * 1024 * 1024) / 2)
    expect(await client.prices.update({ files: { 'table.json': text } })).toMatchObject({ changed: expect.any(Number) })
  })
})
