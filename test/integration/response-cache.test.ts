import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { laneNames } from '../../src/core/lane.ts'
import { laneCall, laneCalls } from '../support/lane-calls.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'
import { type Stage, setStage, stageModels } from '../support/stage.ts'

let stage: Stage
let asked = 0

beforeAll(async () => {
  stage = await setStage()
  for (const lane of laneNames) await stage.gateway.admin.routes.edit({ model: stageModels[lane], cache: '10m' })
})
afterAll(() => stage.close())
// Each test asks something that none has asked before.
beforeEach(() => void asked++)

interface Asked {
  lane?: 'openai' | 'anthropic' | 'gemini'
  key?: string
  stream?: boolean
  headers?: [string, string][]
  more?: Record<string, unknown>
  about?: string
}

function ask({
  lane = 'openai',
  key = stage.key,
  stream = false,
  headers = [],
  more = {},
  about = `question ${asked}`,
}: Asked = {}): Promise<RawAnswer> {
  const call = laneCall(lane)
  const { path, body } = call.call(stageModels[lane], { stream, prompt: about, more })
  return send(stage.gateway.baseUrl + path, {
    headers: [['content-type', 'application/json'], call.credential(key), ...headers],
    body,
  })
}

/**
 * Until it is kept, which nobody waits for: the answer out of the cache. A look-up may also take too long at any time.
 * `given` gets the answers of the provider.
 */
async function hit(question: Asked = {}, given: RawAnswer[] = []): Promise<RawAnswer> {
  for (;;) {
    const answer = await ask(question)
    expect(answer.status).toBe(200)
    if (answer.headers.get('x-sp-cache') === 'hit') return answer
    given.push(answer)
  }
}

const calls = (lane: 'openai' | 'anthropic' | 'gemini' = 'openai') => stage.mocks[lane].calls.length
const cacheOf = ({ headers }: RawAnswer) => headers.get('x-sp-cache') ?? null

let marks = 0

/** Answers are kept in their order: when a later one is, of another lane, an earlier one would be too. */
async function laterIsKept(lane: Asked['lane'] = 'openai'): Promise<void> {
  await hit({ lane: lane === 'anthropic' ? 'gemini' : 'anthropic', about: `mark ${++marks}` })
}

/** What never becomes a hit: the provider is asked as often as the client asks. */
async function expectNever(question: Asked, status = 200): Promise<RawAnswer> {
  const before = calls(question.lane)
  let last: RawAnswer | null = null
  for (let count = 0; count < 3; count++) {
    last = await ask(question)
    expect([last.status, cacheOf(last)]).not.toEqual([status, 'hit'])
    expect(last.status).toBe(status)
    await laterIsKept(question.lane)
  }
  expect(calls(question.lane) - before).toBe(3)
  if (last === null) throw new Error('nothing was asked')
  return last
}

describe.each(laneCalls)('the same request on the $lane lane', ({ lane }) => {
  it.each([false, true])('gets the same answer again, at no cost (streamed: %s)', async (stream) => {
    const first = await ask({ lane, stream })
    expect([first.status, cacheOf(first)]).toEqual([200, 'miss'])
    const given = [first]
    const again = await hit({ lane, stream }, given)
    const before = calls(lane) - given.length
    const third = await hit({ lane, stream }, given)
    expect(calls(lane)).toBe(before + given.length)
    for (const answer of [again, third]) {
      // Of two that were asked before anything was kept, the later stays.
      expect(given.some(({ body }) => body.equals(answer.body))).toBe(true)
      expect(answer.headers.get('content-type')).toBe(first.headers.get('content-type'))
      expect(answer.requestId).not.toBe(first.requestId)
    }
    const [asked, cached] = [await stage.gateway.record(first.requestId), await stage.gateway.record(third.requestId)]
    expect(cached).toMatchObject({
      ...{ status: 200, streamed: stream, tokens: asked.tokens, attempts: [], provider: null },
      cost: { usd: 0, price_version: 'cache' },
    })
    expect(cached.tokens?.source).toBe('reported')
    expect(cached.policy_signals).toContainEqual(
      expect.objectContaining({
        rule: 'cache',
        data: expect.objectContaining({ request: expect.stringMatching(/^req_/) }),
      }),
    )
  })
})

it('llmgateway PR 3758: is another one in another project, whatever its bytes', async () => {
  const { gateway } = stage
  await gateway.admin.projects.add({ name: 'other' })
  await gateway.admin.environments.add({ name: 'production', project: 'other' })
  await gateway.addRoute(stageModels.openai, ['openai'], { project: 'other', cache: '10m' })
  const { key } = await gateway.createKey('theirs', { project: 'other' })
  await ask()
  await hit()
  const before = calls()
  const theirs = await ask({ key })
  expect(cacheOf(theirs)).toBe('miss')
  expect(calls()).toBe(before + 1)
})

it('OmniRoute 3740: is another one under other policies, and under the same that say something else', async () => {
  const { gateway } = stage
  const rules = { 'rules.yaml': 'rules: [{ name: secrets, detector: secrets, action: redact, on: [answer] }]' }
  await gateway.admin.policies.add({ name: 'careful', contentRules: rules })
  const { key } = await gateway.createKey('careful', { policy: 'careful' })
  await ask()
  await hit()
  const theirs = await ask({ key })
  expect(cacheOf(theirs)).toBe('miss')
  await hit({ key })
  const other = { 'rules.yaml': 'rules: [{ name: people, detector: personal, action: redact, on: [answer] }]' }
  await gateway.admin.policies.edit({ name: 'careful', contentRules: other })
  expect(cacheOf(await ask({ key }))).toBe('miss')
})

