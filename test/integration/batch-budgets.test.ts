import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ObjectUpstream, type Reply, startObjectUpstream } from '../support/object-upstream.ts'

let directory: string
let upstream: ObjectUpstream
let gateway: TestGateway
let key: string

const policy = 'batches'
const nano = 1e9

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spgw-batch-budgets-'))
  upstream = await startObjectUpstream()
  gateway = await startGateway({ dataDirectory: directory })
  const { admin } = gateway
  const credentials = { openai: 'sk-budgets-0001', anthropic: 'sk-ant-budgets-0001', gemini: 'AIza-budgets-0001' }
  for (const [kind, credential] of Object.entries(credentials))
    await admin.providers.add({ name: kind, kind, baseUrl: upstream.baseUrl, credential, skipCheck: true })
  await gateway.addRoute('claude', ['anthropic'])
  await gateway.addRoute('gpt-a', ['openai'])
  await gateway.addRoute('gemini-a', ['gemini'])
  for (const model of ['claude', 'gpt-a', 'gemini-a'])
    await admin.prices.set({ model, input: 2, output: 10, batchInput: 1, batchOutput: 5 })
  await admin.policies.add({ name: policy, budgetUsdMonth: 1, attach: ['workspace'] })
  key = (await gateway.createKey('maker')).key
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
  await rm(directory, { recursive: true, force: true })
})

/** Again where a busy machine kept the index of objects from answering in time, as the SDKs do. */
async function ask(method: string, path: string, reply: Reply, more: RequestInit = {}, tries = 20): Promise<Response> {
  upstream.answer = () => reply
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more.headers }
  const response = await fetch(`${gateway.baseUrl}/v1${path}`, { method, ...more, headers })
  if (tries === 0 || response.headers.get('x-sp-error') !== 'object_index_unavailable') return response
  await response.text()
  return await ask(method, path, reply, more, tries - 1)
}

async function usage(): Promise<{ used: number; held: number }> {
  await gateway.admin.requests.list({ limit: 1 })
  const [found] = await gateway.admin.policies.usage({ name: policy })
  const [period] = found?.periods ?? []
  const show = (usd: number | null | undefined) => Math.round((usd ?? Number.NaN) * nano)
  return { used: show(period?.used), held: show(period?.held) }
}

/** What a change of the counters, which follows that of the store, comes to. */
const becomes = (wanted: { used: number; held: number }) => expect.poll(usage, { timeout: 20_000 }).toEqual(wanted)

const line = (more: object) => ({
  custom_id: '1',
  method: 'POST',
  url: '/v1/responses',
  body: { model: 'gpt-a', input: 'hi', ...more },
})

async function upload(name: string, lines: readonly object[]): Promise<void> {
  upstream.answer = () => ({ body: JSON.stringify({ id: name, object: 'file' }) })
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new File([lines.map((each) => JSON.stringify(each)).join('\n')], 'input.jsonl'))
  const headers = { authorization: `Bearer ${key}` }
  expect((await fetch(`${gateway.baseUrl}/v1/files`, { method: 'POST', body: form, headers })).status).toBe(200)
}

const batch = (id: string, more: object = {}): Reply => ({
  body: JSON.stringify({ id, object: 'batch', status: 'validating', output_file_id: null, ...more }),
})

async function make(id: string, lines: readonly object[]): Promise<Response> {
  await upload(`file-${id}`, lines)
  const body = JSON.stringify({ input_file_id: `file-${id}`, endpoint: '/v1/responses', completion_window: '24h' })
  return await ask('POST', '/batches', batch(id), { body })
}

/** At batch rates: a token for four bytes of the line's body at $1, and its limit at $5 a million. */
const holdOf = (lines: readonly ReturnType<typeof line>[]) => {
  const bytes = lines.reduce((sum, { body }) => sum + Buffer.byteLength(JSON.stringify(body)), 0)
  const output = lines.reduce((sum, { body }) => sum + Number(Reflect.get(body, 'max_output_tokens')), 0)
  return Math.ceil(bytes / 4) * 1000 + output * 5000
}

let spent = 0
const lines = [line({ max_output_tokens: 100 }), line({ max_output_tokens: 50 })]

