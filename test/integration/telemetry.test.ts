import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { spanIdOf } from '../../src/core/trace-context.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { laneCalls } from '../support/lane-calls.ts'
import { type CollectedSpan, startMockCollector } from '../support/mock-collector.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { send } from '../support/raw-http.ts'
import { mintCredential } from '../support/stage.ts'

const trace = '0af7651916cd43dd8448eb211c80319c'
const parent = 'b7ad6b7169203331'
const [lane] = laneCalls
if (lane === undefined) throw new Error('there is no lane')

interface Scene {
  gateway: TestGateway
  mock: MockProvider
  /** Of another format than the client's; `claude` is its model. */
  foreign: MockProvider
  call(headers?: [string, string][], model?: string): Promise<string>
}

async function open(config: string, dataDirectory?: string, environment: Record<string, string> = {}): Promise<Scene> {
  const mock = await startMockProvider('openai', mintCredential('openai'))
  const foreign = await startMockProvider('anthropic', mintCredential('anthropic'))
  const gateway = await startGateway({ config, environment, ...(dataDirectory === undefined ? {} : { dataDirectory }) })
  onTestFinished(async () => {
    await gateway.stop()
    await mock.close()
    await foreign.close()
  })
  const [credential = ''] = mock.credentials
  const [other = ''] = foreign.credentials
  await gateway.admin.providers.add({
    ...{ name: 'anthropic', kind: 'anthropic', baseUrl: foreign.baseUrl, credential: other },
  })
  await gateway.addRoute('claude', ['anthropic'])
  await gateway.admin.providers.add({ name: 'openai', kind: 'openai', baseUrl: mock.baseUrl, credential })
  await gateway.addRoute('gpt-4o-mini', ['openai'])
  const { key } = await gateway.createKey('ci')
  return {
    gateway,
    mock,
    foreign,
    async call(more = [], model = 'gpt-4o-mini') {
      const { path, body } = lane?.call(model) ?? { path: '', body: '' }
      const headers: [string, string][] = [
        ['authorization', `Bearer ${key}`],
        ['content-type', 'application/json'],
        ...more,
      ]
      const answer = await send(gateway.baseUrl + path, { headers, body })
      expect(answer.status).toBe(200)
      return answer.requestId
    },
  }
}

const config = (url: string) =>
  `telemetry:\n  otlp_endpoint: ${url}\n  headers: { authorization: "Bearer \${OTLP_TOKEN}" }\n`
const token = { OTLP_TOKEN: 'canary-token' }
const requestsIn = (spans: readonly CollectedSpan[]) => spans.filter(({ kind }) => kind === 2)

it('continues the client’s trace to the provider, and exports it with what it cost', async () => {
  const collector = await startMockCollector()
  const { gateway, mock, call } = await open(config(collector.url), undefined, token)
  const traceparent = `00-${trace}-${parent}-01`
  const id = await call([
    ['traceparent', traceparent],
    ['tracestate', 'vendor=1'],
  ])
  const seen = mock.calls.at(-1)
  expect(seen?.headers.get('traceparent')).toBe(`00-${trace}-${spanIdOf(id, 1)}-01`)
  expect(seen?.headers.get('tracestate')).toBe('vendor=1')
  const record = await gateway.record(id)
  expect(record.trace).toEqual({ trace_id: trace, parent_id: parent, sampled: true, state: 'vendor=1' })
  await expect.poll(() => collector.spans.length, { timeout: 10_000 }).toBe(2)
  expect(collector.faults).toEqual([])
  const [request, attempt] = collector.spans
  expect(request).toMatchObject({
    ...{ traceId: trace, spanId: spanIdOf(id, 0), parentSpanId: parent, traceState: 'vendor=1' },
    attributes: { 'spgw.request.id': id, 'spgw.project': 'default', 'spgw.key.name': 'ci' },
  })
  expect(attempt).toMatchObject({
    ...{ traceId: trace, parentSpanId: request?.spanId, events: ['connected', 'first_byte'] },
    attributes: {
      ...{ 'gen_ai.provider.name': 'openai', 'gen_ai.usage.input_tokens': record.tokens?.input },
      'server.address': '127.0.0.1',
    },
  })
  expect(collector.requests[0]?.headers.authorization).toBe('Bearer canary-token')
  expect(gateway.stderr()).not.toContain('canary-token')
})

