import { expect, it, onTestFinished, vi } from 'vitest'
import type { TelemetrySettings } from '../../../src/config/settings.ts'
import { Secret } from '../../../src/core/secrets/secret.ts'
import { TraceExporter } from '../../../src/daemon/telemetry/trace-exporter.ts'
import { createHttpTransport } from '../../../src/providers/http.ts'
import type { PendingTrace } from '../../../src/store/api.ts'
import { type MockCollector, startMockCollector } from '../../support/mock-collector.ts'
import { sampleRecord } from '../../support/sample-record.ts'

/** What the store keeps, as it keeps it. */
class WaitingTraces {
  rows: PendingTrace[] = []
  #last = 0

  add(count: number, record: PendingTrace['record'] | undefined = undefined): void {
    for (let index = 0; index < count; index++)
      this.rows.push({ sequence: ++this.#last, record: record === undefined ? sampleRecord() : record })
  }

  take = async (limit: number) => this.rows.slice(0, limit)
  pending = async () => this.rows.length
  finish = async (through: number) => {
    this.rows = this.rows.filter(({ sequence }) => sequence > through)
  }
  trim = async (most: number) => this.rows.splice(0, Math.max(0, this.rows.length - most)).length
}

async function open(collector: MockCollector, clock = { now: 1_764_000_000_000 }) {
  const transport = createHttpTransport()
  onTestFinished(() => transport.close())
  const traces = new WaitingTraces()
  const lines: string[] = []
  const say = (message: string, fields: object = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const wanted: boolean[] = []
  const exporter = new TraceExporter({
    store: { traces, keepTraces: (each) => void wanted.push(each) },
    transport: async () => transport,
    provider: () => null,
    version: '1.0.0',
    log: { debug: say, info: say, warn: say, error: say },
    now: () => clock.now,
    random: () => 1,
  })
  const settings: TelemetrySettings = {
    endpoint: `${collector.url}/otlp`,
    headers: { authorization: new Secret('Bearer canary') },
  }
  exporter.change(settings)
  onTestFinished(() => exporter.change(null))
  return { exporter, traces, clock, lines, wanted, settings }
}

it('exports what waits in batches, with its headers, and forgets it then', async () => {
  const collector = await startMockCollector()
  const { exporter, traces, wanted } = await open(collector)
  traces.add(600)
  await exporter.look()
  expect(collector.faults).toEqual([])
  expect(collector.spans).toHaveLength(600)
  expect(collector.requests.map(({ path }) => path)).toEqual(['/otlp/v1/traces', '/otlp/v1/traces', '/otlp/v1/traces'])
  expect(collector.requests[0]?.headers).toMatchObject({ authorization: 'Bearer canary', 'content-encoding': 'gzip' })
  expect(exporter.state()).toMatchObject({ pending: 0, outcomes: { exported: 600, rejected: 0 }, trouble: null })
  expect(wanted).toEqual([true])
})

it('waits longer after each failure, and as long as the collector asks', async () => {
  const collector = await startMockCollector()
  const { exporter, traces, clock, lines } = await open(collector)
  collector.answers.push({ status: 503 }, { status: 503 }, { status: 429, headers: { 'retry-after': '30' } })
  traces.add(1)
  const sent = async (afterMs: number) => {
    clock.now += afterMs
    await exporter.look()
    return collector.requests.length
  }
  expect(await sent(0)).toBe(1)
  expect(await sent(999)).toBe(1)
  expect(await sent(1)).toBe(2)
  expect(await sent(1999)).toBe(2)
  expect(await sent(1)).toBe(3)
  expect(await sent(29_999)).toBe(3)
  expect(exporter.state()).toMatchObject({ pending: 1, retries: 3, trouble: 'it answered 429' })
  expect(await sent(1)).toBe(4)
  expect(exporter.state()).toMatchObject({ pending: 0, outcomes: { exported: 1 }, trouble: null })
  expect(lines.join('\n')).not.toContain('canary')
})

it('gives up what the collector rejects, and what no record is left of, and counts both', async () => {
  const collector = await startMockCollector()
  const { exporter, traces } = await open(collector)
  collector.answers.push({ status: 400 })
  traces.add(2)
  await exporter.look()
  expect(exporter.state()).toMatchObject({ pending: 0, outcomes: { exported: 0, rejected: 2 } })
  expect(exporter.state()?.trouble).toContain('it answered 400')
  traces.add(1, null)
  traces.add(1)
  await exporter.look()
  expect(exporter.state()).toMatchObject({ outcomes: { exported: 1, rejected: 2, removed: 1 }, trouble: null })
})

it('says which spans the collector did not accept', async () => {
  const collector = await startMockCollector()
  const { exporter, traces } = await open(collector)
  collector.answers.push({
    status: 200,
    body: JSON.stringify({ partialSuccess: { rejectedSpans: '1', errorMessage: 'too old' } }),
  })
  traces.add(1)
  await exporter.look()
  expect(exporter.state()?.trouble).toBe('the collector rejected 1 spans: too old')
})

it('sends the same spans under the same ids when nobody heard the answer', async () => {
  const collector = await startMockCollector()
  const { exporter, traces, clock } = await open(collector)
  collector.answers.push({ status: 200, loses: true })
  traces.add(3)
  await exporter.look()
  expect(traces.rows).toHaveLength(3)
  clock.now += 2000
  await exporter.look()
  expect(traces.rows).toHaveLength(0)
  expect(collector.spans).toHaveLength(6)
  expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(3)
})

it('exports nothing any more when it is switched off, and keeps nothing for it', async () => {
  const collector = await startMockCollector()
  const { exporter, traces, wanted } = await open(collector)
  traces.add(1)
  exporter.change(null)
  await exporter.look()
  expect(collector.requests).toEqual([])
  expect(exporter.state()).toBeNull()
  expect(traces.rows).toEqual([])
  expect(wanted).toEqual([true, false])
})

it('pauses no longer where the clock is set back', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 1_764_000_000_000 })
  onTestFinished(() => void vi.useRealTimers())
  const traces = new WaitingTraces()
  const [transport, say] = [vi.fn(() => Promise.reject(new Error('no route to the collector'))), () => {}]
  const exporter = new TraceExporter({
    store: { traces, keepTraces() {} },
    transport,
    provider: () => null,
    version: '1.0.0',
    log: { debug: say, info: say, warn: say, error: say },
  })
  exporter.change({ endpoint: 'http://127.0.0.1:4318', headers: {} })
  onTestFinished(() => exporter.change(null))
  traces.add(1)
  await exporter.look()
  expect(transport).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(2000)
  vi.setSystemTime(1_763_000_000_000)
  await exporter.look()
  expect(transport).toHaveBeenCalledTimes(2)
})
