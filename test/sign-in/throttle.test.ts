import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { networkOf } from '../../src/sign-in/network.ts'
import { SignInRefused } from '../../src/sign-in/refusal.ts'
import { type SignInAttempt, Throttle } from '../../src/sign-in/throttle.ts'

const start = Date.parse('2026-03-10T12:00:00Z')
const hourMs = 3600_000

/** The seconds that one has to wait; 0: the attempt is made, and fails. */
function guess(throttle: Throttle, name: string | null, address: string, now: number): number {
  try {
    throttle.begin(name, address, now)
    return 0
  } catch (error) {
    if (error instanceof SignInRefused && error.code === 'throttled') return error.retryAfterSeconds ?? Number.NaN
    throw error
  }
}

/** Guesses as fast as it may, so often; the pauses before each. */
function hurry(throttle: Throttle, name: string | null, addressOf: (time: number) => string, times: number): number[] {
  const pauses: number[] = []
  let now = start
  for (let time = 0; time < times; time++) {
    const wait = guess(throttle, name, addressOf(time), now)
    pauses.push(wait)
    now += wait * 1000
    if (wait > 0) expect(guess(throttle, name, addressOf(time), now)).toBe(0)
  }
  return pauses
}

const elsewhere = (time: number) => `203.0.113.${time}`

describe('attempts in the name of one', () => {
  it('wait twice as long each after five, and never more than a minute', () => {
    const pauses = hurry(new Throttle(), 'anna', elsewhere, 14)
    expect(pauses).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60])
  })

  it('are counted together, however the name is written', () => {
    const throttle = new Throttle()
    for (const name of ['anna', 'Anna', 'ANNA', 'aNNa', 'anna']) guess(throttle, name, elsewhere(0), start)
    expect(guess(throttle, 'ANNa', elsewhere(1), start)).toBe(1)
    expect(guess(throttle, 'bob', elsewhere(1), start)).toBe(0)
  })

  it('begin anew once one was right, or after four minutes without any', () => {
    const throttle = new Throttle()
    for (let time = 0; time < 5; time++) guess(throttle, 'anna', elsewhere(time), start)
    throttle.begin('anna', elsewhere(9), start + 1000).succeed()
    expect(hurry(throttle, 'anna', elsewhere, 5)).toEqual([0, 0, 0, 0, 0])
    const later = start + 4 * 60_000 + 1
    for (let time = 0; time < 5; time++) expect(guess(throttle, 'anna', elsewhere(time), later)).toBe(0)
    expect(guess(throttle, 'anna', elsewhere(9), later)).toBe(1)
  })

  it('that were none are not counted, those before them are', () => {
    const throttle = new Throttle()
    for (let time = 0; time < 4; time++) guess(throttle, 'anna', elsewhere(time), start)
    for (let time = 0; time < 20; time++) throttle.begin('anna', elsewhere(time), start).cancel()
    expect(guess(throttle, 'anna', elsewhere(20), start)).toBe(0)
    expect(guess(throttle, 'anna', elsewhere(21), start)).toBe(1)
  })
})

describe('attempts from one network', () => {
  it('wait after fifteen, up to a quarter of an hour, whatever they name', () => {
    const throttle = new Throttle()
    const waits: number[] = []
    let now = start
    for (let time = 0; time < 28; time++) {
      const wait = guess(throttle, `name ${time}`, '203.0.113.7', now)
      waits.push(wait)
      now += wait * 1000
      if (wait > 0) guess(throttle, `again ${time}`, '203.0.113.7', now)
    }
    expect(waits).toEqual([...Array(15).fill(0), 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900])
  })

  it('are no fewer because one of them was right', () => {
    const throttle = new Throttle()
    for (let time = 0; time < 14; time++) guess(throttle, `name ${time}`, '203.0.113.7', start)
    for (let time = 0; time < 3; time++) throttle.begin('anna', '203.0.113.7', start).succeed()
    expect(guess(throttle, 'bob', '203.0.113.7', start)).toBe(0)
    expect(guess(throttle, 'carla', '203.0.113.7', start)).toBe(1)
  })

  it.each([
    ['2001:db8::1', '2001:db8::ffff:1', true],
    ['2001:db8:0:0:1::', '2001:db8::2', true],
    ['2001:db8:0:1::1', '2001:db8::1', false],
    ['::ffff:203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['::1', '::2', true],
    ['fe80::1%eth0', 'fe80::2%eth0', true],
  ])('%s and %s are the same one: %s', (one, other, same) => {
    expect(networkOf(one) === networkOf(other)).toBe(same)
  })
})

describe('a clock that is set back', () => {
  it('keeps nobody waiting who had nothing to wait for', () => {
    const throttle = new Throttle()
    throttle.begin('anna', '203.0.113.7', start).succeed()
    guess(throttle, 'bob', '203.0.113.7', start)
    expect(guess(throttle, 'anna', '203.0.113.7', start - hourMs)).toBe(0)
    expect(guess(throttle, 'bob', '203.0.113.7', start - hourMs)).toBe(0)
  })

  it('makes nobody wait longer than the pause that was due', () => {
    const throttle = new Throttle()
    for (let time = 0; time < 7; time++) guess(throttle, 'anna', elsewhere(time), start + time * 1000)
    const wait = guess(throttle, 'anna', elsewhere(9), start - 24 * hourMs)
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(4)
    expect(guess(throttle, 'anna', elsewhere(9), start - 24 * hourMs + wait * 1000)).toBe(0)
  })
})

type Step = { name: number; address: number; laterMs: number; end: 'fail' | 'succeed' | 'cancel'; endsLate: boolean }

const step: fc.Arbitrary<Step> = fc.record({
  name: fc.nat(2),
  address: fc.nat(2),
  laterMs: fc.oneof(fc.constant(0), fc.integer({ min: -hourMs, max: hourMs }), fc.nat(3000)),
  end: fc.constantFrom('fail', 'succeed', 'cancel'),
  endsLate: fc.boolean(),
})

it('lets in whoever has waited as long as was said, however the clock goes and attempts end', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const throttle = new Throttle()
      const open: (() => void)[] = []
      let now = start
      for (const { name, address, laterMs, end, endsLate } of steps) {
        now += laterMs
        let attempt: SignInAttempt
        try {
          attempt = throttle.begin(`name ${name}`, elsewhere(address), now)
        } catch (error) {
          if (!(error instanceof SignInRefused)) throw error
          const wait = error.retryAfterSeconds ?? Number.NaN
          expect(wait).toBeGreaterThan(0)
          expect(wait).toBeLessThanOrEqual(900)
          now += wait * 1000 - 1000
          expect(guess(throttle, `name ${name}`, elsewhere(address), now)).toBe(1)
          now += 1000
          expect(guess(throttle, `name ${name}`, elsewhere(address), now)).toBe(0)
          continue
        }
        const finish = () => end !== 'fail' && attempt[end]()
        if (endsLate) open.push(finish)
        else finish()
      }
      for (const finish of open) finish()
    }),
    { numRuns: 100 },
  )
})

it('remembers the last ten thousand names, so that strangers fill no memory', () => {
  const throttle = new Throttle()
  for (let time = 0; time < 5; time++) guess(throttle, 'anna', elsewhere(time), start)
  for (let time = 0; time < 10_000; time++) guess(throttle, `name ${time}`, `2001:db8:0:${time.toString(16)}::1`, start)
  expect(guess(throttle, 'anna', elsewhere(9), start)).toBe(0)
})
