import { expect, it } from 'vitest'
import { LimitOracle } from '../../scripts/crash/budget-oracle.ts'
import type { RequestRecord, Signal } from '../../src/core/record.ts'
import { sampleRecord } from '../support/sample-record.ts'

const start = Date.parse('2026-11-27T12:00:00Z')
const key = { id: 'key_1', name: 'limited' }
const bounds = { longest: 400, usdPerToken: {} }
const limited = { name: 'limited', tpm: 1_000_000, concurrency: 2 }

/** That ran from one moment to another, in milliseconds from the start. */
function ran(id: string, from: number, to: number): RequestRecord {
  const timeline: RequestRecord['timeline'] = [
    { event: 'admitted', at_ms: 1 },
    { event: 'done', at_ms: to - from },
  ]
  return sampleRecord({ id, key, time: new Date(start + from).toISOString(), duration_ms: to - from, timeline })
}

function refused(at: number): RequestRecord {
  const data = { kind: 'concurrency', limit: 2, used: 2, asked: 1 }
  const signal: Signal = { rule: 'limits', verdict: 'deny', text: 'two run', data }
  return { ...ran('req_refused', at, at + 1), timeline: [], policy_signals: [signal] }
}

const check = (records: RequestRecord[], lastBytes: Record<string, number> = {}) => {
  const seen = new Map(Object.entries(lastBytes).map(([id, at]) => [id, start + at]))
  return new LimitOracle(bounds, limited, seen).check(records, 0)
}

it('finds a refusal that had room, and takes one that had none', () => {
  expect(check([ran('req_a', 0, 100), ran('req_b', 0, 5000), refused(2000)])).toHaveLength(1)
  expect(check([ran('req_a', 0, 3000), ran('req_b', 0, 5000), refused(2000)])).toEqual([])
})

it('takes a request to run until its client has the last byte, which waits until its end is written', () => {
  const records = [ran('req_a', 0, 1000), ran('req_b', 0, 5000), refused(2000)]
  expect(check(records, { req_a: 1010 })).toHaveLength(1)
  expect(check(records, { req_a: 2100 })).toEqual([])
})

it('takes one whose client left to wait as long as others at that time, and no longer', () => {
  const records = [ran('req_left', 500, 1000), ran('req_a', 0, 400), ran('req_b', 0, 5000), refused(2000)]
  expect(check(records, { req_a: 1300 })).toEqual([])
  expect(check(records, { req_a: 450 })).toHaveLength(1)
})

it('judges no refusal beside calls that a killed gateway had taken and not written of', () => {
  const lost = (from: number, until: number) => [{ from: start + from, until: start + until }]
  const judge = (calls: { from: number; until: number }[]) =>
    new LimitOracle(bounds, limited, new Map(), calls).check([ran('req_a', 0, 100), refused(2000)], 0)
  expect(judge(lost(1990, 2010))).toEqual([])
  expect(judge(lost(100, 1000))).toHaveLength(1)
})

it('finds more at once than may be, and takes ends and beginnings for one after the other that are as near as clocks lie', () => {
  expect(check([ran('req_a', 0, 1000), ran('req_b', 0, 1000), ran('req_c', 900, 2000)])).toHaveLength(1)
  expect(check([ran('req_a', 0, 1000), ran('req_b', 0, 1000), ran('req_c', 980, 2000)])).toEqual([])
})
