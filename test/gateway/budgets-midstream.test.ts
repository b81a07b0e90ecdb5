import http, { type ServerResponse } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import {
  type AccountLimits,
  type Limit,
  type LimitRules,
  noAccountLimits,
} from '../../src/core/policies/policy-limits.ts'
import { accountLimits } from '../../src/policy/limits/account-limits.ts'
import { type ConfigurationChange, type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listenOnPort } from '../support/listen.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { makePolicy } from '../support/snapshot.ts'

/** What becomes of a stream without a limit of its own, and of its hold, when policies change while it runs. */

const opened: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.stop()
})

/** Of one token each, at a thousandth of a dollar. */
const delta = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'word' } }] })}\n\n`
const tokens = 2000
const half = 500

interface Running {
  plane: DataPlane
  answer: Promise<RawAnswer>
  /** Writes the rest. */
  go(): void
}

/** A stream that has written the first part, under a budget of so much. */
async function startStream(rules: LimitRules, limits: Partial<AccountLimits> = {}): Promise<Running> {
  let response: ServerResponse | null = null
  const begun = Promise.withResolvers<void>()
  const provider = http.createServer(async (request, answer) => {
    await request.resume().toArray()
    response = answer
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    answer.write(delta.repeat(half))
    begun.resolve()
  })
  opened.push({ stop: async () => closeServer(provider) })
  const port = await listenOnPort(provider)
  const plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl: `http://127.0.0.1:${port}/v1`, limits }],
    policies: Object.keys(rules).length === 0 ? [] : [makePolicy('team', rules)],
  })
  opened.push(plane)
  const price = fillPrice({ source: 'set', version: 'v1', model: 'openai-model', input: 0, output: 1000 })
  plane.tell({ type: 'prices', prices: { revision: 1, prices: [price] } })
  await plane.hear('has')
  const body = JSON.stringify({ model: 'openai-model', messages: [], stream: true })
  const headers: [string, string][] = [
    ['authorization', `Bearer ${plane.key}`],
    ['content-type', 'application/json'],
  ]
  const answer = send(`${plane.baseUrl}/v1/chat/completions`, { headers, body })
  await begun.promise
  return { plane, answer, go: () => response?.end(`${delta.repeat(tokens - half)}data: [DONE]\n\n`) }
}

/** Resolves when the thread has it. */
async function change(plane: DataPlane, what: ConfigurationChange): Promise<void> {
  const has = plane.hear('has')
  plane.configure(what)
  await has
}

const limit: Limit = {
  counter: 'pol_team workspace usd day',
  ...{ policy: 'team', scope: 'workspace', kind: 'usd', period: 'day', limit: 0, warns: false, perUser: false },
}
const usdOf = (amount: number) => amount / 1e9
function use(plane: DataPlane, of = limit) {
  const { used, held, holders } = plane.limits.budgetUse(of, { timeZone: 'UTC', now: Date.now() }, null)
  return { used: usdOf(used), held: usdOf(held), holders }
}

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

it.each([
  { what: 'lowered', before: { budgetUsdDay: 10 }, after: { budgetUsdDay: 0.1 }, isWhole: false },
  { what: 'raised', before: { budgetUsdDay: 1 }, after: { budgetUsdDay: 10 }, isWhole: true },
  { what: 'left as it is', before: { budgetUsdDay: 1 }, after: { budgetUsdDay: 1 }, isWhole: false },
  {
    what: 'granted more',
    before: { budgetUsdDay: 1 },
    after: { budgetUsdDay: 1, grants: [{ usd: 9, until: inAnHour() }] },
    isWhole: true,
  },
  { what: 'taken away', before: { budgetUsdDay: 1 }, after: {}, isWhole: true },
])('a budget that is $what while a stream runs limits how it goes on', async ({ before, after, isWhole }) => {
  const { plane, answer, go } = await startStream(before)
  await expect.poll(() => use(plane).held).toBeGreaterThan(0.5)
  await change(plane, { policies: [makePolicy('team', after)] })
  const { held } = use(plane)
  go()
  const { body, requestId } = await answer
  const { cost, error, estimate_error } = await plane.record(requestId)
  expect([String(body).includes('[DONE]'), error?.code ?? null]).toEqual(
    isWhole ? [true, null] : [false, 'budget_exceeded'],
  )
  const most = after.budgetUsdDay ?? 0
  if (isWhole) expect(cost?.usd).toBe(2)
  else {
    expect(String(body)).toContain(`allows ${most} USD a day`)
    // What was held when it changed may still be written, and what ends it may be a little more, which the record says.
    expect(cost?.usd).toBeLessThanOrEqual(Math.max(held, most) + (estimate_error ?? 0))
  }
  await expect.poll(() => use(plane)).toEqual({ used: cost?.usd, held: 0, holders: 0 })
})

it('a key that is removed while a stream runs ends neither the stream nor its counting', async () => {
  const { plane, answer, go } = await startStream({ budgetUsdDay: 10 })
  await plane.changeKey(null)
  go()
  const { body, requestId } = await answer
  const { cost, error } = await plane.record(requestId)
  expect([String(body).includes('[DONE]'), error, cost?.usd]).toEqual([true, null, 2])
  await expect.poll(() => use(plane)).toEqual({ used: 2, held: 0, holders: 0 })
})

it.each([
  { what: 'lowered', before: 10, after: 0.1, isWhole: false },
  { what: 'raised', before: 1, after: 10, isWhole: true },
  { what: 'taken away', before: 1, after: null, isWhole: true },
])('a budget of an account that is $what while a stream runs limits how it goes on', async (given) => {
  const { before, after, isWhole } = given
  const { plane, answer, go } = await startStream({}, { budgetUsdMonth: before })
  const [limit] =
    accountLimits({ id: 'prv_openai', name: 'openai', limits: { ...noAccountLimits, budgetUsdMonth: before } }) ?? []
  if (limit === undefined) throw new Error('no limit')
  await expect.poll(() => use(plane, limit).held).toBeGreaterThan(0.5)
  await change(plane, ({ providers }) => ({
    providers: providers.map((row) => ({ ...row, limits: { ...row.limits, budgetUsdMonth: after } })),
  }))
  go()
  const { body, requestId } = await answer
  const { cost, error } = await plane.record(requestId)
  expect([String(body).includes('[DONE]'), error?.code ?? null]).toEqual(
    isWhole ? [true, null] : [false, 'budget_exceeded'],
  )
  if (isWhole) expect(cost?.usd).toBe(2)
  else expect(cost?.usd).toBeLessThan(2)
  await expect.poll(() => use(plane, limit)).toEqual({ used: cost?.usd, held: 0, holders: 0 })
})
