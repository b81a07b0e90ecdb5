import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
import { startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'
import { makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'

let provider: http.Server
const asked: string[] = []

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    asked.push(JSON.parse(Buffer.concat(await request.toArray()).toString()).model)
    const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 }
    const code = { type: 'code_interpreter_call', id: 'ci_1', code: '1', container_id: 'cntr_1' }
    const created = { model: 'known', output: [code], usage: { input_tokens: 1000, output_tokens: 500 } }
    const answer = request.url?.endsWith('/responses') ? created : { choices: [], usage }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  await listen(provider)
})
afterAll(() => provider.close())

/** Asks for a model that has no price, and for one whose second target has one. */
async function ask(policies: SnapshotPolicy[], more: object = {}, path = '/v1/chat/completions') {
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
  const scope = { projectId: 'prj_1', project: 'default' }
  const plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl }],
    policies,
    routes: [makeRoute('both', [makeTarget('openai:new'), makeTarget('openai:known', { priority: 1 })], scope)],
  })
  const known = fillPrice({ model: 'known', vendor: null, source: 'set', version: 'test', input: 1, output: 1 })
  plane.tell({ type: 'prices', prices: { revision: 1, prices: [known] } })
  const answers = []
  for (const model of ['openai-model', 'both']) {
    asked.length = 0
    const response = await fetch(`${plane.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [], ...more }),
    })
    await response.text()
    const record = await plane.record(response.headers.get('x-sp-request-id'))
    const unpriced = record.policy_signals.filter(({ rule }) => rule === 'unpriced').map(({ text }) => text)
    const { cost, routing_signals: signals } = record
    answers.push({ status: response.status, asked: [...asked], cost, signals, unpriced })
  }
  await plane.stop()
  return answers
}

it('are flagged and cost nothing where no policy says more', async () => {
  expect(await ask([])).toMatchObject([
    { status: 200, cost: null },
    { status: 200, asked: ['new'], cost: null },
  ])
})

it('are named where the price has no rate for a part of what was used', async () => {
  const [, both] = await ask([makePolicy('b', { unpriced: 'deny' })], {}, '/v1/responses')
  expect(both).toMatchObject({
    asked: ['known'],
    cost: { usd: 0.0015 },
    unpriced: ['The price of known has no rate for sessions of the code interpreter (1): its cost is without that.'],
  })
})

it('are denied, or left out for a target that has a price', async () => {
  const [one, both] = await ask([makePolicy('a', { unpriced: 'allow' }), makePolicy('b', { unpriced: 'deny' })])
  expect(one).toMatchObject({ status: 403, asked: [] })
  expect(both).toMatchObject({ status: 200, asked: ['known'], cost: { usd: 0.0015, price_version: 'test' } })
  expect(both?.signals).toContainEqual(
    expect.objectContaining({
      rule: 'target',
      verdict: 'skipped',
      text: 'openai (new): the policy b denies models without a price.',
    }),
  )
})

it('are denied where a call names them besides one that has a price', async () => {
  const [, both] = await ask([makePolicy('b', { unpriced: 'deny' })], { models: ['openai-model'] })
  expect(both).toMatchObject({ status: 403, asked: [] })
})

it('are charged the highest rate that a policy names', async () => {
  expect(await ask([makePolicy('a', { unpriced: 2 }), makePolicy('b', { unpriced: 4 })])).toMatchObject([
    { status: 200, cost: { usd: 0.006, price_version: 'policy b' } },
    { status: 200, asked: ['new'], cost: { usd: 0.006 } },
  ])
})

it('are denied by a budget in USD, unless the policy allows them or names a rate', async () => {
  const budget = { budgetUsdDay: 1 }
  const limit = { maxOutputTokens: 600, capOutput: true }
  const statuses = async (rules: Partial<SnapshotPolicy>) =>
    (await ask([makePolicy('a', { ...budget, ...limit, ...rules })])).map(({ status }) => status)
  expect(await statuses({})).toEqual([403, 403])
  expect(await statuses({ unpriced: 'allow' })).toEqual([200, 200])
  expect(await statuses({ unpriced: 2 })).toEqual([200, 200])
  // So dear that the budget has room for an answer of a few tokens only.
  expect(await statuses({ unpriced: 90_000 })).toEqual([429, 429])
})
