import { describe, expect, it } from 'vitest'
import type { Family } from '../../src/console/exposition.ts'
import { wantsOpenMetrics, writeOpenMetrics } from '../../src/console/open-metrics.ts'
import { TrafficMetrics } from '../../src/console/traffic-metrics.ts'
import { ownTraceId, spanIdOf } from '../../src/core/trace-context.ts'
import { TrafficTallier } from '../../src/store/ingest/traffic-tally.ts'
import { readHead } from '../../src/store/records/record-head.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { ask, openListener } from './open-listener.ts'

const family = (change: Partial<Family>): Family => ({
  ...{ name: 'x', type: 'gauge', help: 'A "thing".', samples: [{ value: 1 }] },
  ...change,
})

it.each([
  ['application/openmetrics-text', true],
  ['application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1', true],
  ['text/plain, application/openmetrics-text; version=0.0.1', true],
  ['application/openmetrics-text;q=0', false],
  ['application/openmetrics-text; version=1.0.0; q=0.0', false],
  ['application/openmetrics-text;version=1.0.0;Q=0.001', true],
  ['application/openmetrics-text;q=0, application/openmetrics-text;version=0.0.1', true],
  ['Application/OpenMetrics-Text', true],
  ['application/openmetrics-text-2', false],
  ['x/application/openmetrics-text', false],
  ['', false],
  ['text/plain', false],
  ['*/*', false],
  [undefined, false],
])('Accept: %s asks for OpenMetrics: %s', (accept, expected) => {
  expect(wantsOpenMetrics(accept)).toBe(expected)
})

describe('OpenMetrics', () => {
  it('names the family of a counter without _total, escapes quotation marks, and ends', () => {
    expect(writeOpenMetrics([family({ name: 'x_total', type: 'counter' })])).toBe(
      '# HELP x A \\"thing\\".\n# TYPE x counter\nx_total 1\n# EOF\n',
    )
  })

  it('has no two families of one name', () => {
    const text = writeOpenMetrics([family({ name: 'x' }), family({ name: 'x_total', type: 'counter' })])
    const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
    expect(names).toEqual(['x gauge', 'x_total unknown'])
  })

  it('shows by bucket the last request that is exported, and bounds as floating-point numbers', () => {
    const trace = { trace_id: 'a'.repeat(32), parent_id: 'b'.repeat(16), sampled: true, state: null }
    const time = '2026-11-25T10:00:00.000Z'
    const [fast, named, unsampled] = [
      sampleRecord({ time, duration_ms: 20 }),
      sampleRecord({ time, duration_ms: 700, trace }),
      sampleRecord({ time, duration_ms: 3000, trace: { ...trace, sampled: false } }),
    ]
    const text = writeOpenMetrics(metricsOf([fast, named, unsampled], true))
    const line = (le: string) =>
      text.split('\n').find((each) => each.startsWith(`spgw_request_duration_seconds_bucket{lane="openai",le="${le}"}`))
    expect(line('0.025')).toBe(
      `spgw_request_duration_seconds_bucket{lane="openai",le="0.025"} 1 # {trace_id="${ownTraceId(fast.id)}",span_id="${spanIdOf(fast.id, 0)}"} 0.02 1795600800.020`,
    )
    expect(line('1.0')).toContain(`} 2 # {trace_id="${trace.trace_id}",span_id="${spanIdOf(named.id, 0)}"} 0.7 `)
    expect(line('5.0')).toMatch(/} 3$/)
  })

  it('shows none where nothing is exported', () => {
    expect(writeOpenMetrics(metricsOf([sampleRecord()], false))).not.toContain('trace_id')
  })

  it('is what /metrics answers to whoever asks for it, and to nobody else', async () => {
    const listener = await openListener()
    const accept = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5'
    const open = await ask(`${listener.url}/metrics`, { headers: { accept } })
    expect(open.headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    expect(open.body).toMatch(/# EOF\n$/)
    for (const [, name = '', type] of open.body.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
      expect(open.body.match(new RegExp(`^# TYPE ${name} `, 'gm'))).toHaveLength(1)
      if (type === 'counter') expect(open.body).toContain(`\n${name}_total`)
    }
    const plain = await ask(`${listener.url}/metrics`)
    expect(plain.headers['content-type']).toContain('text/plain')
    expect(plain.body).not.toContain('# EOF')
  })
})

function metricsOf(records: ReturnType<typeof sampleRecord>[], traced: boolean): Family[] {
  const metrics = new TrafficMetrics()
  const tallier = new TrafficTallier(traced)
  for (const record of records) {
    const head = readHead(JSON.stringify(record), 'settled')
    if (head !== null) tallier.add(head)
  }
  const tally = tallier.take()
  if (tally !== null) metrics.add(structuredClone(tally))
  return metrics.families()
}
