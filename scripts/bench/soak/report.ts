import { renderTable } from '../report.ts'
import { median, quantile } from '../statistics.ts'
import type { Tally } from './crowd.ts'
import type { Sample } from './sample.ts'
import { fitTrend, isFlat, type Trend } from './trend.ts'

/** What may not grow for ever: its title, the unit it is shown in, how many of ours make one of those. */
interface Watched {
  key: keyof Sample
  title: string
  unit: string
  size: number
  /** Until then it may grow; where it is not said, for the first half. */
  settledAfterMs?: number
}

/**
 * Records are removed every ten minutes: the database has its full size when that has happened twice, since from then on
 * what comes takes the place of what went.
 */
const databaseSettledMs = 21 * 60_000

const watched: readonly Watched[] = [
  { key: 'residentBytes', title: 'resident memory', unit: 'MB', size: 1e6 },
  { key: 'heapBytes', title: 'heap of the control plane', unit: 'MB', size: 1e6 },
  { key: 'storeHeapBytes', title: 'heap of the store, after full collections', unit: 'MB', size: 1e6 },
  { key: 'dataPlaneHeapBytes', title: 'heap of the data plane, after full collections', unit: 'MB', size: 1e6 },
  { key: 'descriptors', title: 'file descriptors', unit: '', size: 1 },
  { key: 'journalBytes', title: 'journal', unit: 'MB', size: 1e6 },
  { key: 'databaseBytes', title: 'database', unit: 'MB', size: 1e6, settledAfterMs: databaseSettledMs },
  { key: 'walBytes', title: 'write-ahead log', unit: 'MB', size: 1e6 },
  { key: 'inFlight', title: 'requests in flight', unit: '', size: 1 },
]
const hourMs = 3_600_000
/** Shorter than that, a slope is noise. */
const shortestHours = 5 / 60

interface Judged {
  trend: Trend
  verdict: 'flat' | 'GROWS' | 'too short'
}

function evaluate({ key, size, settledAfterMs }: Watched, samples: readonly Sample[]): Judged {
  const halfMs = (samples[0]!.atMs + samples.at(-1)!.atMs) / 2
  const settled = samples.filter((sample) => sample.atMs >= (settledAfterMs ?? halfMs) && !Number.isNaN(sample[key]))
  const hours = settled.map(({ atMs }) => atMs / hourMs)
  const values = settled.map((sample) => sample[key] / size)
  const trend = fitTrend(hours, values)
  const length = (hours.at(-1) ?? 0) - (hours[0] ?? 0)
  return { trend, verdict: length < shortestHours ? 'too short' : isFlat(trend, length) ? 'flat' : 'GROWS' }
}

/** Before, during and after, and the slope once it should have settled. */
export function renderWatched(before: Sample, samples: readonly Sample[], after: Sample): string {
  const seen = watched.filter(({ key }) => samples.some((sample) => !Number.isNaN(sample[key])))
  const rows = seen.map((each) => {
    const { key, title, unit, size } = each
    const { trend, verdict } = evaluate(each, samples)
    const show = (value: number) => (Number.isNaN(value) ? '–' : value.toFixed(unit === '' ? 0 : 1))
    const values = samples.map((sample) => sample[key] / size).filter((value) => !Number.isNaN(value))
    const figures = [before[key] / size, median(values), Math.max(...values), after[key] / size]
    const slope = `${trend.perHour < 0 ? '−' : '+'}${Math.abs(trend.perHour).toFixed(1)} ± ${trend.error.toFixed(1)}`
    return [title, unit, ...figures.map(show), verdict === 'too short' ? '–' : slope, verdict]
  })
  return renderTable(
    ['watched', 'unit', 'idle before', 'median', 'highest', 'idle after', 'per hour, once settled', 'verdict'],
    rows,
  )
}

/** Names of what grows. */
export function listGrowing(samples: readonly Sample[]): string[] {
  return watched.filter((each) => evaluate(each, samples).verdict === 'GROWS').map(({ title }) => title)
}

/** Delays, lag and cost in the first and in the last quarter: what gets slower shows here. */
export function renderPace(samples: readonly Sample[], requestsPerSecond: number): string {
  const quarter = Math.max(2, Math.floor(samples.length / 4))
  const [first, last] = [samples.slice(0, quarter), samples.slice(-quarter)]
  const row = (title: string, of: (part: readonly Sample[]) => number) => [
    title,
    ...[first, last, samples].map((part) => of(part).toFixed(1)),
  ]
  const middle = (key: keyof Sample) => (part: readonly Sample[]) => median(part.map((sample) => sample[key]))
  const highest = (key: keyof Sample) => (part: readonly Sample[]) => Math.max(...part.map((sample) => sample[key]))
  const perSecond = (key: 'cpuMs' | 'waitedMs') => (part: readonly Sample[]) => {
    const [from, to] = [part[0]!, part.at(-1)!]
    return ((to[key] - from[key]) / (to.atMs - from.atMs)) * 1000
  }
  return renderTable(
    ['ms, if not said otherwise', 'first quarter', 'last quarter', 'all'],
    [
      row('data plane’s event-loop delay, p50', middle('probeP50Ms')),
      row('data plane’s event-loop delay, p99 of 10 s, median', middle('probeP99Ms')),
      row('the same, worst 10 s', highest('probeP99Ms')),
      row('data plane ready to run without a core, ms a second', perSecond('waitedMs')),
      row('control plane’s event-loop delay, p99 of 10 s, median', middle('controlP99Ms')),
      row('the same, worst 10 s', highest('controlP99Ms')),
      row('records waiting to be stored, p99', (part) =>
        quantile(
          part.map(({ lagMs }) => lagMs),
          0.99,
        ),
      ),
      row('CPU µs a request', (part) => (perSecond('cpuMs')(part) * 1000) / requestsPerSecond),
    ],
  )
}

export function renderTallies(tallies: readonly Tally[]): string {
  return renderTable(
    ['clients', 'as they should', 'wrong'],
    tallies.map(({ name, done, wrong }) => [name, done.toLocaleString('en-US'), String(wrong)]),
  )
}
