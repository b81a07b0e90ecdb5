import { describe, expect, it } from 'vitest'
import { blankUsageDetail, type RequestRecord } from '../../src/core/record.ts'
import { JournalWriter } from '../support/journal-writer.ts'
import { sampleAttempt, sampleRecord, settled } from '../support/sample-record.ts'
import { refusal, startTestGateway, type TestGateway } from './gateway.ts'

const tokens = { input: 1000, output: 100, cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' } as const
const unpriced = { rule: 'unpriced', verdict: 'flag', text: 'no price' } as const

async function gatewayWith(records: readonly Partial<RequestRecord>[]): Promise<TestGateway> {
  const gateway = await startTestGateway()
  await gateway.client.providers.add({ kind: 'openai', name: 'openai', credential: 'sk-1', skipCheck: true })
  await addRecords(gateway, records)
  return gateway
}

async function addRecords({ databasePath, store }: TestGateway, records: readonly Partial<RequestRecord>[]) {
  const directory = databasePath.replace(/[^/]+$/, 'journal')
  const writer = new JournalWriter(directory, { boot: 'live', thread: 0, sequence: 1 }, 4 * 1024 * 1024)
  writer.write(...records.map((change) => settled(sampleRecord({ tokens, ...change }))))
  await store.ingest()
}

async function recompute({ client }: TestGateway, input: { provider?: string } = {}) {
  const shown = []
  for await (const each of await client.cost.recompute({ since: '1d', ...input })) shown.push(each)
  return shown.at(-1)
}

describe('cost recompute', () => {
  it('puts the cost of now on records, with its version, and changes nothing the second time', async () => {
    const gateway = await gatewayWith([
      { model: 'house', upstream_model: 'house', cost: null, policy_signals: [unpriced] },
      { model: 'house', upstream_model: 'house', cost: { usd: 9, price_version: 'old' } },
      { model: 'nobody-knows', upstream_model: 'nobody-knows', cost: null, policy_signals: [unpriced] },
      { status: 404, tokens: null, cost: null },
    ])
    const price = await gateway.client.prices.set({ model: 'house', input: 2, output: 10 })
    // 1,000 × 2 + 100 × 10 millionths.
    const expected = { done: true, checked: 4, changed: 2, unpriced: 1, before_usd: 9, after_usd: 0.006 }
    expect(await recompute(gateway)).toMatchObject(expected)
    const records = await gateway.client.requests.list({ model: 'house' })
    expect(records.map(({ cost }) => cost)).toEqual(Array(2).fill({ usd: 0.003, price_version: price.version }))
    expect(records.flatMap(({ policy_signals }) => policy_signals)).toEqual([])
    expect(await gateway.client.requests.stats({})).toMatchObject([{ requests: 4, usd: 0.006 }])
    expect(await recompute(gateway)).toMatchObject({ changed: 0, before_usd: 0.006, after_usd: 0.006 })
    expect((await gateway.client.audit.list({ limit: 1 }))[0]).toMatchObject({ operation: 'cost.recompute' })
  })

  it('says what the price of now has no rate for, and no longer that there is none', async () => {
    const usage_detail = { ...blankUsageDetail, containers: 1 }
    const gateway = await gatewayWith([
      { model: 'house', upstream_model: 'house', cost: null, usage_detail, policy_signals: [unpriced] },
    ])
    await gateway.client.prices.set({ model: 'house', input: 2, output: 10 })
    await recompute(gateway)
    const [record] = await gateway.client.requests.list({ model: 'house' })
    const text = 'The price of house has no rate for sessions of the code interpreter (1): its cost is without that.'
    const data = { model: 'house', provider: 'openai' }
    expect(record).toMatchObject({ cost: { usd: 0.003 }, policy_signals: [{ ...unpriced, text, data }] })
    await gateway.client.prices.set({ model: 'house', input: 2, output: 10, perContainer: 0.03 })
    await recompute(gateway)
    const [now] = await gateway.client.requests.list({ model: 'house' })
    expect(now).toMatchObject({ cost: { usd: 0.033 }, policy_signals: [] })
  })

  it('goes by the model that has answered, unless the deployment has a price that somebody has set', async () => {
    const attempts = [{ ...sampleAttempt('openai', 'answered'), priced_as: 'house' }]
    const gateway = await gatewayWith([{ upstream_model: 'my deployment', attempts, cost: null }])
    await gateway.client.prices.set({ model: 'house', input: 2, output: 10 })
    expect(await recompute(gateway)).toMatchObject({ changed: 1, unpriced: 0, after_usd: 0.003 })
    await gateway.client.prices.set({ model: 'my deployment', input: 4, output: 20 })
    expect(await recompute(gateway)).toMatchObject({ changed: 1, after_usd: 0.006 })
  })

  it('keeps what earlier attempts cost, and counts by tier, bucket and batch as when it was settled', async () => {
    const costs = (usd: number) => ({ usd, price_version: 'old' })
    const attempts = [
      { ...sampleAttempt('openai', 'provider_timeout'), cost: costs(0.5) },
      { ...sampleAttempt('openai', 'answered'), cost: costs(1) },
    ]
    const gateway = await gatewayWith([
      { upstream_model: 'house', attempts, cost: costs(1.5) },
      { upstream_model: 'house', operation: 'batches.results', attempts: [], cost: costs(1) },
    ])
    await gateway.client.prices.set({ model: 'house', input: 2, output: 10, batchInput: 1, batchOutput: 5 })
    await recompute(gateway)
    const records = await gateway.client.requests.list({})
    expect(records.map(({ cost }) => cost?.usd).sort()).toEqual([0.0015, 0.503])
    expect(records.flatMap((record) => record.attempts.map(({ cost }) => cost?.usd))).toEqual([0.5, 0.003])
  })

  it('leaves the parts of a pause as they were booked, of which each has a prompt of its own', async () => {
    const gateway = await startTestGateway()
    await gateway.client.providers.add({ kind: 'openai', name: 'openai', credential: 'sk-1', skipCheck: true })
    const long = { longContextOver: 800, longContextInput: 20, longContextOutput: 50 }
    const { version } = await gateway.client.prices.set({ model: 'house', input: 2, output: 10, ...long })
    const pause = { rule: 'pause', verdict: 'note', text: 'paused' } as const
    // Two prompts of 500 tokens, below the length from which rates are others.
    const booked = { usd: 0.003, price_version: version }
    const attempts = [
      { ...sampleAttempt('openai', 'provider_timeout'), cost: { usd: 0.5, price_version: version } },
      { ...sampleAttempt('openai', 'answered'), cost: booked },
    ]
    const house = { upstream_model: 'house', attempts, cost: { ...booked, usd: 0.503 } }
    await addRecords(gateway, [{ ...house, routing_signals: [pause] }])
    expect(await recompute(gateway)).toMatchObject({ checked: 1, changed: 0, after_usd: 0.503 })
    // Nobody knows how long each was, so that new rates are those of short ones.
    await gateway.client.prices.set({ model: 'house', input: 4, output: 20, ...long })
    expect(await recompute(gateway)).toMatchObject({ checked: 1, changed: 1, after_usd: 0.506 })
  })

  it('leaves a refusal that its vendor does not charge', async () => {
    const free = { rule: 'refusal', verdict: 'note', text: 'it charges nothing' } as const
    const refused = { upstream_model: 'house', cost: { usd: 0, price_version: 'old' }, routing_signals: [free] }
    const gateway = await gatewayWith([refused])
    await gateway.client.prices.set({ model: 'house', input: 2, output: 10 })
    expect(await recompute(gateway)).toMatchObject({ checked: 1, changed: 0, after_usd: 0 })
  })

  it('leaves connections whose turns asked several models, and says how many there are', async () => {
    const turns = { rule: 'turns', verdict: 'note', text: 'several models' } as const
    const socket = { status: 101, upstream_model: 'house', cost: { usd: 0.5, price_version: 'old' } }
    const gateway = await gatewayWith([{ ...socket, routing_signals: [turns] }, socket])
    await gateway.client.prices.set({ model: 'house', input: 2, output: 10 })
    expect(await recompute(gateway)).toMatchObject({
      ...{ checked: 2, changed: 1, unpriced: 0, several_models: 1, before_usd: 1, after_usd: 0.503 },
      kept: [
        'the cost of a request stays as booked, since several models worked for it and only their sum is recorded',
      ],
    })
  })

  it('charges models without a price the rate that the policies of their key name, and the built-in provider nothing', async () => {
    const gateway = await gatewayWith([])
    const { client } = gateway
    const { id } = await client.keys.create({ name: 'rated' })
    await client.policies.add({ name: 'rate', unpriced: '3', attach: ['key:default/production/rated'] })
    await client.providers.add({ kind: 'demo', name: 'demo' })
    const key = { id, name: 'rated' }
    const directory = gateway.databasePath.replace(/[^/]+$/, 'journal')
    const writer = new JournalWriter(directory, { boot: 'live', thread: 0, sequence: 2 }, 4 * 1024 * 1024)
    const record = { tokens, upstream_model: 'nobody-knows', cost: null }
    writer.write(
      settled(sampleRecord({ ...record, key })),
      settled(sampleRecord(record)),
      settled(sampleRecord({ ...record, provider: 'demo' })),
    )
    await gateway.store.ingest()
    expect(await recompute(gateway)).toMatchObject({ checked: 3, changed: 1, unpriced: 1, after_usd: 0.0033 })
    const [found] = await client.requests.list({ key: 'rated' })
    expect(found?.cost).toEqual({ usd: 0.0033, price_version: 'policy rate' })
    // As statistics write it where several keys have the name.
    expect(await client.requests.list({ key: 'default/production/rated' })).toEqual([found])
    expect(await client.requests.list({ key: 'default/staging/rated' })).toEqual([])
    expect(await client.requests.list({ key: 'default/production/rated', project: 'search' })).toEqual([])
  })

  it('looks at thousands in pages, and only at those of one provider where one is named', async () => {
    const gateway = await gatewayWith(Array(450).fill({ upstream_model: 'house', cost: null }))
    await gateway.client.prices.set({ model: 'house', input: 2, output: 10 })
    await gateway.client.providers.add({ kind: 'openai', name: 'other', credential: 'sk-1', skipCheck: true })
    expect(await recompute(gateway, { provider: 'other' })).toMatchObject({ checked: 0, changed: 0 })
    expect(await recompute(gateway, { provider: 'openai' })).toMatchObject({ checked: 450, changed: 450 })
  })
})

const day = new Date().toISOString().slice(0, 10)
const seconds = Date.parse(day) / 1000

describe('cost reconcile', () => {
  const reconcile = async (
    csv: string,
    records: readonly Partial<RequestRecord>[] = [{}, { upstream_model: 'gpt-4o-mini-2024-07-18' }],
  ) => {
    const { client } = await gatewayWith(records)
    return await client.cost.reconcile({ files: { 'usage.csv': csv }, provider: 'openai' })
  }
  const ours = { model: 'gpt-4o-mini', day, requests: 2, input: 2000, output: 200, usd: 0.002 }

  it("compares with OpenAI's usage by model, whatever name of a model was exported", async () => {
    const csv = `start_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,user_id,model,batch,input_tokens,output_tokens,input_cached_tokens
${seconds},${seconds + 86400},${day}T00:00:00+00:00,,proj_1,1,,gpt-4o-mini-2024-07-18,false,1000,100,0
${seconds},${seconds + 86400},${day}T00:00:00+00:00,,proj_2,1,,gpt-4o-mini-2024-07-18,false,1000,150,0
`
    expect(await reconcile(csv)).toEqual([
      {
        ...ours,
        ...{ provider_requests: 2, provider_input: 2000, provider_output: 250, provider_usd: null },
        ...{ difference_usd: null, difference_tokens: -50 },
      },
    ])
  })

  it("compares with OpenAI's costs by line item", async () => {
    const csv = `start_time,start_time_iso,amount_value,amount_currency,line_item
${seconds},${day}T00:00:00+00:00,0.0015,usd,"gpt-4o-mini-2024-07-18, input"
${seconds},${day}T00:00:00+00:00,0.0004,usd,"gpt-4o-mini-2024-07-18, output"
`
    expect(await reconcile(csv)).toMatchObject([{ ...ours, provider_usd: 0.0019, difference_usd: 0.0001 }])
  })

  it("adds up the parts of Anthropic's input, and shows what only one of the two knows", async () => {
    const csv = `usage_date_utc,model_version,api_key,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count
${day},claude-sonnet-4-5-20250929,ci,"1,000",200,30,4000,500,0
`
    expect(await reconcile(csv)).toMatchObject([
      { model: 'claude-sonnet-4-5', requests: 0, provider_input: 5230, provider_output: 500, difference_tokens: -5730 },
      { ...ours, provider_input: null, difference_tokens: 2200 },
    ])
  })

  it('says which column a file lacks', async () => {
    expect(await refusal(reconcile('model,input_tokens\ngpt,1\n'))).toMatchObject({
      code: 'invalid',
      message: 'usage.csv has no column for the day.',
    })
    expect(await refusal(reconcile('date,model\n2026-01-01,gpt\n'))).toMatchObject({ code: 'invalid' })
  })
})