describe('a batch of the OpenAI lane', () => {
  it('holds what its lines may come to at batch rates, also after a kill, until its results are read', async () => {
    expect((await make('batch_1', lines)).status).toBe(200)
    await becomes({ used: 0, held: holdOf(lines) })
    await gateway.kill('SIGKILL')
    gateway = await startGateway({ dataDirectory: directory })
    await becomes({ used: 0, held: holdOf(lines) })
    await ask('GET', '/batches/batch_1', batch('batch_1', { status: 'completed', output_file_id: 'file-out' }))
    await becomes({ used: 0, held: holdOf(lines) })
    const result = { response: { body: { model: 'gpt-a', usage: { input_tokens: 7, output_tokens: 20 } } } }
    const results = { type: 'application/octet-stream', body: `${JSON.stringify(result)}\n` }
    await (await ask('GET', '/files/file-out/content', results)).text()
    spent += 7 * 1000 + 20 * 5000
    await becomes({ used: spent, held: 0 })
    const records = await gateway.admin.requests.list({ limit: 100 })
    expect(records.reduce((sum, { cost }) => sum + Math.round((cost?.usd ?? 0) * nano), 0)).toBe(spent)
  })

  it('is charged what its own answer reports, where it does', async () => {
    await make('batch_2', lines)
    const reported = { input_tokens: 10, output_tokens: 30, total_tokens: 40 }
    const ended = { status: 'completed', output_file_id: 'file-2', model: 'gpt-a', usage: reported }
    await ask('GET', '/batches/batch_2', batch('batch_2', ended))
    spent += 10 * 1000 + 30 * 5000
    await becomes({ used: spent, held: 0 })
  })

  it('is charged what its results say where its own answer reports more than all of them can have used', async () => {
    await make('batch_false', lines)
    const reported = { input_tokens: 9e8, output_tokens: 30, total_tokens: 9e8 + 30 }
    const counts = { total: 2, completed: 2, failed: 0 }
    const ended = { status: 'completed', output_file_id: 'file-3', model: 'gpt-a', usage: reported }
    const shown = await ask('GET', '/batches/batch_false', batch('batch_false', { ...ended, request_counts: counts }))
    await shown.text()
    const { routing_signals } = await gateway.record(shown.headers.get('x-sp-request-id') ?? '')
    expect(routing_signals.map(({ text }) => text)).toContain(
      'Batch batch_false: The usage reported for the whole of it is more than it can have used: the usage in its results is counted instead.',
    )
    await becomes({ used: spent, held: holdOf(lines) })
    const result = { response: { body: { model: 'gpt-a', usage: { input_tokens: 7, output_tokens: 20 } } } }
    const results = { type: 'application/octet-stream', body: `${JSON.stringify(result)}\n` }
    await (await ask('GET', '/files/file-3/content', results)).text()
    spent += 7 * 1000 + 20 * 5000
    await becomes({ used: spent, held: 0 })
  })

  it.each(['cancelled', 'expired', 'failed'])('holds nothing more where it is %s without results', async (status) => {
    await make(`batch_${status}`, lines)
    await becomes({ used: spent, held: holdOf(lines) })
    await ask('GET', `/batches/batch_${status}`, batch(`batch_${status}`, { status }))
    await becomes({ used: spent, held: 0 })
  })

  it('holds nothing where the provider refuses it', async () => {
    await upload('file-refused', lines)
    const body = JSON.stringify({ input_file_id: 'file-refused', endpoint: '/v1/responses', completion_window: '24h' })
    expect((await ask('POST', '/batches', { status: 400, body: '{"error":{}}' }, { body })).status).toBe(400)
    await becomes({ used: spent, held: 0 })
  })

  it('is not made where its budget has no room, or nobody knows what it may come to', async () => {
    const dear = await make('batch_dear', [line({ max_output_tokens: 300_000 })])
    expect([dear.status, dear.headers.get('x-sp-error')]).toEqual([429, 'budget_exceeded'])
    const open = await make('batch_open', [line({})])
    expect([open.status, open.headers.get('x-sp-error')]).toEqual([403, 'policy_denied'])
    const said = /set max_output_tokens to at most (\d+) in each request/.exec(await open.text())
    await becomes({ used: spent, held: 0 })
    const most = Number(said?.[1])
    expect((await make('batch_longer', [line({ max_output_tokens: most + 20 })])).status).toBe(429)
    expect((await make('batch_most', [line({ max_output_tokens: most })])).status).toBe(200)
    await ask('GET', '/batches/batch_most', batch('batch_most', { status: 'cancelled' }))
    await becomes({ used: spent, held: 0 })
    // Of two, each may be half as long.
    const two = await make('batch_two', [line({}), line({})])
    const half = Number(/at most (\d+) in each/.exec(await two.text())?.[1])
    expect(Math.abs(half * 2 - most)).toBeLessThan(20)
  })
})

