import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergePairs, readEnd, readMoment, readTimeouts, showTimeouts } from '../../src/admin/handlers/moments.ts'
import { chooseStep, laySteps } from '../../src/admin/handlers/requests/request-series.ts'
import { formatDuration, parseDuration } from '../../src/core/units.ts'

const now = Date.parse('2026-03-01T12:00:00Z')

describe('a moment', () => {
  it.each([
    ['24h', 'back', '2026-02-28T12:00:00.000Z'],
    ['24h', 'ahead', '2026-03-02T12:00:00.000Z'],
    ['0s', 'back', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01', 'back', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01', 'ahead', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T12:00:00+02:00', 'ahead', '2026-03-01T10:00:00.000Z'],
  ] as const)('of %s, %s, is %s', (text, direction, moment) => {
    expect(readMoment(text, direction, now)).toBe(moment)
  })

  it('as far back as it is ahead', () => {
    fc.assert(
      fc.property(fc.nat(10 * 365 * 86_400_000), (span) => {
        const [back, ahead] = (['back', 'ahead'] as const).map((way) => readMoment(formatDuration(span), way, now))
        expect(now - Date.parse(back ?? '')).toBe(span)
        expect(Date.parse(ahead ?? '') - now).toBe(span)
      }),
    )
  })

  it('at which a key ends is in the future', () => {
    expect(readEnd('1ms', now)).toBe('2026-03-01T12:00:00.001Z')
    for (const text of ['0s', '2026-03-01', '2026-03-01T12:00:00Z'])
      expect(() => readEnd(text, now)).toThrow('It would expire at once.')
  })
})

describe('the limits of time', () => {
  it('are those before with what was given of them, and of none the gateway’s own', () => {
    const before = { connect: 1000, total: 60_000 }
    expect(readTimeouts({}, before)).toEqual(before)
    expect(readTimeouts({ timeoutTotal: '5s', timeoutFirstByte: '250ms' }, before)).toEqual({
      ...{ connect: 1000, total: 5000, firstByte: 250 },
    })
    expect(showTimeouts({ betweenChunks: 0 })).toEqual({
      ...{ connect_ms: null, first_byte_ms: null, between_chunks_ms: 0, total_ms: null },
    })
    expect(before).toEqual({ connect: 1000, total: 60_000 })
    const all = { timeoutConnect: '1s', timeoutFirstByte: '2s', timeoutBetweenChunks: '3s', timeoutTotal: '4s' }
    expect(showTimeouts(readTimeouts(all, before))).toEqual({
      ...{ connect_ms: 1000, first_byte_ms: 2000, between_chunks_ms: 3000, total_ms: 4000 },
    })
    expect(readTimeouts({ timeoutConnect: '2s', timeoutBetweenChunks: '0s' }, before)).toEqual({
      ...{ connect: 2000, betweenChunks: 0, total: 60_000 },
    })
  })
})

it('pairs are put over pairs, and an empty value takes its name away', () => {
  expect(mergePairs({ a: '1', b: '2' }, { b: '', c: '3', d: '' })).toEqual({ a: '1', c: '3' })
  expect(mergePairs({ a: '1' }, undefined)).toEqual({ a: '1' })
  expect(Object.keys(mergePairs({}, JSON.parse('{"__proto__":"x"}')))).toEqual(['__proto__'])
})

describe('the steps of a series', () => {
  const span = fc.integer({ min: 1000, max: 3 * 365 * 86_400_000 })

  it('are no more than a chart can show, of a length that a person reads it by', () => {
    fc.assert(
      fc.property(span, (length) => {
        const step = chooseStep(length)
        expect(length / step).toBeLessThanOrEqual(61)
        expect(parseDuration(formatDuration(step))).toBe(step)
        // The next shorter would be too many.
        if (step > 1000) expect(length / (step / 2)).toBeGreaterThan(20)
      }),
    )
  })

  it('grow with the span', () => {
    fc.assert(
      fc.property(span, span, (one, other) => {
        const [shorter, longer] = [Math.min(one, other), Math.max(one, other)]
        expect(chooseStep(shorter)).toBeLessThanOrEqual(chooseStep(longer))
      }),
    )
  })

  it('cover the span: the first is whole, the last ends with or behind it, and none is empty by its place', () => {
    const begin = fc.integer({ min: 0, max: now })
    fc.assert(
      fc.property(begin, span, fc.integer({ min: 1, max: 900 }), (since, length, wanted) => {
        const stepMs = Math.max(1, Math.ceil(length / wanted))
        const until = since + length
        const { from, steps } = laySteps(since, until, stepMs)
        expect(from % stepMs).toBe(0)
        expect(from).toBeLessThanOrEqual(since)
        expect(since - from).toBeLessThan(stepMs)
        expect(from + steps * stepMs).toBeGreaterThanOrEqual(until)
        expect(from + (steps - 1) * stepMs).toBeLessThan(until)
      }),
    )
  })

  it.each([
    [1000, 1000, 10, 'until is not after since.'],
    [2000, 1000, 10, 'until is not after since.'],
    [0, 1000, 0, 'The step must be longer than zero.'],
    [0, 1001, 1, 'That would be 1001 steps; the maximum is 1000.'],
  ])('from %d to %d in steps of %d are refused', (since, until, stepMs, message) => {
    expect(() => laySteps(since, until, stepMs)).toThrow(message)
  })
})
