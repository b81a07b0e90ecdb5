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
  for (const kind of ['openai', 'anthropic']) {
    const credential = kind === 'openai' ? 'sk-account-of-batches-0001' : 'sk-ant-account-of-batches-0001'
    await gateway.admin.providers.add({ name: kind, kind, baseUrl: upstream.baseUrl, credential, skipCheck: true })
  }
  await gateway.addRoute('claude', ['anthropic'])
  maker = await gateway.createKey('maker')
  reader = await gateway.createKey('reader')
}, 60_000)

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
  form.set('file', new File(['{}\n'], 'input.jsonl'))
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

  it('say so where a line is too long to be read, and count the others', async () => {
    const path = await makeMessageBatch('msgbatch_3')
    const long = { ...message('claude-long', 9), padding: 'x'.repeat(4 * 2 ** 20) }
    const body = lines([long, message('claude-a', 3)])
    const { text, record } = await read(reader, path, { ...results, body })
    expect(text).toBe(body)
    expect(record.routing_signals.map((signal) => signal.text).join('\n')).toContain('1 results were too long')
    expect(await counted('msgbatch_3')).toMatchObject([{ model: 'claude-a', tokens: { input: 15, output: 3 } }])
  })
})
