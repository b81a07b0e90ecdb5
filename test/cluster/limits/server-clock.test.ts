import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bucketMs } from '../../../src/cluster/limits/call.ts'
import { ServerClock } from '../../../src/cluster/limits/server-clock.ts'

/** A server whose clock is off by `offset` and runs faster or slower than this node's by `rate`; its replies have whole milliseconds. */
const serverOf = (offset: number, rate: number) => (at: number) => at * (1 + rate) + offset

const start = 1_000_000

describe('the time of the server', () => {
  const exchange = fc.record({
    /** Since the one before. */
    pause: fc.double({ min: 0, max: 60_000, noNaN: true }),
    there: fc.double({ min: 0, max: 400, noNaN: true }),
    back: fc.double({ min: 0, max: 400, noNaN: true }),
    later: fc.double({ min: 0, max: 30_000, noNaN: true }),
  })

  it('is always within what is known of it, however late replies come', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -5_000_000, max: 5_000_000, noNaN: true }),
        fc.double({ min: -0.0001, max: 0.0001, noNaN: true }),
        fc.array(exchange, { minLength: 1, maxLength: 12 }),
        (offset, rate, exchanges) => {
          const server = serverOf(offset, rate)
          const clock = new ServerClock(start)
          let now = start
          for (const [place, { pause, there, back, later }] of exchanges.entries()) {
            const sentAt = now + pause
            const reply = Math.floor(server(sentAt + there))
            now = sentAt + there + back
            if (place === 0) clock.change(reply, sentAt, now)
            else expect(clock.hear(reply, sentAt, now)).toBe(true)
            for (const at of [now, now + later]) {
              const { low, high } = clock.span(at)
              expect(low).toBeLessThanOrEqual(server(at) + 1e-6)
              expect(high).toBeGreaterThanOrEqual(server(at) - 1e-6)
              const bucket = clock.bucket(at)
              if (bucket !== null) expect(bucket).toBe(Math.floor(server(at) / bucketMs))
            }
          }
        },
      ),
    )
  })

  it('is known the better the faster replies come, and no worse by a slow one', () => {
    const clock = new ServerClock(start)
    const width = (now: number) => {
      const { low, high } = clock.span(now)
      return high - low
    }
    clock.change(start + 700, start, start + 500)
    const first = width(start + 500)
    clock.hear(start + 1005, start + 1000, start + 1010)
    const fast = width(start + 1010)
    expect(fast).toBeLessThan(first)
    clock.hear(start + 2005, start + 1500, start + 2400)
    expect(width(start + 2400)).toBeLessThan(fast + 2)
  })

  it.each([-3_600_000, -1500, 2500, 3_600_000])(
    'is not believed where the clock of the server was set by %d ms',
    (by) => {
      const clock = new ServerClock(start)
      clock.change(start, start, start + 2)
      expect(clock.hear(start + 1000 + by, start + 1000, start + 1002)).toBe(false)
      // What was known stays.
      expect(clock.span(start + 1002).low).toBeGreaterThan(start + 990)
    },
  )

  it('of another server says by how much more it may be', () => {
    const clock = new ServerClock(start)
    clock.change(start, start, start)
    const ahead = clock.change(start + 5000, start + 100, start + 110)
    expect(ahead).toBeGreaterThan(4900)
    expect(ahead).toBeLessThan(4930)
    expect(clock.hear(start + 5100, start + 200, start + 201)).toBe(true)
  })
})
