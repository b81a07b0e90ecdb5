import http from 'node:http'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import type { AdminContext } from '../../src/admin/handlers/context.ts'
import { explainRoute } from '../../src/admin/handlers/routes/explain-route.ts'
import { fillPrice, type ModelPrice } from '../../src/core/cost/model-price.ts'
import type { ContentRule } from '../../src/core/policies/content-rules.ts'
import type { RequestRecord, Signal } from '../../src/core/record.ts'
import { limitUsage } from '../../src/daemon/budgets/limit-usage.ts'
import { inspectContent } from '../../src/daemon/calls/inspect-content.ts'
import { describeCall, inspectRequest } from '../../src/daemon/calls/inspect-request.ts'
import { providerKinds } from '../../src/providers/index.ts'
import type { ConfigurationSnapshot, SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makeKey, makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'

/** As many as you like: `SPGW_EXPLAIN_RUNS=10000`. */
const runs = Number(process.env.SPGW_EXPLAIN_RUNS ?? 60)

const whole: [path: RegExp, answer: object][] = [
  [
    /chat\/completions$/,
    {
      ...{ id: 'c', object: 'chat.completion', model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12, completion_tokens: 20, total_tokens: 32 },
    },
  ],
  [
    /responses$/,
    {
      ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [] },
      usage: { input_tokens: 12, output_tokens: 20, total_tokens: 32 },
    },
  ],
  [
    /embeddings$/,
    { data: [{ index: 0, embedding: [0.5], object: 'embedding' }], usage: { prompt_tokens: 12, total_tokens: 12 } },
  ],
  [
    /messages$/,
    {
      ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'x' }] },
      ...{ stop_reason: 'end_turn', usage: { input_tokens: 12, output_tokens: 20 } },
    },
  ],
  [/embedContent$/, { embedding: { values: [0.5] } }],
  [/batchEmbedContents$/, { embeddings: [{ values: [0.5] }] }],
  [
    /enerateContent$/,
    {
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 20, totalTokenCount: 32 },
    },
  ],
]

async function startProvider(): Promise<string> {
  const server = http.createServer((request, response) => {
    void text(request).then((body) => {
      const path = (request.url ?? '').split('?')[0] ?? ''
      const streamed = body.includes('"stream":true') || path.includes('stream')
      const answer = JSON.stringify(whole.find(([each]) => each.test(path))?.[1] ?? {})
      response.writeHead(200, { 'content-type': streamed ? 'text/event-stream' : 'application/json' })
      response.end(streamed ? `data: ${answer}\n\ndata: [DONE]\n\n` : answer)
    })
  })
  onTestFinished(() => closeServer(server))
  return await listen(server)
}

const sometimes = <Value>(value: fc.Arbitrary<Value>, weight = 1) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight, arbitrary: value })

const rule = (parts: Partial<ContentRule>): ContentRule => ({
  ...{ name: 'r', detector: null, pattern: null, action: 'flag', on: ['prompt'], reversible: false, longest: 40 },
  ...parts,
})
const anyRule = fc
  .record({
    action: fc.constantFrom('flag' as const, 'redact' as const, 'block' as const),
    what: fc.constantFrom({ pattern: 'zeb[a-z]a' }, { detector: 'personal' }),
    on: fc.constantFrom<ContentRule['on'][]>(['prompt'], ['prompt', 'answer'], ['answer']),
  })
  .map(({ action, what, on }) => rule({ action, on, ...what }))

/** Small enough for what a few requests use. */
const anyPolicy = fc.record({
  rpm: sometimes(fc.integer({ min: 0, max: 6 })),
  tpm: sometimes(fc.integer({ min: 0, max: 1500 })),
  concurrency: sometimes(fc.integer({ min: 0, max: 2 })),
  budgetTokensDay: sometimes(fc.integer({ min: 0, max: 900 })),
  budgetUsdMonth: sometimes(fc.constantFrom(0, 0.0001, 0.001, 0.01), 2),
  per: fc.constantFrom(undefined, undefined, 'user' as const, 'key' as const),
  maxOutputTokens: sometimes(fc.constantFrom(30, 90)),
  onBudget: fc.constantFrom('refuse' as const, 'refuse' as const, 'refuse' as const, 'warn' as const),
  unpriced: sometimes(fc.constantFrom('allow', 'deny', 2)),
  capOutput: fc.boolean(),
  denyModels: sometimes(fc.constantFrom(['dear*'], ['nameless'])),
  contentRules: sometimes(fc.array(anyRule, { minLength: 1, maxLength: 2 }), 2),
  denyUnseen: fc.boolean(),
})
const models = ['openai-model', 'local-model', 'anthropic-model', 'gemini-model', 'dear', 'nameless', 'many']
const anyBody = fc.record({
  model: fc.constantFrom(...models),
  call: fc.constantFrom('chat', 'chat', 'chat', 'responses', 'embeddings', 'messages', 'generate', 'embed'),
  limit: sometimes(fc.constantFrom(10, 50, 100, 250), 6),
  n: sometimes(fc.constant(2)),
  stream: sometimes(fc.constant(true)),
  words: fc.integer({ min: 1, max: 60 }),
  said: fc.constantFrom('', '', '', 'a zebra here', 'write to ann@example.com'),
  image: sometimes(fc.constant(true)),
  tools: sometimes(fc.constant(true)),
  more: sometimes(fc.subarray(models, { minLength: 1, maxLength: 2 })),
  user: sometimes(fc.constantFrom('ann', 'bob'), 3),
})
const anyCase = fc.record({
  policies: fc.array(anyPolicy, { minLength: 1, maxLength: 3 }),
  bodies: fc.array(anyBody, { minLength: 2, maxLength: 5 }),
  longest: fc.constantFrom(null, 120),
})