describe('a batch of the Anthropic lane', () => {
  const params = { model: 'claude', max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }
  const path = '/anthropic/v1/messages/batches'
  const create = (id: string) =>
    ask(
      'POST',
      path,
      { body: JSON.stringify({ id, type: 'message_batch', processing_status: 'in_progress' }) },
      {
        body: JSON.stringify({ requests: [{ custom_id: 'one', params }] }),
      },
    )
  const hold = Math.ceil(Buffer.byteLength(JSON.stringify(params)) / 4) * 1000 + 1000 * 5000
  const ended = (id: string, succeeded: number) => ({
    body: JSON.stringify({ id, processing_status: 'ended', request_counts: { succeeded, errored: 1 } }),
  })

  it('holds until its results are read, or nothing of it has succeeded', async () => {
    for (const [id, succeeded] of [
      ['msgbatch_1', 1],
      ['msgbatch_2', 0],
    ] as const) {
      expect((await create(id)).status).toBe(200)
      await becomes({ used: spent, held: hold })
      await ask('GET', `${path}/${id}`, ended(id, succeeded))
      await becomes({ used: spent, held: succeeded === 0 ? 0 : hold })
      if (succeeded === 0) continue
      const message = { model: 'claude', usage: { input_tokens: 5, output_tokens: 6 } }
      const result = { custom_id: 'one', result: { type: 'succeeded', message } }
      await (
        await ask('GET', `${path}/${id}/results`, { type: 'application/x-jsonl', body: JSON.stringify(result) })
      ).text()
      spent += 5 * 1000 + 6 * 5000
      await becomes({ used: spent, held: 0 })
    }
  })

  it('is not charged for a line that reports more than its model can have used, but for its length', async () => {
    expect((await create('msgbatch_3')).status).toBe(200)
    const message = { model: 'claude', usage: { input_tokens: 5, output_tokens: 9e8 } }
    const body = JSON.stringify({ custom_id: 'one', result: { type: 'succeeded', message } })
    const answer = await ask('GET', `${path}/msgbatch_3/results`, { type: 'application/x-jsonl', body })
    await answer.text()
    spent += 5 * 1000 + Math.ceil(body.length / 4) * 5000
    await becomes({ used: spent, held: 0 })
    const { routing_signals } = await gateway.record(answer.headers.get('x-sp-request-id') ?? '')
    expect(routing_signals.map(({ text }) => text).join('\n')).toContain('1 results report more than their model')
  })
})

