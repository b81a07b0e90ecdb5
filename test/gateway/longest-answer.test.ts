import http from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { LimitRules } from '../../src/core/policies/policy-limits.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'
import { makePolicy } from '../support/snapshot.ts'

/** An answer that used nothing, so that each request finds the whole budget. */
async function start(...policies: LimitRules[]): Promise<DataPlane> {
  const answer = JSON.stringify({
    choices: [],
    usage: { prompt_tokens: 0, completion_tokens: 0, input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    usageMetadata: { promptTokenCount: 0, totalTokenCount: 0 },
  })
  const provider = http.createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(answer))
  })
  const origin = await listen(provider)
  const plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${origin}/v1` },
      { kind: 'openai-compatible', name: 'local', baseUrl: `${origin}/v1` },
      { kind: 'anthropic', baseUrl: origin },
      { kind: 'gemini', baseUrl: origin },
    ],
    policies: policies.map((rules, place) => makePolicy(`team${place}`, rules)),
  })
  onTestFinished(async () => {
    await plane.stop()
    provider.close()
  })
  const prices = ['openai', 'local', 'anthropic', 'gemini'].map((name) =>
    fillPrice({ model: `${name}-model`, source: 'set', version: 'v1', input: 1, output: 10 }),
  )
  plane.tell({ type: 'prices', prices: { revision: 1, prices } })
  await plane.hear('has')
  return plane
}

async function send(plane: DataPlane, path: string, body: object) {
  const headers = { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' }
  const response = await fetch(plane.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  // The next one finds what this one held.
  while (plane.inFlight() > 0) await new Promise((resolve) => setTimeout(resolve, 1))
  return { status: response.status, text }
}

const chat = '/v1/chat/completions'
const gemini = '/v1/gemini/v1beta/models/gemini-model:generateContent'
type Case = [path: string, body: object, member: string, limited: (most: number) => object]

it.each<Case>([
  [chat, { model: 'openai-model' }, 'max_completion_tokens', (most) => ({ max_completion_tokens: most })],
  [chat, { model: 'local-model' }, 'max_tokens', (most) => ({ max_tokens: most })],
  [chat, { model: 'local-model', n: 3 }, 'max_tokens', (most) => ({ max_tokens: most })],
  ['/v1/responses', { model: 'openai-model', input: 'hi' }, 'max_output_tokens', (max) => ({ max_output_tokens: max })],
  [
    gemini,
    { contents: [] },
    'generationConfig.maxOutputTokens',
    (most) => ({ generationConfig: { maxOutputTokens: most } }),
  ],
  [
    gemini,
    { contents: [], generation_config: { candidate_count: 2 } },
    'generation_config.maxOutputTokens',
    (most) => ({ generation_config: { candidate_count: 2, max_output_tokens: most } }),
  ],
])(
  'names what the budgets have room for where the length of an answer is not known: %s %j',
  async (...[path, body, member, limited]) => {
    const plane = await start({ budgetUsdDay: 0.003 }, { budgetTokensDay: 250 })
    const { status, text } = await send(plane, path, body)
    expect([status, text]).toEqual([403, expect.stringContaining(`: set ${member} to at most `)])
    expect(text).toContain('or stream the answer.')
    const most = Number(/to at most (\d+)/.exec(text)?.[1])
    expect((await send(plane, path, { ...body, ...limited(most) })).status).toBe(200)
    // What the limit itself adds to the request is counted.
    const more = await send(plane, path, { ...body, ...limited(most + 8) })
    expect([more.status, more.text]).toEqual([429, expect.stringContaining('Or send it with a ')])
    const smaller = Number(/ of at most (\d+)/.exec(more.text)?.[1])
    expect(smaller - most).toBeLessThan(8)
    expect((await send(plane, path, { ...body, ...limited(smaller) })).status).toBe(200)
    expect((await send(plane, path, { ...body, ...limited(smaller + 1) })).status).toBe(429)
  },
)

it('says when the budget resets where no limit fits', async () => {
  const plane = await start({ budgetUsdDay: 1 }, { budgetTokensDay: 3 })
  const { status, text } = await send(plane, chat, { model: 'local-model' })
  expect([status, text]).toEqual([429, expect.stringMatching(/team1 .* It resets at .*"budget_exceeded"/)])
  const spent = await send(plane, chat, { model: 'local-model', max_tokens: 5 })
  expect(spent.text).not.toContain('Or send it')
})