type Asked = typeof anyBody extends fc.Arbitrary<infer Value> ? Value : never

const picture = 'iVBORw0KGgo='
const schema = { type: 'object', properties: { a: { type: 'string' } } }

function write(asked: Asked): { lane: 'openai' | 'anthropic' | 'gemini'; path: string; body: object; named: boolean } {
  const { model, call, limit, n, stream, words, said, image, tools, more, user } = asked
  const prompt = `${'word '.repeat(words)}${said}`
  const fallbacks = more === undefined ? {} : { models: more }
  switch (call) {
    case 'embeddings':
      return { lane: 'openai', path: '/v1/embeddings', body: { model, input: [prompt], user }, named: true }
    case 'responses':
      return {
        ...{ lane: 'openai', path: '/v1/responses', named: true },
        body: { model, input: prompt, max_output_tokens: limit, stream, user, store: false, ...fallbacks },
      }
    case 'messages': {
      const source = { type: 'base64', media_type: 'image/png', data: picture }
      const content = [{ type: 'text', text: prompt }, ...(image ? [{ type: 'image', source }] : [])]
      return {
        ...{ lane: 'anthropic', path: '/v1/anthropic/v1/messages', named: true },
        body: {
          ...{ model, max_tokens: limit ?? 40, stream, messages: [{ role: 'user', content }] },
          ...(tools ? { tools: [{ name: 'f', input_schema: schema }] } : {}),
          ...(user === undefined ? {} : { metadata: { user_id: user } }),
        },
      }
    }
    case 'generate': {
      const parts = [{ text: prompt }, ...(image ? [{ inlineData: { mimeType: 'image/png', data: picture } }] : [])]
      return {
        ...{ lane: 'gemini', path: `/v1/gemini/v1beta/models/${model}:generateContent`, named: false },
        body: {
          contents: [{ role: 'user', parts }],
          generationConfig: { maxOutputTokens: limit, candidateCount: n },
          ...(tools ? { tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }] } : {}),
        },
      }
    }
    case 'embed':
      return {
        ...{ lane: 'gemini', path: `/v1/gemini/v1beta/models/${model}:embedContent`, named: false },
        body: { content: { parts: [{ text: prompt }] } },
      }
    default: {
      const url = `data:image/png;base64,${picture}`
      const parts = [
        { type: 'text', text: prompt },
        { type: 'image_url', image_url: { url } },
      ]
      return {
        ...{ lane: 'openai', path: '/v1/chat/completions', named: true },
        body: {
          ...{
            model,
            max_tokens: limit,
            n,
            stream,
            user,
            messages: [{ role: 'user', content: image ? parts : prompt }],
          },
          ...(tools ? { tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] } : {}),
          ...fallbacks,
        },
      }
    }
  }
}

/** As the data plane has it. */
const key = makeKey({
  ...{ projectId: 'prj_1', environmentId: 'env_1', project: 'default', environment: 'production', name: 'test' },
})

function contextOf(plane: DataPlane, configuration: ConfigurationSnapshot, prices: readonly ModelPrice[]) {
  const { shared } = plane
  const { health } = shared
  const runtime: Partial<AdminContext['runtime']> = {
    snapshot: () => ({ configuration, keys: [key] }),
    inspect: async (...asked) => inspectRequest(...asked),
    describeCall: async (...asked) => describeCall(...asked),
    inspectContent: (...asked) => inspectContent(...asked),
    health: (slot, credentials, target, caller) => health.view(slot, Date.now(), credentials, target, caller),
    latency: (target, streamed) => health.latency.find(target, streamed),
    recall: () => null,
    prices: () => prices,
    limitUsage: (...asked) => limitUsage(shared.limits, configuration.timeZone, ...asked),
  }
  const list = async () => []
  const found = (id: string) => ({ list, find: async () => ({ id, name: 'default' }) })
  const store = {
    projects: found('prj_1'),
    environments: found('env_1'),
    keys: { list, find: async () => key },
    providers: { list },
    ownership: { list },
  }
  return { runtime, store, kinds: providerKinds } as object as AdminContext
}

