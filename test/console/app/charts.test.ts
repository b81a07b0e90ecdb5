import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDifferences } from '../../../src/console/app/areas/differences.ts'
import { compactNumber } from '../../../src/console/app/areas/overview/compact-number.ts'
import { outcomeSeries } from '../../../src/console/app/areas/overview/outcome-series.ts'
import { histogramSteps } from '../../../src/console/app/areas/requests/histogram-steps.ts'
import { drawTimeLine, ticksOf } from '../../../src/console/app/areas/requests/time-line-spans.ts'
import { chooseSpan } from '../../../src/console/app/areas/usual-span.ts'
import type { Series } from '../../../src/console/app/client/series-shape.ts'
import { sortRows } from '../../../src/console/app/parts/sort-rows.ts'
import { sampleRecord } from '../../support/sample-record.ts'

const groupNames = ['2xx', '3xx', '4xx', '5xx', '101', 'stream_error', 'interrupted', 'admitted']
/** As many points in each group, as the gateway gives them. */
const series = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.subarray(groupNames))
  .chain(([length, names]) =>
    fc.tuple(
      fc.constant(names),
      fc.array(fc.array(fc.nat(99), { minLength: length, maxLength: length }), { minLength: 8, maxLength: 8 }),
    ),
  )
  .map(([names, counts]): Series => {
    const start = Date.parse('2026-03-01T12:00:00Z')
    const length = counts[0]?.length ?? 0
    const points = (row: number) =>
      (counts[row] ?? []).map((requests, at) => ({ time: new Date(start + at * 60_000).toISOString(), requests }))
    return {
      since: new Date(start).toISOString(),
      until: new Date(start + length * 60_000).toISOString(),
      step_ms: 60_000,
      groups: names.map((group, row) => ({ group, points: points(row) })),
    } as Series
  })
const sumOf = ({ groups }: Series) =>
  groups.flatMap(({ points }) => points).reduce((sum, { requests }) => sum + requests, 0)

describe('requests over time', () => {
  it('are all in the histogram, each once, one step behind the other', () => {
    fc.assert(
      fc.property(series, (given) => {
        const steps = histogramSteps(given)
        expect(steps.reduce((sum, { good, warning, bad }) => sum + good + warning + bad, 0)).toBe(sumOf(given))
        for (const [place, { time }] of steps.entries())
          expect(time).toBe(Date.parse(given.since) + place * given.step_ms)
        expect((steps.at(-1)?.time ?? 0) + given.step_ms).toBe(Date.parse(given.until))
      }),
    )
  })

  it('are drawn in lines of one length, no request in two of them', () => {
    fc.assert(
      fc.property(series, (given) => {
        const lines = outcomeSeries(given)
        const drawn = lines.flatMap(({ values }) => values).reduce<number>((sum, value) => sum + (value ?? 0), 0)
        const others = sumOf({
          ...given,
          groups: given.groups.filter(({ group }) => ['101', 'admitted'].includes(group)),
        })
        expect(drawn).toBe(sumOf(given) - others)
        expect(new Set(lines.map(({ values }) => values.length)).size).toBe(1)
        expect(lines[0]?.name).toBe('2xx')
      }),
    )
  })
})

describe('a time line', () => {
  it('has at most a few marks, from zero on, one as far from the other, none behind the end', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 1e9, noNaN: true }), (total) => {
        const ticks = ticksOf(total)
        expect(ticks[0]).toBe(0)
        expect(ticks.length).toBeGreaterThanOrEqual(4)
        expect(ticks.length).toBeLessThanOrEqual(8)
        expect((ticks.at(-1) ?? 0) / total).toBeLessThanOrEqual(1 + 1e-6)
      }),
    )
  })

  it('of no length has no marks', () => {
    expect(ticksOf(0)).toEqual([])
  })

  it('has every part within its length, none of which ends before it begins, whatever the marks are', () => {
    const moment = fc.nat(2000)
    const attempt = fc.record({
      provider: fc.constantFrom('a', 'b'),
      upstream_model: fc.constantFrom('m', ''),
      status: fc.constantFrom(null, 200, 500),
      outcome: fc.constantFrom('answered', 'fallback', 'retry', 'failed', 'started'),
      started_ms: moment,
      connected_ms: fc.option(moment),
      first_byte_ms: fc.option(moment),
      ended_ms: fc.option(moment),
      message: fc.constant(null),
      cost: fc.constant(null),
    })
    fc.assert(
      fc.property(
        fc.array(attempt, { maxLength: 3 }),
        fc.option(moment),
        fc.option(moment),
        (attempts, duration, first) => {
          const record = { ...sampleRecord(), duration_ms: duration, first_byte_ms: first, timeline: [] }
          const { totalMs, lanes } = drawTimeLine({ ...record, attempts: attempts as typeof record.attempts })
          for (const { spans } of lanes)
            for (const { fromMs, toMs } of spans) {
              expect(fromMs).toBeGreaterThanOrEqual(0)
              expect(toMs).toBeGreaterThanOrEqual(fromMs)
            }
          expect(totalMs).toBeGreaterThanOrEqual(duration ?? 0)
          expect(new Set(lanes.map(({ key }) => key)).size).toBe(lanes.length)
        },
      ),
    )
  })
})

