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

  await gateway.admin.prices.set({ model: 'claude-opus', input: 1, output: 1 })
  const usage = { input_tokens: 10, output_tokens: 3 }
  const server_tool_use = { web_search_requests: 2 }
  const iterations = [
    { type: 'message', model: 'claude-fable', input_tokens: 20, output_tokens: 6 },
    { type: 'message', model: 'claude-fable', input_tokens: 20, output_tokens: 0 },
    { type: 'compaction', input_tokens: 100, output_tokens: 30 },
    { type: 'fallback_message', model: 'claude-opus', ...usage },
  ]
  const message = { id: 'msg', model: 'claude-opus', usage: { ...usage, server_tool_use, iterations } }
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

it('says for which of them the price has no rate, and which have none', async () => {
  const records = await gateway.admin.requests.list({ limit: 100 })
  const counted = records.filter(({ attempts, tokens }) => attempts.length === 0 && tokens !== null)
  const flagged = counted.map(({ cost, policy_signals: [signal] }) => [signal?.rule, signal?.text, cost?.usd ?? null])
  expect(flagged.toSorted()).toEqual([
    ['unpriced', 'The model claude-fable has no price, so this request has no cost.', null],
    ['unpriced', 'The price of claude-opus has no rate for searches (2): its cost is without that.', 0.000143],
  ])
})