/** What is decided before anything is sent, but for the key itself; waits depend on the moment. */
const decided = (signals: readonly Signal[]) =>
  signals
    .filter(
      ({ rule, verdict }) => !['key', 'usage', 'unpriced'].includes(rule) && (rule !== 'budget' || verdict === 'deny'),
    )
    .map(({ rule, verdict, text: said }) => [rule, verdict, rule === 'limits' ? '' : said])

const untimed = (message: string | undefined) => message?.replace(/(in|at) [\dT:.Z-]+( seconds?)?/g, '')

/** What came of it then, no explanation tells. */
const wasSent = ({ error, attempts }: RequestRecord) => error === null || attempts.length > 0

async function configure(plane: DataPlane, policies: SnapshotPolicy[], prices: ModelPrice[], revision: number) {
  const heard = plane.hear('has')
  let configuration: ConfigurationSnapshot | null = null
  plane.configure((before) => {
    configuration = { ...before, policies }
    return { policies }
  })
  await heard
  const priced = plane.hear('has')
  plane.tell({ type: 'prices', prices: { revision, prices } })
  await priced
  if (configuration === null) throw new Error('nothing was configured')
  return configuration as ConfigurationSnapshot
}

it(`explains what then becomes of requests on every lane, for ${runs} random sets of policies`, async () => {
  const origin = await startProvider()
  const plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${origin}/v1` },
      { kind: 'openai-compatible', name: 'local', baseUrl: `${origin}/v1` },
      { kind: 'anthropic', baseUrl: origin },
      { kind: 'gemini', baseUrl: origin },
    ],
    routes: [
      makeRoute('dear', [makeTarget('openai:dear')], { retries: 0 }),
      makeRoute('nameless', [makeTarget('openai:nameless')], { retries: 0 }),
      makeRoute('many', [makeTarget('anthropic:anthropic-model'), makeTarget('openai:openai-model')], { retries: 0 }),
    ],
  })
  onTestFinished(() => plane.stop())
  const seen = new Map<string, number>()
  for (const [round, { policies, bodies, longest }] of fc.sample(anyCase, runs).entries()) {
    const placed = policies.map((rules, place) => makePolicy(`r${round}p${place}`, rules as Partial<SnapshotPolicy>))
    const prices = models.slice(0, 5).map((model) => {
      const [input, output] = model === 'dear' ? [5, 50] : [1, 10]
      return fillPrice({
        model,
        source: 'set',
        version: 'v',
        input,
        output,
        ...(longest === null ? {} : { max_output: longest }),
      })
    })
    const context = contextOf(plane, await configure(plane, placed, prices, round + 1), prices)
    for (const asked of bodies) {
      const { lane, path, body: written, named } = write(asked)
      const body = JSON.stringify(written)
      const input = { project: 'default', environment: 'production', key: 'test', lane }
      const more = named ? {} : { model: asked.model }
      const explained = await explainRoute(context, { ...input, ...more, body: { 'body.json': body } })
      const answer = await fetch(plane.baseUrl + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
        body,
      })
      await answer.text()
      const record = await plane.record(answer.headers.get('x-sp-request-id'))
      const said = JSON.stringify({
        path,
        body,
        placed,
        longest,
        says: decided(explained.policy_signals),
        did: decided(record.policy_signals),
      })
      expect([explained.error?.code ?? null, untimed(explained.error?.message)], said).toEqual(
        wasSent(record) ? [null, undefined] : [record.error?.code, untimed(record.error?.message)],
      )
      expect(decided(explained.policy_signals), said).toEqual(decided(record.policy_signals))
      // Vectors cost what is sent, and no answer's length.
      if (asked.call.startsWith('embed'))
        for (const { estimate_usd } of explained.taken) expect(estimate_usd ?? 0, said).toBeLessThan(0.002)
      if (record.attempts.length > 0) expect(explained.taken[0]?.provider, said).toBe(record.attempts[0]?.provider)
      const kind = wasSent(record) ? 'passed' : (record.error?.code ?? '')
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
      // The next counts from what this one came to.
      while (plane.inFlight() > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  for (const kind of ['budget_exceeded', 'passed', 'policy_denied', 'rate_limited'])
    expect(seen.get(kind) ?? 0).toBeGreaterThan(0)
})
