import type { SeriesQuestion } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { invalid } from '../fault.ts'
import { readDuration } from '../moments.ts'
import { type FilterInput, needOtherNodes, readFilter } from './record-filter.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Lengths that a person reads a chart by. Months go by whole days, which have sums of their own in the store. */
const usualSteps = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6].map((count) => count * hour),
  ...[1, 2, 7, 14, 30].map((count) => count * day),
]
const wantedSteps = 60
const mostSteps = 1000
/** Told apart; the rest counts together. */
const mostGroups = 8

interface SeriesInput extends FilterInput {
  step: string
  by: SeriesQuestion['by']
}

export async function readSeries(context: AdminContext, { step, by, ...input }: SeriesInput) {
  if (by === 'node') needOtherNodes(context)
  const filter = await readFilter(context, input)
  const until = filter.until === undefined ? Date.now() : Date.parse(filter.until)
  const since = filter.since === undefined ? until - day : Date.parse(filter.since)
  const stepMs = step === 'auto' ? chooseStep(until - since) : readDuration(step)
  const { from, steps } = laySteps(since, until, stepMs)
  const whole = { ...filter, since: new Date(from).toISOString(), until: new Date(until).toISOString() }
  const groups = await context.store.records.series(whole, { by, from, stepMs, steps, most: mostGroups })
  return { since: whole.since, until: whole.until, step_ms: stepMs, groups }
}

/** An hour back from a moment ago is a little longer than an hour. */
const tolerance = 1.01

/** The shortest usual step that makes no more of them than wanted. */
export function chooseStep(span: number): number {
  return usualSteps.find((step) => span / step <= wantedSteps * tolerance) ?? Math.ceil(span / wantedSteps / day) * day
}

/** The first step is whole: it begins at a multiple of the step, at or before `since`. */
export function laySteps(since: number, until: number, stepMs: number): { from: number; steps: number } {
  if (until <= since) throw invalid('until is not after since.', 'Give a span of time, such as --since 24h.')
  if (stepMs <= 0) throw invalid('The step must be longer than zero.', 'Give a step such as 5m, or auto.')
  const from = Math.floor(since / stepMs) * stepMs
  const steps = Math.ceil((until - from) / stepMs)
  if (steps > mostSteps)
    throw invalid(`That would be ${steps} steps; the maximum is ${mostSteps}.`, 'Give a longer step, or auto.')
  return { from, steps }
}
