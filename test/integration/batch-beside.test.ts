import { afterAll, beforeAll, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ObjectUpstream, startObjectUpstream } from '../support/object-upstream.ts'

let upstream: ObjectUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startObjectUpstream()
  gateway = await startGateway()
  const { baseUrl } = upstream
  const credential = 'sk-ant-account-of-batches-0001'
  await gateway.admin.providers.add({ name: 'anthropic', kind: 'anthropic', baseUrl, credential, skipCheck: true })
  await gateway.addRoute('claude', ['anthropic'])
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

it('counts what other models used for an answer of a batch, too', async () => {
  const { key } = await gateway.createKey('maker')
  const ask = async (path: string, more: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${gateway.baseUrl}/v1/anthropic/v1/messages/batches${path}`, { headers, ...more })
    await response.text()
    return response
  }
  upstream.answer = () => ({ body: JSON.stringify({ id: 'msgbatch_1', type: 'message_batch' }) })
  const params = { model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
  await ask('', { method: 'POST', body: JSON.stringify({ requests: [{ custom_id: 'one', params }] }) })

  const usage = { input_tokens: 10, output_tokens: 3 }
  const iterations = [
    { type: 'message', model: 'claude-fable', input_tokens: 20, output_tokens: 6 },
    { type: 'message', model: 'claude-fable', input_tokens: 20, output_tokens: 0 },
    { type: 'compaction', input_tokens: 100, output_tokens: 30 },
    { type: 'fallback_message', model: 'claude-opus', ...usage },
  ]
  const message = { id: 'msg', model: 'claude-opus', usage: { ...usage, iterations } }
  const line = JSON.stringify({ custom_id: 'one', result: { type: 'succeeded', message } })
  upstream.answer = () => ({ type: 'application/x-jsonl', body: line })
  // A busy machine may need a moment until the batch is known.
  await expect.poll(() => ask('/msgbatch_1/results'), { timeout: 20_000 }).toMatchObject({ status: 200 })

  const found = async () => {
    const records = await gateway.admin.requests.list({ limit: 100 })
    const counted = records.filter(({ attempts, tokens }) => attempts.length === 0 && tokens !== null)
    return counted
      .map(({ model, tokens, routing_signals: [signal] }) => [
        model,
        tokens?.input,
        tokens?.output,
        signal?.data?.lines,
      ])
      .toSorted()
  }
  await expect.poll(found, { timeout: 20_000 }).toEqual([
    ['claude-fable', 20, 6, 1],
    ['claude-opus', 110, 33, 1],
  ])
})
