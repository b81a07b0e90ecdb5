import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DurationCounts, durationStep } from '../../../src/store/records/duration-counts.ts'
import { addLatencies, changeLatencies, firstBytePlace } from '../../../src/store/records/latency-blob.ts'

const milliseconds = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 2 ** 31 - 1 }))
const times = fc.record({
  durations: fc.array(milliseconds),
  firstBytes: fc.array(milliseconds),
  weight: fc.integer({ min: 1, max: 1e9 }),
})
type Times = typeof times extends fc.Arbitrary<infer Made> ? Made : never

function countsOf({ durations, firstBytes, weight }: Times): Map<number, number> {
  const counts = new Map<number, number>()
  const places = [...durations.map(durationStep), ...firstBytes.map((each) => firstBytePlace(durationStep(each)))]
  for (const place of places) counts.set(place, (counts.get(place) ?? 0) + weight)
  return counts
}

const empty = () => ({ durations: new DurationCounts(), firstBytes: new DurationCounts() })
const shares = [0.01, 0.5, 0.95, 1] as const
const percentiles = ({ durations, firstBytes }: ReturnType<typeof empty>) => [
  durations.percentiles(shares),
  firstBytes.percentiles(shares),
]

describe('latencies as bytes', () => {
  it('add up several that are joined as if each were added by itself, and take them away again', () => {
    fc.assert(
      fc.property(fc.array(times, { minLength: 1 }), fc.array(times), (all, some) => {
        const joined = all.flatMap((each, place) => [
          ...(place === 0 ? [] : [Buffer.of(0, 0)]),
          changeLatencies(null, countsOf(each)),
        ])
        const [once, one] = [empty(), empty()]
        for (const each of some) addLatencies(changeLatencies(null, countsOf(each)), 1, once.durations, once.firstBytes)
        addLatencies(Buffer.concat(joined), 1, once.durations, once.firstBytes)
        for (const { durations, firstBytes, weight } of [...some, ...all]) {
          for (const each of durations) one.durations.addStep(durationStep(each), weight)
          for (const each of firstBytes) one.firstBytes.addStep(durationStep(each), weight)
        }
        expect(percentiles(once)).toEqual(percentiles(one))
        addLatencies(Buffer.concat(joined), -1, once.durations, once.firstBytes)
        const without = empty()
        for (const each of some)
          addLatencies(changeLatencies(null, countsOf(each)), 1, without.durations, without.firstBytes)
        expect(percentiles(once)).toEqual(percentiles(without))
      }),
    )
  })
})
