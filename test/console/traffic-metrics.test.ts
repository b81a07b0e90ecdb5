import { describe, expect, it } from 'vitest'
import { writeExposition } from '../../src/console/exposition.ts'
import { TrafficMetrics } from '../../src/console/traffic-metrics.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { TrafficTallier } from '../../src/store/ingest/traffic-tally.ts'
import { readHead } from '../../src/store/records/record-head.ts'
import { fellBack, sampleRecord } from '../support/sample-record.ts'

function count(metrics: TrafficMetrics, records: RequestRecord[]): void {
  const tallier = new TrafficTallier()
  for (const record of records) {
    const head = readHead(JSON.stringify(record), 'settled')
    if (head !== null) tallier.add(head)
  }
  const tally = tallier.take()
  // As it crosses threads.
  if (tally !== null) metrics.add(structuredClone(tally))
}

const written = (metrics: TrafficMetrics) => writeExposition(metrics.families()).split('\n')

describe('the exposition', () => {
  it('escapes what would end a value, a line or a help', () => {
    const samples = [{ labels: { name: 'a"b\\c\nd' }, value: 1.5 }]
    expect(writeExposition([{ name: 'x', type: 'gauge', help: 'one\\two\nthree', samples }])).toBe(
      '# HELP x one\\\\two\\nthree\n# TYPE x gauge\nx{name="a\\"b\\\\c\\nd"} 1.5\n',
    )
  })

  it('leaves out a family of which nothing is known', () => {
    expect(writeExposition([{ name: 'x', type: 'gauge', help: '', samples: [] }])).toBe('')
  })
})

describe('the metrics of traffic', () => {
  it('count each settled record once', () => {
    const metrics = new TrafficMetrics()
    count(metrics, [sampleRecord()])
    count(metrics, [sampleRecord({ lane: null, provider: null, status: 404, tokens: null, duration_ms: null })])
    expect(written(metrics)).toEqual(
      expect.arrayContaining([
        'spgw_records_total{lane="openai",provider="openai",status="2xx"} 1',
        'spgw_records_total{lane="",provider="",status="4xx"} 1',
        'spgw_tokens_total{provider="openai",model="gpt-4o-mini",kind="input"} 10',
        'spgw_tokens_total{provider="openai",model="gpt-4o-mini",kind="output"} 5',
        'spgw_request_duration_seconds_count{lane="openai"} 1',
      ]),
    )
  })

  it('count each attempt, those of a request that fell back at both targets', () => {
    const metrics = new TrafficMetrics()
    count(metrics, [sampleRecord({ attempts: fellBack('dead', 'openai') }), sampleRecord()])
    expect(written(metrics)).toEqual(
      expect.arrayContaining([
        'spgw_attempts_total{provider="dead",model="m",outcome="fell_back"} 1',
        'spgw_attempts_total{provider="openai",model="m",outcome="answered"} 1',
        'spgw_attempts_total{provider="openai",model="gpt-4o-mini",outcome="answered"} 1',
      ]),
    )
  })

  it('tell errors by code and origin', () => {
    const metrics = new TrafficMetrics()
    count(metrics, [sampleRecord({ status: 401, error: { code: 'missing_key', origin: 'client', message: 'no' } })])
    expect(written(metrics)).toContain('spgw_errors_total{code="missing_key",origin="client"} 1')
  })

  it('put a duration into every bucket that holds it', () => {
    const metrics = new TrafficMetrics()
    for (const duration_ms of [5, 70, 1e6]) count(metrics, [sampleRecord({ duration_ms })])
    const buckets = written(metrics).filter((line) => line.startsWith('spgw_request_duration_seconds_bucket'))
    const counts = buckets.map((line) => [/le="([^"]+)"/.exec(line)?.[1], Number(line.split(' ')[1])])
    expect(counts).toEqual([
      ['0.005', 1],
      ['0.01', 1],
      ['0.025', 1],
      ['0.05', 1],
      ['0.1', 2],
      ['0.25', 2],
      ['0.5', 2],
      ['1', 2],
      ['2.5', 2],
      ['5', 2],
      ['10', 2],
      ['30', 2],
      ['60', 2],
      ['120', 2],
      ['+Inf', 3],
    ])
    expect(written(metrics)).toContain('spgw_request_duration_seconds_sum{lane="openai"} 1000.075')
  })

  it('tell 200 models apart and no more, however many a client names', () => {
    const metrics = new TrafficMetrics()
    for (let index = 0; index < 1000; index++)
      count(metrics, [sampleRecord({ upstream_model: `model-${index}`, provider: `provider-${index % 300}` })])
    count(metrics, [sampleRecord({ upstream_model: 'model-0', provider: 'provider-0' })])
    const inputs = written(metrics).filter((line) => line.startsWith('spgw_tokens_total') && line.includes('input'))
    const models = new Set(inputs.map((line) => /model="([^"]*)"/.exec(line)?.[1]))
    const providers = new Set(inputs.map((line) => /provider="([^"]*)"/.exec(line)?.[1]))
    expect([models.size, providers.size]).toEqual([201, 201])
    expect(models).toContain('other')
    expect(inputs).toContain('spgw_tokens_total{provider="provider-0",model="model-0",kind="input"} 20')
  })

  it('name no model of a length that only a mischief has', () => {
    const metrics = new TrafficMetrics()
    count(metrics, [sampleRecord({ upstream_model: 'm'.repeat(10_000) })])
    expect(written(metrics)).toContain('spgw_tokens_total{provider="openai",model="other",kind="input"} 10')
  })
})
