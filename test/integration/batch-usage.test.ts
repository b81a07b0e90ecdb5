import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RequestRecord } from '../../src/core/record.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ObjectUpstream, type Reply, startObjectUpstream } from '../support/object-upstream.ts'

let directory: string
let upstream: ObjectUpstream
let gateway: TestGateway
let maker: { id: string; key: string }
let reader: { id: string; key: string }

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spgw-batch-usage-'))
  upstream = await startObjectUpstream()
  gateway = await startGateway({ dataDirectory: directory })
  const credentials = {
    openai: 'sk-account-of-batches-0001',
    anthropic: 'sk-ant-account-of-batches-0001',
    gemini: 'AIza-account-of-batches-0001',
  }
  for (const [kind, credential] of Object.entries(credentials))
    await gateway.admin.providers.add({ name: kind, kind, baseUrl: upstream.baseUrl, credential, skipCheck: true })
  await gateway.addRoute('claude', ['anthropic'])
  await gateway.addRoute('gpt-a', ['openai'])
  await gateway.addRoute('gemini-a', ['gemini'])
  maker = await gateway.createKey('maker')
  reader = await gateway.createKey('reader')
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
  await rm(directory, { recursive: true, force: true })
})

type Client = { key: string }

/** Again where a busy machine kept the index of objects from answering in time, as the SDKs do. */
async function ask(
  client: Client,
  method: string,
  path: string,
  more: RequestInit = {},
  tries = 20,
): Promise<Response> {
  const headers = { authorization: `Bearer ${client.key}`, 'content-type': 'application/json', ...more.headers }
  const response = await fetch(`${gateway.baseUrl}/v1${path}`, { method, ...more, headers })
  if (tries === 0 || response.headers.get('x-sp-error') !== 'object_index_unavailable') return response
  await response.text()
  return await ask(client, method, path, more, tries - 1)
}

async function read(client: Client, path: string, reply: Reply, headers: Record<string, string> = {}) {
  upstream.answer = () => reply
  const response = await ask(client, 'GET', path, { headers })
  const text = await response.text()
  const record = await gateway.record(response.headers.get('x-sp-request-id') ?? '')
  return { text, record }
}

const lines = (values: readonly object[], end = ''): string =>
  values.map((value) => JSON.stringify(value)).join('\n') + end

/** What stands for the batch's usage: nobody's request brought it, so that it has no attempt. */
async function counted(batch: string): Promise<RequestRecord[]> {
  const records = await gateway.admin.requests.list({ limit: 100 })
  return records.filter(
    ({ attempts, routing_signals: [signal] }) => attempts.length === 0 && signal?.data?.batch === batch,
  )
}

const message = (model: string, output: number) => ({
  custom_id: `of ${output}`,
  result: {
    type: 'succeeded',
    message: { id: 'msg', model, usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: output } },
  },
})
const errored = { custom_id: 'bad', result: { type: 'errored', error: { type: 'error' } } }
const results: Reply = {
  type: 'application/x-jsonl',
  body: lines([message('claude-a', 3), errored, message('claude-b', 4), message('claude-a', 5)]),
}

