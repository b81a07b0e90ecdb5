import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Family, writeExposition } from '../../src/console/exposition.ts'
import { wantsOpenMetrics, writeOpenMetrics } from '../../src/console/open-metrics.ts'
import { TrafficMetrics } from '../../src/console/traffic-metrics.ts'
import type { TrafficTally } from '../../src/core/traffic-tally.ts'

interface Read {
  name: string
  labels: Record<string, string>
  value: string
}

/** As the formats say how they are read: what is not of them throws. */
function readLines(text: string): Read[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const match = /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)(?: # .*)?$/.exec(line)
      if (match === null) throw new Error(`no line of the format: ${line}`)
      const [, name = '', inner = '', value = ''] = match
      const pairs = [...inner.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => {
        return [label, text.replace(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))]
      })
      return { name, labels: Object.fromEntries(pairs), value }
    })
}

const value = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, Infinity, -Infinity, Number.NaN, 1e21, 5e-324))
const label = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom('"', '\\', '\\n', '\n', 'a="b"', '{}', ' # ', '漢', ''),
)
const families: fc.Arbitrary<Family[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('x', 'x_total', 'y_seconds', 'z_total'),
    type: fc.constantFrom('counter', 'gauge'),
    help: fc.string({ maxLength: 12 }),
    samples: fc.array(fc.record({ labels: fc.dictionary(fc.constantFrom('a', 'b_c'), label), value }), {
      maxLength: 3,
    }),
  }),
  { selector: ({ name }) => name },
)

describe('metrics in either format', () => {
  it.each([
    ['Prometheus', writeExposition],
    ['OpenMetrics', writeOpenMetrics],
  ])('are read as what they were, whatever clients and providers are called: %s', (_name, write) => {
    fc.assert(
      fc.property(families, (given) => {
        const written = write(given)
        const wanted = given.flatMap(({ name, samples }) =>
          samples.map(({ labels = {}, value: number }) => ({ name, labels: { ...labels }, number })),
        )
        const read = readLines(written)
        expect(read.map(({ name, labels }) => ({ name, labels }))).toEqual(
          wanted.map(({ name, labels }) => ({ name, labels })),
        )
        for (const [place, each] of read.entries()) {
          const number = Number(each.value.replace('Inf', 'Infinity'))
          expect(Object.is(number, wanted[place]?.number) || number === wanted[place]?.number).toBe(true)
        }
        // One line each of help and type for a family, and none of one that has nothing to say.
        const kinds = written.match(/^# TYPE .*$/gm) ?? []
        expect(kinds).toHaveLength(given.filter(({ samples }) => samples.length > 0).length)
        expect(new Set(kinds.map((line) => line.split(' ')[2])).size).toBe(kinds.length)
        expect(written === '' || written.endsWith('\n')).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  it('asks for the one that is named and wanted, whichever else is', () => {
    const weight = fc.constantFrom('', ';q=1', ';q=0.5', '; q=0.001', ';q=0', ';q=0.000')
    const version = fc.constantFrom('', ';version=1.0.0', '; version=0.0.1; charset=utf-8')
    const type = fc.constantFrom('application/openmetrics-text', 'text/plain', '*/*', 'application/openmetrics-text2')
    fc.assert(
      fc.property(fc.array(fc.tuple(type, version, weight), { maxLength: 4 }), (ranges) => {
        const wanted = ranges.some(([name, , q]) => name === 'application/openmetrics-text' && !/q=0(\.0+)?$/.test(q))
        expect(wantsOpenMetrics(ranges.map((parts) => parts.join('')).join(', '))).toBe(wanted)
      }),
      { numRuns: 300 },
    )
  })
})

describe('the sums of traffic', () => {
  const tally = fc.record({
    provider: fc.constantFrom(null, 'openai', 'azure'),
    model: fc.oneof(
      fc.constantFrom(null, 'm', 'n'),
      fc.string({ minLength: 201, maxLength: 210 }),
      fc.nat(400).map(String),
    ),
    status: fc.constantFrom('2xx', '5xx', ''),
    count: fc.integer({ min: 1, max: 9 }),
    input: fc.nat(1000),
  })

  it('lose nothing and double nothing, however many names there are', () => {
    fc.assert(
      fc.property(fc.array(tally, { maxLength: 300 }), (tallies) => {
        const metrics = new TrafficMetrics()
        const tokens = { output: 0, cache_read: 0, cache_write: 0, reasoning: 0 }
        for (const { input, ...each } of tallies) {
          const served = [{ ...each, lane: 'openai' as const, tokens: { ...tokens, input } }]
          const none: TrafficTally = { served, errors: [], durations: [], firstBytes: [], seconds: [], attempts: [] }
          metrics.add(none)
        }
        const samplesOf = (name: string) => metrics.families().find((family) => family.name === name)?.samples ?? []
        const sum = (name: string) => samplesOf(name).reduce((all, sample) => all + sample.value, 0)
        expect(sum('spgw_records_total')).toBe(tallies.reduce((all, { count }) => all + count, 0))
        expect(sum('spgw_tokens_total')).toBe(tallies.reduce((all, { input }) => all + input, 0))
        const models = new Set(samplesOf('spgw_tokens_total').map(({ labels }) => labels?.model))
        expect(models.size).toBeLessThanOrEqual(202)
        expect([...models].every((model) => (model ?? '').length <= 200)).toBe(true)
        const keys = samplesOf('spgw_tokens_total').map(({ labels }) => JSON.stringify(labels))
        expect(new Set(keys).size).toBe(keys.length)
      }),
      { numRuns: 40 },
    )
  })
})