it('continues it to a provider of another format too', async () => {
  const collector = await startMockCollector()
  const { foreign, call } = await open(config(collector.url), undefined, token)
  const id = await call([['traceparent', `00-${trace}-${parent}-01`]], 'claude')
  expect(foreign.calls.at(-1)?.headers.get('traceparent')).toBe(`00-${trace}-${spanIdOf(id, 1)}-01`)
})

it('begins a trace where the client names none, or none that is valid, and tells the provider nothing', async () => {
  const collector = await startMockCollector()
  const { mock, call } = await open(config(collector.url), undefined, token)
  await call()
  expect(mock.calls.at(-1)?.headers.has('traceparent')).toBe(false)
  await call([
    ['traceparent', `00-${trace}-${'0'.repeat(16)}-01`],
    ['tracestate', 'vendor=1'],
  ])
  const seen = mock.calls.at(-1)
  expect([seen?.headers.has('traceparent'), seen?.headers.has('tracestate')]).toEqual([false, false])
  await expect.poll(() => requestsIn(collector.spans).length, { timeout: 10_000 }).toBe(2)
  for (const span of requestsIn(collector.spans)) expect(span.parentSpanId).toBeNull()
  expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(2)
  expect(collector.faults).toEqual([])
})

it('exports every request once across a kill and a restart, while the collector is away and back', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'spgw-telemetry-'))
  onTestFinished(() => rm(dataDirectory, { recursive: true, force: true }))
  const away = await startMockCollector()
  away.answers.push(...Array.from({ length: 1000 }, () => ({ status: 503 })))
  const first = await open(config(away.url), dataDirectory, token)
  const ids = [await first.call(), await first.call(), await first.call()]
  await first.gateway.record(ids[2] ?? '')
  await expect
    .poll(async () => (await first.gateway.admin.status({})).traces, { timeout: 10_000 })
    .toMatchObject({ pending: 3, exported: 0, trouble: 'it answered 503' })
  await first.gateway.kill('SIGKILL')
  const collector = await startMockCollector()
  const second = await startGateway({ config: config(collector.url), dataDirectory, environment: token })
  onTestFinished(() => second.stop())
  await expect.poll(() => requestsIn(collector.spans).length, { timeout: 10_000 }).toBe(3)
  expect(requestsIn(collector.spans).map(({ attributes }) => attributes['spgw.request.id'])).toEqual(ids)
  // The collector has them before its answer is read.
  await expect
    .poll(async () => (await second.admin.status({})).traces)
    .toMatchObject({ pending: 0, exported: 3, dropped: 0, trouble: null })
  await second.kill('SIGKILL')
  const third = await startGateway({ config: config(collector.url), dataDirectory, environment: token })
  onTestFinished(() => third.stop())
  await expect.poll(async () => (await third.admin.status({})).traces?.pending).toBe(0)
  expect(requestsIn(collector.spans)).toHaveLength(3)
})

it('shows in /metrics what became of traces, and in OpenMetrics a trace for each bucket', async () => {
  const collector = await startMockCollector()
  const { gateway, call } = await open(config(collector.url), undefined, token)
  const id = await call([['traceparent', `00-${trace}-${parent}-01`]])
  await expect.poll(() => requestsIn(collector.spans).length, { timeout: 10_000 }).toBe(1)
  const metrics = async (accept: string) => {
    const answer = await fetch(`${gateway.consoleUrl}/metrics`, { headers: { accept } })
    return await answer.text()
  }
  // The gateway counts a trace when it has the collector's answer.
  await expect
    .poll(() => metrics('text/plain'), { timeout: 10_000 })
    .toContain('spgw_traces_total{outcome="exported"} 1\n')
  const shown = await metrics('application/openmetrics-text')
  expect(shown).toContain(`# {trace_id="${trace}",span_id="${spanIdOf(id, 0)}"}`)
})
