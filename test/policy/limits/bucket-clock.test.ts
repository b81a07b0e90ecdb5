import { afterEach, describe, expect, it, vi } from 'vitest'
import { BucketClock, sharedTime } from '../../../src/policy/limits/bucket-clock.ts'

function open() {
  const memory = BucketClock.memory()
  return { clock: new BucketClock(memory), publisher: new BucketClock(memory), words: new BigInt64Array(memory) }
}
afterEach(() => vi.restoreAllMocks())

describe('the bucket of a request', () => {
  it('is known only while it is certain', () => {
    const { clock, publisher } = open()
    expect(clock.bucketAt(0)).toBeNull()
    publisher.publish(7, 100.0004, 200.0009)
    const moments = [100, 100.0005, 100.001, 200, 200.0005]
    expect(moments.map((now) => clock.bucketAt(now))).toEqual([null, null, 7, null, null])
    expect(clock.bucketAt(199.999)).toBe(7)
  })

  it('ends when the next begins, and counts for six buckets more', () => {
    const { clock, publisher } = open()
    publisher.publish(7, 0, 10_000)
    expect([4000, 10_000, 12_000].map((now) => clock.untilNext(now))).toEqual([6000, 0, 0])
    expect([7, 5, 0].map((bucket) => clock.livesFor(bucket, 4000))).toEqual([66_000, 46_000, 0])
    // Where clocks are far apart, what is certain may reach further than a bucket does.
    publisher.publish(7, 0, 50_000)
    expect(clock.untilNext(1000)).toBe(10_000)
  })

  it('comes with why nothing is granted in it', () => {
    const { clock, publisher } = open()
    for (const apart of ['cut off', 'opening', null] as const) {
      publisher.publish(7, 0, 10_000, apart)
      expect(clock.apart).toBe(apart)
    }
  })

  it('is never that of one moment with the end of another', () => {
    const { clock, publisher } = open()
    publisher.publish(7, 0, 100)
    const load = Atomics.load
    let isFirst = true
    // The next is told while the number of this one is read.
    vi.spyOn(Atomics, 'load').mockImplementation((...place: Parameters<typeof load>) => {
      const found = load(...place)
      if (place[1] === 1 && isFirst) {
        isFirst = false
        publisher.publish(8, 200, 300)
      }
      return found
    })
    expect(clock.bucketAt(250)).toBe(8)
  })

  it('is not known behind a thread that was stopped while it wrote, until another tells it', () => {
    const { clock, publisher, words } = open()
    publisher.publish(170_000_000, 0, 100)
    Atomics.add(words, 0, 1n)
    expect([clock.bucketAt(50), clock.apart, clock.untilNext(50)]).toEqual([null, null, 0])
    expect(clock.livesFor(170_000_000, 50)).toBe(70_000)
    publisher.publish(170_000_001, 100, 200, 'opening')
    expect([clock.bucketAt(150), clock.apart]).toEqual([170_000_001, 'opening'])
  })
})

it('the time that threads share does not depend on when they began', () => {
  const machine = Number(process.hrtime.bigint()) / 1e6
  const began = vi.spyOn(performance, 'now').mockReturnValue(1e9)
  const now = sharedTime()
  began.mockReturnValue(1e9 + 3_600_000)
  // A minute is nothing beside what any other clock would tell.
  expect(Math.abs(now() - machine - 3_600_000)).toBeLessThan(60_000)
})