async function makeMessageBatch(id: string): Promise<string> {
  upstream.answer = () => ({ body: JSON.stringify({ id, type: 'message_batch' }) })
  const params = { model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
  const body = JSON.stringify({ requests: [{ custom_id: 'one', params }] })
  expect((await ask(maker, 'POST', '/anthropic/v1/messages/batches', { body })).status).toBe(200)
  return `/anthropic/v1/messages/batches/${id}/results`
}

const completed = (id: string) => ({ id, object: 'batch', status: 'completed', output_file_id: `file-of-${id}` })

/** The key that asks how the batch stands is not the one that made it. */
async function makeBatch(id: string): Promise<string> {
  upstream.answer = () => ({ body: JSON.stringify({ id: 'file-input', object: 'file' }) })
  const form = new FormData()
  form.set('purpose', 'batch')
  const line = { custom_id: '1', method: 'POST', url: '/v1/responses', body: { model: 'gpt-a', input: 'hi' } }
  form.set('file', new File([JSON.stringify(line)], 'input.jsonl'))
  const headers = { authorization: `Bearer ${maker.key}` }
  await fetch(`${gateway.baseUrl}/v1/files`, { method: 'POST', body: form, headers })
  upstream.answer = () => ({ body: JSON.stringify({ ...completed(id), status: 'validating', output_file_id: null }) })
  const body = JSON.stringify({ input_file_id: 'file-input', endpoint: '/v1/responses', completion_window: '24h' })
  expect((await ask(maker, 'POST', '/batches', { body })).status).toBe(200)
  upstream.answer = () => ({ body: JSON.stringify(completed(id)) })
  expect((await ask(reader, 'GET', `/batches/${id}`)).status).toBe(200)
  return `/files/file-of-${id}/content`
}

const output: Reply = {
  type: 'application/octet-stream',
  body: lines(
    [
      { response: { status_code: 200, body: { model: 'gpt-a', usage: { prompt_tokens: 7, completion_tokens: 2 } } } },
      { response: { status_code: 200, body: { model: 'gpt-a', usage: { input_tokens: 1, output_tokens: 1 } } } },
      { response: { status_code: 400, body: { error: {} } }, error: null },
    ],
    '\n',
  ),
}

const none = { cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' }

describe('the results of a batch', () => {
  it('count once, by model, under the key that made it, whoever brings them and however often', async () => {
    const path = await makeMessageBatch('msgbatch_1')
    const { text, record } = await read(reader, path, results)
    expect(text).toBe(results.body)
    expect(record).toMatchObject({ key: { name: 'reader' }, tokens: null, operation: 'batches.results' })
    await read(maker, path, results)
    const records = await counted('msgbatch_1')
    expect(records.map(({ model, tokens }) => [model, tokens]).sort()).toEqual([
      ['claude-a', { ...none, input: 30, output: 8, cache_read: 10 }],
      ['claude-b', { ...none, input: 15, output: 4, cache_read: 5 }],
    ])
    for (const each of records) {
      expect(each).toMatchObject({
        state: 'settled',
        lane: 'anthropic',
        operation: 'batches.results',
        project: 'default',
        environment: 'production',
        key: { id: maker.id, name: 'maker' },
        provider: 'anthropic',
        status: 200,
        routing_signals: [{ rule: 'batch', data: { batch: 'msgbatch_1', request: record.id } }],
      })
    }
  })

  it('count where they are a file that a batch’s answer told of, and not again after a kill', async () => {
    const path = await makeBatch('batch_1')
    const { text } = await read(reader, path, output)
    expect(text).toBe(output.body)
    await gateway.kill('SIGKILL')
    gateway = await startGateway({ dataDirectory: directory })
    await read(maker, path, output)
    expect(await counted('batch_1')).toMatchObject([
      { lane: 'openai', model: 'gpt-a', key: { id: maker.id }, tokens: { ...none, input: 8, output: 3 } },
    ])
  })

  it('count nothing where they come cut, in ranges, or in a file of another kind', async () => {
    const path = await makeMessageBatch('msgbatch_2')
    upstream.answer = () => ({ ...results, cut: results.body.length - 20 })
    // The head may have gone out or not.
    await expect(ask(reader, 'GET', path).then((response) => response.text())).rejects.toThrow()
    const [cut] = await gateway.admin.requests.list({ limit: 1 })
    expect(cut).toMatchObject({ operation: 'batches.results', error: { origin: 'provider' } })
    expect(cut?.attempts).not.toEqual([])
    const { record: part } = await read(reader, path, { ...results, status: 206 }, { range: 'bytes=0-' })
    expect(part.routing_signals.at(-1)).toMatchObject({ rule: 'batch', data: { batch: 'msgbatch_2' } })
    expect(await counted('msgbatch_2')).toEqual([])
    await read(reader, path, results)
    expect(await counted('msgbatch_2')).toHaveLength(2)

    await makeBatch('batch_2')
    const { record: input } = await read(reader, '/files/file-input/content', output)
    expect(input.routing_signals.filter(({ rule }) => rule === 'batch')).toEqual([])
    expect(await counted('batch_2')).toEqual([])
  })

  it('count nothing where whoever asked for them hangs up in their midst', async () => {
    const path = await makeMessageBatch('msgbatch_4')
    // More than the sockets on the way hold.
    const padded = { ...message('claude-a', 3), padding: 'x'.repeat(2 ** 20) }
    upstream.answer = () => ({ ...results, body: lines(Array.from({ length: 32 }, () => padded)) })
    const response = await ask(reader, 'GET', path)
    await response.body?.cancel()
    const record = await gateway.record(response.headers.get('x-sp-request-id') ?? '')
    expect(record.error?.code).toBe('client_closed')
    expect(await counted('msgbatch_4')).toEqual([])
  })

  it('say so where a line is too large to be read, and count the others', async () => {
    const path = await makeMessageBatch('msgbatch_3')
    const long = { ...message('claude-long', 9), padding: 'x'.repeat(4 * 2 ** 20) }
    const crowded = { ...message('claude-long', 9), padding: Array(150_000).fill(0) }
    const body = lines([long, crowded, message('claude-a', 3)])
    const { text, record } = await read(reader, path, { ...results, body })
    expect(text).toBe(body)
    expect(record.routing_signals.map((signal) => signal.text).join('\n')).toContain('2 results were too large')
    expect(await counted('msgbatch_3')).toMatchObject([{ model: 'claude-a', tokens: { input: 15, output: 3 } }])
  })
})

describe('a batch of several models', () => {
  const path = '/anthropic/v1/messages/batches'
  const body = (...models: string[]) =>
    JSON.stringify({
      requests: models.map((model, index) => ({
        custom_id: `${index}`,
        params: { model, max_tokens: 1, messages: [] },
      })),
    })

  it('goes to the provider that all of them lead to, each under its name there', async () => {
    await gateway.addRoute('fast', ['anthropic:claude-fast-1', 'openai'])
    await gateway.addRoute('slow', ['anthropic:claude-slow-1'])
    upstream.answer = () => ({ body: JSON.stringify({ id: 'msgbatch_several', type: 'message_batch' }) })
    const response = await ask(maker, 'POST', path, { body: body('fast', 'claude', 'slow', 'fast') })
    expect(response.status).toBe(200)
    expect(upstream.arrivals.at(-1)?.body).toBe(body('claude-fast-1', 'claude', 'claude-slow-1', 'claude-fast-1'))
  })

  it('is refused where they go to different providers, or the policy denies one of them', async () => {
    const { baseUrl } = upstream
    const credential = 'sk-ant-account-of-batches-0002'
    const kind = 'anthropic'
    await gateway.admin.providers.add({ name: 'elsewhere', kind, baseUrl, credential, skipCheck: true })
    await gateway.addRoute('foreign', ['elsewhere'])
    const sent = upstream.arrivals.length
    const apart = await ask(maker, 'POST', path, { body: body('claude', 'foreign') })
    expect([apart.status, apart.headers.get('x-sp-error')]).toEqual([400, 'invalid_request'])
    expect(await apart.text()).toContain('No one provider has all of')
    await gateway.admin.policies.add({ name: 'no-foreign', denyModels: ['foreign'] })
    const limited = await gateway.createKey('limited', { policy: 'no-foreign' })
    const denied = await ask(limited, 'POST', path, { body: body('claude', 'foreign') })
    expect([denied.status, denied.headers.get('x-sp-error')]).toEqual([403, 'policy_denied'])
    const unknown = await ask(maker, 'POST', path, { body: body('claude', 'nobody-has-it') })
    expect(unknown.headers.get('x-sp-error')).toBe('model_not_found')
    expect(upstream.arrivals).toHaveLength(sent)
  })
})

/** Of the work that went on behind its call. */
async function countedOf(operation: string, id: string): Promise<RequestRecord[]> {
  const records = await gateway.admin.requests.list({ limit: 100 })
  return records.filter((record) => record.operation === operation && record.routing_signals[0]?.text.includes(id))
}

async function make(path: string, asked: object, answer: object): Promise<void> {
  upstream.answer = () => ({ body: JSON.stringify(answer) })
  expect((await ask(maker, 'POST', path, { body: JSON.stringify(asked) })).status).toBe(200)
}

describe('batches of the Gemini lane', () => {
  const operation = (name: string, more: object) => ({ name, metadata: { name, model: 'models/gemini-a' }, ...more })
  const used = (output: number) => ({
    response: {
      modelVersion: 'gemini-a-001',
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: output, thoughtsTokenCount: 1 },
    },
  })

  it('count once by what stands within them, under the key that made them', async () => {
    const name = 'batches/inline'
    const path = '/gemini/v1beta/models/gemini-a:batchGenerateContent'
    await make(path, { batch: { inputConfig: { requests: { requests: [] } } } }, operation(name, {}))
    const inlinedResponses = [used(2), { error: { code: 3 } }, used(5)]
    const done = { done: true, response: { inlinedResponses: { inlinedResponses } } }
    const body = JSON.stringify(operation(name, done))
    expect((await read(reader, `/gemini/v1beta/${name}`, { body })).text).toBe(body)
    await read(maker, `/gemini/v1beta/${name}`, { body })
    expect(await counted(name)).toMatchObject([
      { lane: 'gemini', model: 'gemini-a-001', key: { id: maker.id }, tokens: { input: 8, output: 9, reasoning: 2 } },
    ])
  })

  it('count where only a list shows them', async () => {
    const name = 'batches/listed'
    const path = '/gemini/v1beta/models/gemini-a:batchGenerateContent'
    await make(path, { batch: { inputConfig: { requests: { requests: [] } } } }, operation(name, {}))
    const done = { done: true, response: { inlinedResponses: { inlinedResponses: [used(2)] } } }
    const foreign = operation('batches/foreign', done)
    const body = JSON.stringify({ operations: [operation(name, done), foreign] })
    for (const client of [reader, maker]) await read(client, '/gemini/v1beta/batches', { body })
    expect(await counted(name)).toMatchObject([{ key: { id: maker.id }, tokens: { input: 4, output: 3 } }])
    expect(await counted('batches/foreign')).toEqual([])
  })

  it('count by the file of their results, and embeddings too', async () => {
    const name = 'batches/by-file'
    const path = '/gemini/v1beta/models/gemini-a:asyncBatchEmbedContent'
    await make(path, { batch: { inputConfig: { requests: { requests: [] } } } }, operation(name, {}))
    const output = { responsesFile: 'files/results' }
    const body = JSON.stringify(operation(name, { metadata: { model: 'models/gemini-a', output }, done: true }))
    await read(reader, `/gemini/v1beta/${name}`, { body })
    const results = lines(
      [
        { key: '1', ...used(2) },
        { key: '2', response: { embedding: {}, tokenCount: '6' } },
      ],
      '\n',
    )
    const { text } = await read(reader, '/gemini/download/v1beta/files/results:download?alt=media', { body: results })
    expect(text).toBe(results)
    const sums = (await counted(name)).map(({ model, key, tokens }) => [model, key?.id, tokens?.input, tokens?.output])
    expect(new Set(sums)).toEqual(
      new Set([
        ['gemini-a-001', maker.id, 4, 3],
        [null, maker.id, 6, 0],
      ]),
    )
  })
})

describe('what goes on in the background', () => {
  const usage = { input_tokens: 9, output_tokens: 4 }

  it('counts a response once, when a poll shows its end', async () => {
    const id = 'resp_polled'
    const answer = { id, object: 'response', model: 'gpt-a', background: true, output: [] }
    const queued = { ...answer, status: 'queued', store: false }
    await make('/responses', { model: 'gpt-a', input: 'hi', background: true }, queued)
    await read(reader, `/responses/${id}`, { body: JSON.stringify({ ...queued, status: 'in_progress' }) })
    expect(await countedOf('responses.result', id)).toEqual([])
    const body = JSON.stringify({ ...queued, status: 'completed', usage })
    for (const client of [reader, maker]) expect((await read(client, `/responses/${id}`, { body })).text).toBe(body)
    expect(await countedOf('responses.result', id)).toMatchObject([
      { model: 'gpt-a', key: { id: maker.id }, provider: 'openai', tokens: { ...none, input: 9, output: 4 } },
    ])
  })

  it('counts one whose stream is taken up again, and none that its own call has counted', async () => {
    const answer = (id: string) => ({ id, object: 'response', model: 'gpt-a', output: [] })
    const event = (id: string) => ({
      type: 'response.completed',
      response: { ...answer(id), status: 'completed', usage },
    })
    const replay = (id: string): Reply => ({
      type: 'text/event-stream',
      body: `event: response.completed\ndata: ${JSON.stringify(event(id))}\n\n`,
    })
    await make(
      '/responses',
      { model: 'gpt-a', input: 'hi', background: true },
      { ...answer('resp_on'), status: 'queued' },
    )
    await make('/responses', { model: 'gpt-a', input: 'hi' }, { ...answer('resp_done'), status: 'completed', usage })
    for (const id of ['resp_on', 'resp_done']) await read(reader, `/responses/${id}?stream=true`, replay(id))
    expect(await countedOf('responses.result', 'resp_on')).toMatchObject([{ tokens: { input: 9, output: 4 } }])
    expect(await countedOf('responses.result', 'resp_done')).toEqual([])
  })

  it('counts an interaction and the run of an eval', async () => {
    const interaction = { id: 'int-1', model: 'gemini-a', object: 'interaction' }
    const path = '/gemini/v1beta/interactions'
    await make(path, { model: 'gemini-a', input: 'hi', background: true }, { ...interaction, status: 'in_progress' })
    const total = { total_input_tokens: 3, total_output_tokens: 2 }
    const ended = JSON.stringify({ ...interaction, status: 'completed', usage: total })
    await read(reader, `${path}/int-1`, { body: ended })
    expect(await countedOf('interactions.result', 'int-1')).toMatchObject([{ tokens: { input: 3, output: 2 } }])

    await make('/evals', { data_source_config: {}, testing_criteria: [] }, { id: 'eval_1', object: 'eval' })
    const used = { invocation_count: 2, prompt_tokens: 5, completion_tokens: 6, cached_tokens: 1 }
    const per_model_usage = [{ ...used, model_name: 'gpt-a' }]
    const list = { object: 'list', data: [{ id: 'evalrun_0', status: 'completed', per_model_usage }] }
    await read(reader, '/evals/eval_1/runs', { body: JSON.stringify(list) })
    expect(await countedOf('evals.runs.result', 'evalrun_0')).toMatchObject([{ tokens: { input: 5 } }])
    const run = JSON.stringify({ id: 'evalrun_1', object: 'eval.run', status: 'completed', per_model_usage })
    for (const client of [reader, maker]) await read(client, '/evals/eval_1/runs/evalrun_1', { body: run })
    expect(await countedOf('evals.runs.result', 'evalrun_1')).toMatchObject([
      { model: 'gpt-a', key: { id: maker.id }, tokens: { input: 5, output: 6, cache_read: 1 } },
    ])
  })

  it('counts the run of a thread once: on its stream, or when a call shows its end', async () => {
    await make('/threads', {}, { id: 'thread_1' })
    const usage = { prompt_tokens: 5, completion_tokens: 6 }
    const run = (id: string) =>
      JSON.stringify({ id, thread_id: 'thread_1', status: 'completed', model: 'gpt-a', usage })
    const body = `event: thread.run.completed\ndata: ${run('run_1')}\n\nevent: done\ndata: [DONE]\n\n`
    upstream.answer = () => ({ type: 'text/event-stream', body })
    const path = '/threads/thread_1/runs'
    const streamed = await ask(reader, 'POST', path, { body: JSON.stringify({ model: 'gpt-a', stream: true }) })
    expect(await streamed.text()).toBe(body)
    const { tokens } = await gateway.record(streamed.headers.get('x-sp-request-id') ?? '')
    expect(tokens).toMatchObject({ input: 5, output: 6 })
    await read(reader, path, { body: `{"object":"list","data":[${run('run_1')},${run('run_2')}]}` })
    for (const id of ['run_1', 'run_2', 'run_1']) await read(maker, `${path}/${id}`, { body: run(id) })
    expect(await countedOf('threads.runs.result', 'run_1')).toEqual([])
    expect(await countedOf('threads.runs.result', 'run_2')).toMatchObject([{ key: { id: maker.id }, tokens }])
  })
})
