import { ORPCError } from '@orpc/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDifferences, pathInWords } from '../../../src/console/app/areas/differences.ts'
import { compactNumber } from '../../../src/console/app/areas/overview/compact-number.ts'
import { ticksOf } from '../../../src/console/app/areas/requests/time-line-spans.ts'
import { durationText, pluralize } from '../../../src/console/app/areas/units.ts'
import { faultOf, isSignedOut } from '../../../src/console/app/client/fault.ts'
import { AuthFault } from '../../../src/console/app/client/http.ts'
import { labelOf, sentenceCase, stateLabel } from '../../../src/console/app/parts/labels.ts'
import { parseDuration } from '../../../src/core/units.ts'

describe('a number where there is little room', () => {
  it.each([
    [0, '0'],
    [7, '7'],
    [999, '999'],
    [1234, '1,234'],
    [9999, '9,999'],
    [12_400, '12.4k'],
    [100_000, '100k'],
    [999_499, '999k'],
    [999_500, '1M'],
    [21_258_245, '21.3M'],
  ])('%i is %s', (value, text) => {
    expect(compactNumber(value)).toBe(text)
  })

  it('is short, and close to what it stands for', () => {
    const units: Record<string, number> = { k: 1e3, M: 1e6 }
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 900_000_000 }), (value) => {
        const text = compactNumber(value)
        expect(text.length).toBeLessThanOrEqual(5)
        const unit = units[text.at(-1) ?? ''] ?? 1
        const shown = Number(text.replace(/[,kM]/g, '')) * unit
        // Half of the last digit: a tenth of the unit below 100, else one.
        expect(Math.abs(shown - value)).toBeLessThanOrEqual(unit * (shown < 100 * unit ? 0.0501 : 0.501))
      }),
    )
  })
})

describe('labels', () => {
  it.each([
    ['first_byte_ms', 'First byte'],
    ['baseUrl', 'Base URL'],
    ['provider_request_id', 'Provider request ID'],
    ['usd', 'Usd'],
    ['openaiOrganization', 'OpenAI organization'],
  ])('of the field %s is %s', (name, label) => {
    expect(labelOf(name)).toBe(label)
  })

  it('of columns are in sentence case, percentiles as they are written', () => {
    expect(sentenceCase('LAST USED')).toBe('Last used')
    expect(sentenceCase('P95')).toBe('p95')
  })

  it('of a difference are read as words, without the unit', () => {
    expect(pathInWords('timeouts.first_byte_ms')).toBe('Timeouts, first byte')
    expect(pathInWords('headers.x-team')).toBe('Headers, x-team')
  })
})

describe('a state', () => {
  it.each([
    ['ready', 'Ready'],
    ['admitted', 'In progress'],
    ['cooling down', 'Cooling down'],
    ['unchecked', 'Not checked'],
    ['ok', 'OK'],
    ['failing since 14:02', 'Failing since 14:02'],
    ['failing: the credential was rejected', 'Failing: the credential was rejected'],
    [null, 'Unknown'],
    [429, '429'],
  ])('%j is shown as %s', (state, label) => {
    expect(stateLabel(state)).toBe(label)
  })

  it('that is an error code stays what people search for', () => {
    for (const code of ['model_not_found', 'x-odd', '5xx', 'Ready']) expect(stateLabel(code)).toContain(code.slice(1))
    expect(stateLabel('model_not_found')).toBe('model_not_found')
  })
})

describe('counts and durations', () => {
  it('agree with their nouns', () => {
    expect([0, 1, 2].map((number) => pluralize(number, 'route'))).toEqual(['0 routes', '1 route', '2 routes'])
  })

  it('are written so that the contract reads back the same', () => {
    expect(durationText(null)).toBeNull()
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000_000 }), (milliseconds) => {
        expect(parseDuration(durationText(milliseconds) ?? '')).toBe(milliseconds)
      }),
    )
  })
})