describe('a batch whose requests may be answered by a dearer model', () => {
  it('holds at the dearest of their models, and is charged for searches, long writes and places', async () => {
    await gateway.addRoute('opus', ['anthropic'])
    const dear = { input: 20, output: 100, batchInput: 10, batchOutput: 50, batchCacheWrite1h: 20, perSearch: 0.01 }
    await gateway.admin.prices.set({ model: 'opus', ...dear, geo: ['us=1.1'] })
    const params = { model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
    const fallbacks = [{ model: 'opus' }]
    const held = { ...params, fallbacks }
    const path = '/anthropic/v1/messages/batches'
    const body = JSON.stringify({ requests: [{ custom_id: 'one', params: held }] })
    await ask('POST', path, { body: JSON.stringify({ id: 'msgbatch_4', type: 'message_batch' }) }, { body })
    const input = Math.ceil(Buffer.byteLength(JSON.stringify(held)) / 4)
    await becomes({ used: spent, held: input * 10_000 + 100 * 50_000 })
    const usage = {
      ...{ input_tokens: 5, output_tokens: 6, cache_creation_input_tokens: 100, service_tier: 'batch' },
      ...{ cache_creation: { ephemeral_1h_input_tokens: 100 }, inference_geo: 'us' },
      server_tool_use: { web_search_requests: 2 },
    }
    const result = { custom_id: 'one', result: { type: 'succeeded', message: { model: 'opus', usage } } }
    const reply = { type: 'application/x-jsonl', body: JSON.stringify(result) }
    await (await ask('GET', `${path}/msgbatch_4/results`, reply)).text()
    spent += (5 * 10_000 + 100 * 20_000 + 6 * 50_000) * 1.1 + 2 * 0.01 * nano
    await becomes({ used: spent, held: 0 })
    const [record] = await gateway.admin.requests.list({ model: 'opus', limit: 1 })
    expect(record?.usage_detail).toMatchObject({ cache_write_1h: 100, searches: 2, geo: 'us', batch: true })
  })

  it('of the OpenAI lane, too, and of several answers', async () => {
    const each = { model: 'gpt-a', messages: [], n: 3, max_completion_tokens: 40 }
    const lines = [
      { custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: { ...each, models: ['gpt-dear'] } },
    ]
    await gateway.addRoute('gpt-dear', ['openai'])
    await gateway.admin.prices.set({ model: 'gpt-dear', input: 20, output: 100, batchInput: 10, batchOutput: 50 })
    await make('batch_models', lines)
    const input = Math.ceil(Buffer.byteLength(JSON.stringify(lines[0]?.body)) / 4)
    await becomes({ used: spent, held: input * 10_000 + 120 * 50_000 })
    await ask('GET', '/batches/batch_models', batch('batch_models', { status: 'cancelled' }))
    await becomes({ used: spent, held: 0 })
  })
})

describe('a batch whose requests cost more than their tokens', () => {
  const path = '/anthropic/v1/messages/batches'
  const create = (id: string, params: object, more: RequestInit = {}) =>
    ask(
      'POST',
      path,
      { body: JSON.stringify({ id, type: 'message_batch', processing_status: 'in_progress' }) },
      {
        body: JSON.stringify({ requests: [{ custom_id: 'one', params }] }),
        ...more,
      },
    )

  it('holds the searches, the writes to the cache and the place that they ask for', async () => {
    await gateway.addRoute('sonnet', ['anthropic'])
    const rates = { input: 2, output: 10, batchInput: 1, batchOutput: 5, batchCacheWrite: 1.25, batchCacheWrite1h: 2 }
    await gateway.admin.prices.set({ model: 'sonnet', ...rates, perSearch: 0.01, geo: ['us=1.1'] })
    const plain = { model: 'sonnet', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
    const tokens = (params: object) => Math.ceil(Buffer.byteLength(JSON.stringify(params)) / 4)
    const mark = (more: object) => [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral', ...more } }]
    const asks: readonly (readonly [object, (input: number) => number])[] = [
      [plain, (input) => input * 1000 + 500_000],
      [{ ...plain, inference_geo: 'us' }, (input) => (input * 1000 + 500_000) * 1.1],
      [{ ...plain, system: mark({}) }, (input) => input * 1250 + 500_000],
      [{ ...plain, system: mark({ ttl: '1h' }) }, (input) => input * 2000 + 500_000],
      [
        { ...plain, tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] },
        (input) => input * 1000 + 500_000 + 0.03 * nano,
      ],
    ]
    for (const [at, [params, hold]] of asks.entries()) {
      const id = `msgbatch_more_${at}`
      expect((await create(id, params)).status).toBe(200)
      await becomes({ used: spent, held: Math.ceil(hold(tokens(params))) })
      const ended = { id, processing_status: 'ended', request_counts: { succeeded: 0, errored: 1 } }
      await ask('GET', `${path}/${id}`, { body: JSON.stringify(ended) })
      await becomes({ used: spent, held: 0 })
    }
  })

  it('holds the images that the lines of a file have made', async () => {
    await gateway.addRoute('drawer', ['openai'])
    await gateway.admin.prices.set({ model: 'drawer', input: 5, output: 10, imageOutput: 30 })
    const drawn = line({
      max_output_tokens: 100,
      tools: [{ type: 'image_generation', model: 'drawer', quality: 'low' }],
    })
    expect((await make('batch_drawn', [drawn, drawn])).status).toBe(200)
    const { held } = await usage()
    expect(held).toBeGreaterThanOrEqual(2 * 408 * 30_000)
    await ask('GET', '/batches/batch_drawn', batch('batch_drawn', { status: 'cancelled' }))
    await becomes({ used: spent, held: 0 })
  })
})

describe('a batch of a model without a price', () => {
  it('is charged the rate that the policy of its key names', async () => {
    await gateway.addRoute('fresh', ['anthropic'])
    const rated = await gateway.createKey('rated')
    await gateway.admin.policies.add({ name: 'rate', unpriced: '3', attach: ['key:default/production/rated'] })
    const before = key
    key = rated.key
    const params = { model: 'fresh', max_tokens: 10, messages: [] }
    const path = '/anthropic/v1/messages/batches'
    const body = JSON.stringify({ requests: [{ custom_id: 'one', params }] })
    const made = await ask(
      'POST',
      path,
      { body: JSON.stringify({ id: 'msgbatch_fresh', type: 'message_batch' }) },
      { body },
    )
    expect(made.status).toBe(200)
    key = before
    const message = { model: 'fresh', usage: { input_tokens: 100, output_tokens: 10 } }
    const result = { custom_id: 'one', result: { type: 'succeeded', message } }
    const reply = { type: 'application/x-jsonl', body: JSON.stringify(result) }
    await (await ask('GET', `${path}/msgbatch_fresh/results`, reply)).text()
    spent += 110 * 3000
    await becomes({ used: spent, held: 0 })
    const [record] = await gateway.admin.requests.list({ model: 'fresh', limit: 1 })
    expect(record).toMatchObject({ operation: 'batches.results', cost: { usd: 0.00033, price_version: 'policy rate' } })
  })
})

describe('a batch of the Gemini lane', () => {
  it('holds until it shows its answers, which are charged at batch rates', async () => {
    const request = { contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 200 } }
    const name = 'batches/inline'
    const body = JSON.stringify({ batch: { inputConfig: { requests: { requests: [{ request }] } } } })
    const operation = (more: object) => ({
      body: JSON.stringify({ name, metadata: { name, model: 'models/gemini-a' }, ...more }),
    })
    await ask('POST', '/gemini/v1beta/models/gemini-a:batchGenerateContent', operation({}), { body })
    await becomes({ used: spent, held: Math.ceil(JSON.stringify(request).length / 4) * 1000 + 200 * 5000 })
    const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 3, totalTokenCount: 7 }
    const inlinedResponses = [{ response: { modelVersion: 'gemini-a', usageMetadata } }]
    await ask(
      'GET',
      `/gemini/v1beta/${name}`,
      operation({ done: true, response: { inlinedResponses: { inlinedResponses } } }),
    )
    spent += 4 * 1000 + 3 * 5000
    await becomes({ used: spent, held: 0 })
  })

  it('holds an image for each request of a model that answers with images', async () => {
    const prices = { input: 2, output: 10, imageOutput: 100, batchInput: 1, batchOutput: 5, batchImageOutput: 50 }
    await gateway.admin.prices.set({ model: 'gemini-a', ...prices })
    const request = { contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 200 } }
    const requests = Array.from({ length: 3 }, () => ({ request }))
    const body = JSON.stringify({ batch: { inputConfig: { requests: { requests } } } })
    const metadata = { name: 'batches/drawn', model: 'models/gemini-a' }
    const reply = { body: JSON.stringify({ name: 'batches/drawn', metadata }) }
    await ask('POST', '/gemini/v1beta/models/gemini-a:batchGenerateContent', reply, { body })
    expect((await usage()).held).toBeGreaterThanOrEqual(3 * 2000 * 45_000)
  })
})
