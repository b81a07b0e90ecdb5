import http from 'node:http'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import type { AdminContext } from '../../src/admin/handlers/context.ts'
import { explainRoute } from '../../src/admin/handlers/routes/explain-route.ts'
import { fillPrice, type ModelPrice } from '../../src/core/cost/model-price.ts'
import { limitUsage } from '../../src/daemon/budgets/limit-usage.ts'
import { inspectRequest } from '../../src/daemon/calls/inspect-request.ts'
import { providerKinds } from '../../src/providers/index.ts'
import type { ConfigurationSnapshot, SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makeKey, makePolicy } from '../support/snapshot.ts'

/** As many as you like: `SPGW_EXPLAIN_RUNS=10000`. */
const runs = Number(process.env.SPGW_EXPLAIN_RUNS ?? 150)

async function startProvider(): Promise<string> {
  const usage = { prompt_tokens: 12, completion_tokens: 20, total_tokens: 32 }
  const server = http.createServer((request, response) => {
    void text(request).then((body) => {
      const streamed = body.includes('"stream":true')
      const answer = JSON.stringify({ choices: [], usage })
      response.writeHead(200, { 'content-type': streamed ? 'text/event-stream' : 'application/json' })
      response.end(streamed ? `data: ${answer}\n\ndata: [DONE]\n\n` : answer)
    })
  })
  onTestFinished(() => closeServer(server))
  return `${await listen(server)}/v1`
}

const sometimes = <Value>(value: fc.Arbitrary<Value>, weight = 1) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight, arbitrary: value })

/** Small enough for what a few requests use. */
const anyPolicy = fc.record({
  rpm: sometimes(fc.integer({ min: 0, max: 4 })),
  tpm: sometimes(fc.integer({ min: 0, max: 700 })),
  concurrency: sometimes(fc.integer({ min: 0, max: 2 })),
  budgetTokensDay: sometimes(fc.integer({ min: 0, max: 400 }), 3),
  budgetUsdMonth: sometimes(fc.constantFrom(0, 0.0001, 0.001, 0.003)),
  maxOutputTokens: sometimes(fc.constantFrom(30, 90)),
  onBudget: fc.constantFrom('refuse' as const, 'refuse' as const, 'refuse' as const, 'warn' as const),
  unpriced: sometimes(fc.constantFrom('allow', 'deny', 2)),
  capOutput: fc.boolean(),
})
const anyBody = fc.record({
  max_tokens: sometimes(fc.constantFrom(10, 50, 100, 250), 6),
  n: sometimes(fc.constant(2)),
  stream: sometimes(fc.constant(true)),
  words: fc.integer({ min: 1, max: 60 }),
  tools: sometimes(fc.constantFrom([{ type: 'web_search' }], [{ type: 'image_generation', quality: 'low' }])),
  kind: fc.constantFrom('chat/completions', 'chat/completions', 'chat/completions', 'embeddings'),
})
const anyCase = fc.record({
  policies: fc.array(anyPolicy, { minLength: 1, maxLength: 3 }),
  bodies: fc.array(anyBody, { minLength: 1, maxLength: 4 }),
  price: fc.constantFrom(null, { input: 1, output: 10, per_search: 0.0015 }, { input: 1, output: 10, max_output: 120 }),
})

function contextOf(plane: DataPlane, configuration: ConfigurationSnapshot, prices: readonly ModelPrice[]) {
  const { shared } = plane
  const { health } = shared
  const runtime: Partial<AdminContext['runtime']> = {
    snapshot: () => ({ configuration, keys: [makeKey({ projectId: 'prj_1', environmentId: 'env_1' })] }),
    inspect: async (...asked) => inspectRequest(...asked),
    health: (slot, credentials, target, caller) => health.view(slot, Date.now(), credentials, target, caller),
    latency: (target, streamed) => health.latency.find(target, streamed),
    recall: () => null,
    prices: () => prices,
    limitUsage: (...asked) => limitUsage(shared.limits, configuration.timeZone, ...asked),
  }
  const list = async () => []
  const found = (id: string) => ({ list, find: async () => ({ id, name: 'default' }) })
  const key = { id: 'key_1', name: 'one', projectId: 'prj_1', environmentId: 'env_1', revokedAt: null, expiresAt: null }
  const store = {
    projects: found('prj_1'),
    environments: found('env_1'),
    keys: { list, find: async () => key },
    providers: { list },
    ownership: { list },
  }
  return { runtime, store, kinds: providerKinds } as object as AdminContext
}

it(`explains what limits and budgets then do, for ${runs} random sets of policies`, async () => {
  const baseUrl = await startProvider()
  const plane = await startDataPlane({ providers: [{ kind: 'openai', baseUrl }] })
  onTestFinished(() => plane.stop())
  let round = 0
  const seen = new Map<string, number>()
  for (const { policies, bodies, price } of fc.sample(anyCase, runs)) {
    round++
    const placed = policies.map((rules, place) => makePolicy(`r${round}p${place}`, rules as Partial<SnapshotPolicy>))
    const drawer = fillPrice({ model: 'gpt-image-2', source: 'set', version: 'v', per_image: { '*': 0.001 } })
    const own = price === null ? [] : [fillPrice({ model: 'openai-model', source: 'set', version: 'v', ...price })]
    const prices = [drawer, ...own]
    const heard = plane.hear('has')
    let configuration: ConfigurationSnapshot | null = null
    plane.configure((before) => {
      configuration = { ...before, policies: placed }
      return { policies: placed }
    })
    await heard
    const priced = plane.hear('has')
    plane.tell({ type: 'prices', prices: { revision: round, prices } })
    await priced
    if (configuration === null) throw new Error('nothing was configured')
    const context = contextOf(plane, configuration, prices)
    for (const { words, kind: asks, ...more } of bodies) {
      const prompt = 'word '.repeat(words)
      const body = JSON.stringify({
        model: 'openai-model',
        ...(asks === 'embeddings'
          ? { input: [prompt], dimensions: 8 }
          : { messages: [{ role: 'user', content: prompt }], ...more }),
      })
      const input = { project: 'default', environment: 'production', key: 'one', lane: 'openai' as const }
      const explained = await explainRoute(context, { ...input, body: { 'body.json': body } })
      const answer = await fetch(`${plane.baseUrl}/v1/${asks}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
        body,
      })
      await answer.text()
      const record = await plane.record(answer.headers.get('x-sp-request-id'))
      const said = JSON.stringify({ placed, body, explained: explained.policy_signals, did: record.policy_signals })
      expect(explained.error?.code ?? null, said).toBe(record.error?.code ?? null)
      const capped = (signals: typeof record.policy_signals) =>
        signals.filter(({ rule }) => rule === 'output' || rule === 'budget').map(({ verdict, data }) => [verdict, data])
      expect(capped(explained.policy_signals), said).toEqual(
        capped(record.policy_signals).filter(([verdict]) => verdict !== 'flag'),
      )
      const kind = record.error?.code ?? (said.includes('for which its budget has room') ? 'capped' : 'passed')
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
      // The next counts from what this one came to.
      while (plane.inFlight() > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  expect([...seen.keys()].toSorted()).toEqual(['budget_exceeded', 'capped', 'passed', 'policy_denied', 'rate_limited'])
})