describe('is asked anew', () => {
  it('where the client says no-store, which neither looks nor keeps', async () => {
    const answer = await expectNever({ headers: [['cache-control', 'max-age=0, no-store']] })
    expect(cacheOf(answer)).toBeNull()
    expect(cacheOf(await ask())).toBe('miss')
  })

  it('where a policy keeps no bodies', async () => {
    await stage.gateway.admin.policies.add({ name: 'private', capture: 'none' })
    const { key } = await stage.gateway.createKey('private', { policy: 'private' })
    expect(cacheOf(await expectNever({ key }))).toBeNull()
  })

  it.each([
    ['a hosted tool', { lane: 'openai', more: { tools: [{ type: 'web_search' }] } }],
    ['a search', { lane: 'openai', more: { web_search_options: {} } }],
    ['a stored completion', { lane: 'openai', more: { store: true } }],
    ['choices of a stream', { lane: 'openai', stream: true, more: { n: 2 } }],
    ['a server tool', { lane: 'anthropic', more: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] } }],
    ['a search by Google', { lane: 'gemini', more: { tools: [{ googleSearch: {} }] } }],
  ] as [string, Asked][])('with %s', async (_what, question) => {
    expect(cacheOf(await expectNever(question))).toBeNull()
  })

  it('after an error, and after an answer that was cut', async () => {
    const { openai } = stage.mocks
    openai.next({ status: 400 })
    expect((await ask()).status).toBe(400)
    openai.next({ errorEventAfter: 4 })
    const cut = await ask({ stream: true })
    expect(cut.body.toString()).toContain('error')
    expect(cacheOf(await ask())).toBe('miss')
    expect(cacheOf(await ask({ stream: true }))).toBe('miss')
  })

  it('after an answer without usage, which no later one could have either', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }]
    const body = JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices })
    for (let count = 0; count < 3; count++) {
      stage.mocks.openai.next({ body })
      expect(cacheOf(await ask())).toBe('miss')
      await laterIsKept()
    }
  })

  it('with another version header, and when its route or provider has changed', async () => {
    await ask({ lane: 'anthropic' })
    await hit({ lane: 'anthropic' })
    expect(cacheOf(await ask({ lane: 'anthropic', headers: [['anthropic-beta', 'context-1m-2025-08-07']] }))).toBe(
      'miss',
    )
    await stage.gateway.admin.routes.edit({ model: stageModels.anthropic, retries: 3 })
    expect(cacheOf(await ask({ lane: 'anthropic' }))).toBe('miss')
    await hit({ lane: 'anthropic' })
    await stage.gateway.admin.providers.edit({ name: 'anthropic', headers: { 'x-team': 'search' }, skipCheck: true })
    expect(cacheOf(await ask({ lane: 'anthropic' }))).toBe('miss')
  })

  it('when its time is over, when it was cleared, and when the route keeps none any more', async () => {
    const { gateway } = stage
    const model = stageModels.gemini
    await gateway.admin.routes.edit({ model, cache: '1s' })
    await ask({ lane: 'gemini' })
    await hit({ lane: 'gemini' })
    await expect.poll(async () => cacheOf(await ask({ lane: 'gemini' }))).toBe('miss')
    await gateway.admin.routes.edit({ model, cache: '10m' })
    await ask({ lane: 'gemini' })
    await hit({ lane: 'gemini' })
    expect(await gateway.admin.routes.cache.clear({ model })).toMatchObject({ model, cleared: expect.any(Number) })
    expect(cacheOf(await ask({ lane: 'gemini' }))).toBe('miss')
    await gateway.admin.routes.edit({ model, cache: null })
    expect(cacheOf(await ask({ lane: 'gemini' }))).toBeNull()
  })
})

it('counts in limits, and not in budgets', async () => {
  const { gateway } = stage
  const price = { model: stageModels.openai, input: 1, output: 10, force: true }
  await gateway.admin.prices.set(price)
  await gateway.admin.policies.add({ name: 'few', rpm: 200, budgetUsdMonth: 100 })
  const { key, id } = await gateway.createKey('few', { policy: 'few' })
  const more = { max_tokens: 50 }
  const given = [await ask({ key, more })]
  await hit({ key, more }, given)
  const used = async () => {
    const [usage] = await gateway.admin.keys.usage({ key: id })
    return { requests: usage?.limits[0]?.used ?? 0, usd: usage?.periods[0]?.used ?? 0 }
  }
  const before = await used()
  const usdEach = before.usd / given.length
  expect(usdEach).toBeGreaterThan(0)
  const missed: RawAnswer[] = []
  for (let count = 0; count < 3; count++) await hit({ key, more }, missed)
  const { requests, usd } = await used()
  expect(requests).toBe(before.requests + 3 + missed.length)
  expect(usd).toBeCloseTo(before.usd + usdEach * missed.length, 9)
})

it('is shown in /metrics, and is nowhere in clear', async () => {
  await ask()
  await hit()
  await expect
    .poll(async () => await (await fetch(`${stage.gateway.consoleUrl}/metrics`)).text())
    .toMatch(/spgw_cache_lookups_total\{outcome="hit"\} [1-9]/)
})
