import http, { type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { LimitRules } from '../../src/core/policies/policy-limits.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listenOnPort } from '../support/listen.ts'
import { send } from '../support/raw-http.ts'
import { makePolicy } from '../support/snapshot.ts'

const opened: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.stop()
})

async function start(answer: (response: ServerResponse) => unknown, rules: LimitRules = { budgetUsdDay: 1 }) {
  const provider = http.createServer(async (request, response) => {
    await request.toArray()
    answer(response)
  })
  opened.push({ stop: async () => closeServer(provider) })
  const port = await listenOnPort(provider)
  const plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` }],
    policies: [makePolicy('team', rules)],
    timeouts: { firstByte: 500, betweenChunks: 500, total: 5000 },
  })
  opened.push(plane)
  const price = fillPrice({ source: 'set', version: 'v1', model: 'openai-model', input: 1, output: 10 })
  plane.tell({ type: 'prices', prices: { revision: 1, prices: [price] } })
  await plane.hear('has')
  return plane
}

function ask(plane: DataPlane, more: object = {}) {
  const messages = [{ role: 'user', content: 'hi' }]
  const body = JSON.stringify({ model: 'openai-model', messages, max_tokens: 100, ...more })
  const headers: [string, string][] = [
    ['authorization', `Bearer ${plane.key}`],
    ['content-type', 'application/json'],
  ]
  return send(`${plane.baseUrl}/v1/chat/completions`, { headers, body })
}

const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })}\n\n`

function whole(usage: unknown, content = 'x'.repeat(400)) {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
  const answer = { id: 'c', object: 'chat.completion', model: 'openai-model', choices, usage }
  return (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

describe('an answer that says nothing of its usage that can be true', () => {
  it.each([
    ['nothing', undefined],
    ['less than nothing', { prompt_tokens: -5, completion_tokens: -5 }],
    ['nothing at all, in numbers', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    ['more than any model writes', { prompt_tokens: 1e15, completion_tokens: 5 }],
    ['more from a cache than any model reads', { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 1e12 } }],
  ])('is charged by what it says: %s', async (_what, usage) => {
    const plane = await start(whole(usage))
    const { tokens, cost } = await plane.record((await ask(plane)).requestId)
    expect(tokens).toMatchObject({ output: 100, source: 'estimated' })
    expect(cost?.usd).toBeCloseTo(0.001, 4)
  })

  it('is charged by the text of its stream, however much of it comes at once', async () => {
    const plane = await start((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let count = 0; count < 20; count++) response.write(chunk('x'.repeat(200)))
      response.end('data: [DONE]\n\n')
    })
    const { tokens } = await plane.record((await ask(plane, { stream: true, max_tokens: 2000 })).requestId)
    expect(tokens).toMatchObject({ output: 1000, source: 'estimated' })
  })

  it.each([
    ['in one event', 1],
    ['in some', 5],
  ])('is charged by the text of its stream where that reports no output, and comes %s', async (_how, events) => {
    const usage = { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 }
    const plane = await start((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk(''))
      for (let count = 0; count < events; count++) response.write(chunk('x'.repeat(8000 / events)))
      response.end(`data: ${JSON.stringify({ id: 'c', choices: [], usage })}\n\ndata: [DONE]\n\n`)
    })
    const { tokens } = await plane.record((await ask(plane, { stream: true, max_tokens: 2000 })).requestId)
    expect(tokens).toMatchObject({ input: 7, output: 2000, source: 'estimated' })
  })

  it.each([
    ['input', { prompt_tokens: 9e8, completion_tokens: 5 }],
    ['output', { prompt_tokens: 5, completion_tokens: 9e8 }],
  ])('costs what it was held for, and says so, where it reports more %s than any model has', async (_what, usage) => {
    const plane = await start(whole(usage))
    const { tokens, cost, policy_signals, estimate_error } = await plane.record((await ask(plane)).requestId)
    expect(tokens).toMatchObject({ output: 100, source: 'estimated' })
    expect(cost?.usd).toBeCloseTo(0.001, 4)
    expect(estimate_error).toBeNull()
    expect(policy_signals.filter(({ rule }) => rule === 'usage')).toMatchObject([
      {
        verdict: 'flag',
        text: expect.stringContaining('900,000,000 '),
        data: { model: 'openai-model', input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
      },
    ])
    expect((await ask(plane)).status).toBe(200)
  })

  it('is believed where the model reads so much, or a tool of the provider may have read it again and again', async () => {
    const usage = { prompt_tokens: 3e6, completion_tokens: 5, total_tokens: 3e6 + 5 }
    const plane = await start(whole(usage), { budgetUsdDay: 100 })
    expect((await plane.record((await ask(plane)).requestId)).tokens).toMatchObject({ input: 3e6, source: 'reported' })
    const small = {
      source: 'set',
      version: 'v2',
      model: 'openai-model',
      input: 1,
      output: 10,
      max_input: 100_000,
    } as const
    plane.tell({ type: 'prices', prices: { revision: 2, prices: [fillPrice(small)] } })
    await plane.hear('has')
    expect((await plane.record((await ask(plane)).requestId)).tokens).toMatchObject({ source: 'estimated' })
    const searching = await ask(plane, { web_search_options: {} })
    expect((await plane.record(searching.requestId)).tokens).toMatchObject({ input: 3e6, source: 'reported' })
  })

  it('goes on to its end where a report within the stream cannot be true', async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 9e8, total_tokens: 9e8 + 7 }
    const plane = await start((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify({ id: 'c', choices: [], usage })}\n\n`)
      for (let count = 0; count < 20; count++) response.write(chunk('x'.repeat(200)))
      response.end('data: [DONE]\n\n')
    })
    const { requestId, body } = await ask(plane, { stream: true, max_tokens: undefined })
    expect(body.toString()).not.toContain('budget_exceeded')
    const { tokens } = await plane.record(requestId)
    expect(tokens?.source).toBe('estimated')
    expect(tokens?.output).toBeLessThan(4000)
  })

  it.each([
    ['none', { prompt_tokens: 0, completion_tokens: 5, total_tokens: 5 }],
    ['nothing that is a number', { prompt_tokens: null, completion_tokens: 5 }],
    ['what no number holds', { prompt_tokens: 1e308, completion_tokens: 5 }],
  ])('is charged for its prompt, of which it reports %s', async (_what, usage) => {
    const plane = await start(whole(usage))
    const content = 'word '.repeat(400)
    const more = { messages: [{ role: 'user', content }] }
    const { tokens } = await plane.record((await ask(plane, more)).requestId)
    expect(tokens).toMatchObject({ output: 5, source: 'estimated' })
    expect(tokens?.input).toBeGreaterThan(500)
    const streaming = await start((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk('x'))
      response.end(`data: ${JSON.stringify({ id: 'c', choices: [], usage })}\n\ndata: [DONE]\n\n`)
    })
    const streamed = await streaming.record((await ask(streaming, { ...more, stream: true })).requestId)
    expect(streamed.tokens).toEqual({ ...tokens, input: expect.any(Number) })
    expect(streamed.tokens?.input).toBeGreaterThan(500)
  })

  it('is believed that it wrote nothing where it was asked to write nothing', async () => {
    const plane = await start(whole({ prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 }))
    const { tokens } = await plane.record((await ask(plane, { max_tokens: 0 })).requestId)
    expect(tokens).toMatchObject({ input: 9, output: 0, source: 'reported' })
  })

  it('ends where the budget does, however much of it comes at once', async () => {
    const plane = await start(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (let count = 0; count < 200; count++) response.write(chunk('x'.repeat(400)))
        response.end('data: [DONE]\n\n')
      },
      { budgetUsdDay: 0.02 },
    )
    const { requestId, body } = await ask(plane, { stream: true, max_tokens: undefined })
    expect(body.toString()).toContain('budget_exceeded')
    // What came last was not passed on, and is paid for all the same.
    expect((await plane.record(requestId)).cost?.usd).toBeLessThanOrEqual(0.0201)
  })
})