describe('the span of a page', () => {
  const now = Date.parse('2026-03-01T12:00:00Z')
  const lengths = { '15m': 900, '1h': 3600, '24h': 86_400, '7d': 604_800, '30d': 2_592_000 }

  it('shows something wherever something is within a month', () => {
    fc.assert(
      fc.property(fc.option(fc.nat(86_400)), fc.nat(2_592_000), (first, newest) => {
        const span = chooseSpan(first === null ? null : now - first * 1000, now - newest * 1000, now)
        expect(lengths[span]).toBeGreaterThanOrEqual(Math.min(first ?? newest, newest))
      }),
    )
  })

  it.each([
    [null, null, '24h'],
    [now + 60_000, now + 60_000, '15m'],
    [null, now - 90 * 86_400_000, '30d'],
  ] as const)('of a day from %j with a newest of %j is %s', (first, newest, span) => {
    expect(chooseSpan(first, newest, now)).toBe(span)
  })
})

describe('rows that are sorted', () => {
  const value = fc.oneof(fc.integer(), fc.string({ maxLength: 3 }), fc.constantFrom(null, undefined))

  it('are the same rows, those without a value last, and those of one value as they came', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(3))), fc.boolean(), (values, descending) => {
        const rows = values.map((value, place) => ({ value, place }))
        const sorted = sortRows(rows, (row) => row.value, descending)
        expect([...sorted].sort((one, other) => one.place - other.place)).toEqual(rows)
        const firstEmpty = sorted.findIndex((row) => row.value === null)
        if (firstEmpty >= 0) expect(sorted.slice(firstEmpty).every((row) => row.value === null)).toBe(true)
        for (const [at, row] of sorted.entries()) {
          const next = sorted[at + 1]
          if (next === undefined || row.value === null || next.value === null) continue
          if (row.value === next.value) expect(row.place).toBeLessThan(next.place)
          else expect(row.value < next.value).toBe(!descending)
        }
      }),
    )
  })

  it('leave the list that they came from as it was', () => {
    fc.assert(
      fc.property(fc.array(value), (values) => {
        const before = [...values]
        sortRows(values, (row) => row, true)
        expect(values).toEqual(before)
      }),
    )
  })
})

describe('differences', () => {
  const tree = fc.jsonValue({ maxDepth: 3 })

  it('are none of what is the same, and turn with their sides', () => {
    fc.assert(
      fc.property(tree, tree, (one, other) => {
        expect(findDifferences(one, structuredClone(one))).toEqual([])
        const turned = findDifferences(other, one).map(({ path, before, after }) => ({
          path,
          before: after,
          after: before,
        }))
        const byPath = (left: { path: string }, right: { path: string }) => (left.path < right.path ? -1 : 1)
        expect(turned.sort(byPath)).toEqual(findDifferences(one, other).sort(byPath))
      }),
      { numRuns: 200 },
    )
  })

  it.each([
    [{ a: [] }, {}, []],
    [{ a: null }, { a: '' }, []],
    [{ a: 0 }, {}, [{ path: 'a', before: '0', after: null }]],
    [{ a: false }, { a: true }, [{ path: 'a', before: 'false', after: 'true' }]],
    [{ a: ['x', 'y'] }, { a: ['y', 'x'] }, [{ path: 'a', before: 'x, y', after: 'y, x' }]],
    [{ a: [{ id: 'x', n: '1' }] }, { a: [{ id: 'x', n: '2' }] }, [{ path: 'a[x].n', before: '1', after: '2' }]],
  ])('of %j and %j', (before, after, differences) => {
    expect(findDifferences(before, after)).toEqual(differences)
    expect(findDifferences(before, after, ['a'])).toEqual([])
  })
})

it.each([
  [0, '0'],
  [0.05, '0.1'],
  [99.96, '100'],
  [999, '999'],
  [1000, '1,000'],
  [9999, '9,999'],
  [10_000, '10k'],
  [12_400, '12.4k'],
  [99_960, '100k'],
  [999_499, '999k'],
  [999_500, '1M'],
  [21_258_245, '21.3M'],
])('where there is little room %d is %s', (value, text) => {
  expect(compactNumber(value)).toBe(text)
})