describe('the axis of a timeline', () => {
  it('has a few round ticks from zero on, none beyond the end', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 1e7, noNaN: true }), (totalMs) => {
        const ticks = ticksOf(totalMs)
        const step = ticks[1] ?? Number.NaN
        expect(ticks[0]).toBe(0)
        expect(ticks.length).toBeGreaterThanOrEqual(4)
        expect(ticks.length).toBeLessThanOrEqual(8)
        expect(ticks.at(-1)).toBeLessThanOrEqual(totalMs * (1 + 1e-6))
        expect(totalMs - (ticks.at(-1) ?? 0)).toBeLessThan(step * (1 + 1e-6))
        expect(['1', '2', '5']).toContain(step.toExponential(6).charAt(0))
      }),
    )
  })
})

describe('differences', () => {
  const answers = fc.dictionary(
    fc.stringMatching(/^[a-z]{1,6}$/),
    fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string(), { maxLength: 3 })),
  )

  it('of a thing with itself are none', () => {
    fc.assert(
      fc.property(answers, (answer) => {
        expect(findDifferences(answer, structuredClone(answer))).toEqual([])
      }),
    )
  })

  it('the other way round are the same, turned', () => {
    fc.assert(
      fc.property(answers, answers, (left, right) => {
        const there = new Map(findDifferences(left, right).map((one) => [one.path, one]))
        const back = findDifferences(right, left)
        expect(back.map(({ path }) => path).sort()).toEqual([...there.keys()].sort())
        for (const { path, before, after } of back)
          expect([before, after]).toEqual([there.get(path)?.after, there.get(path)?.before])
      }),
    )
  })
})

describe('why a call failed', () => {
  const secret = 'sk-never-shown'

  it('says that the gateway is away, and how to look', () => {
    for (const message of ['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'])
      expect(faultOf(new TypeError(message))).toMatchObject({
        code: 'unreachable',
        message: 'The gateway is not responding.',
        hint: expect.stringContaining('spgw status'),
      })
    // A mistake of the page is not one of the network.
    expect(faultOf(new TypeError('x is not a function')).code).toBe('console')
  })

  it('has what the gateway said, and of its data only what is shown', () => {
    const data = { hint: 'Choose another name.', fields: { name: 'Taken.', limit: 3 }, request_id: 'req_1', secret }
    const fault = faultOf(new ORPCError('CONFLICT', { message: 'There is one already.', data }))
    expect(fault).toEqual({
      code: 'conflict',
      message: 'There is one already.',
      hint: 'Choose another name.',
      fields: { name: 'Taken.', limit: '3' },
      requestId: 'req_1',
      reason: null,
    })
    expect(JSON.stringify(fault)).not.toContain(secret)
    expect(faultOf(new ORPCError('INTERNAL_SERVER_ERROR', { data: 'odd' }))).toMatchObject({
      hint: 'Try again.',
      fields: {},
    })
  })

  it('tells a session that has ended from a refusal', () => {
    const answered = (status: number) => new AuthFault(new Response(null, { status }), {})
    expect(isSignedOut(answered(401))).toBe(true)
    expect(isSignedOut(answered(403))).toBe(false)
    expect(isSignedOut(new ORPCError('UNAUTHORIZED', { status: 401 }))).toBe(true)
    expect(isSignedOut(new Error('401'))).toBe(false)
  })

  it('has the wait that sign-in asks for', () => {
    const limited = new Response(null, { status: 429, headers: { 'retry-after': '30' } })
    const fault = new AuthFault(limited, { code: 'too_many', message: 'Too many attempts.', hint: '' })
    expect([fault.retryAfter, fault.code, fault.message, fault.hint]).toEqual([
      30,
      'too_many',
      'Too many attempts.',
      'Try again.',
    ])
    expect(new AuthFault(new Response(null, { status: 502 }), {}).message).toContain('502')
  })
})
