import type { AdminContext } from '../context.ts'
import { findProvider } from '../find.ts'
import { readDuration, readMoment } from '../moments.ts'
import { chooseStep, laySteps } from '../requests/request-series.ts'

export async function showProviderAttempts(
  context: AdminContext,
  input: { name?: string | undefined; since: string; step: string },
) {
  const provider = input.name === undefined ? null : (await findProvider(context, input.name)).name
  await context.runtime.ingest()
  const until = Date.now()
  const since = Date.parse(readMoment(input.since, 'back'))
  const stepMs = input.step === 'auto' ? chooseStep(until - since) : readDuration(input.step)
  const { from, steps } = laySteps(since, until, stepMs)
  const window = { since: new Date(from).toISOString(), until: new Date(until).toISOString() }
  const question = { provider, from, stepMs, steps }
  const found = await context.store.records.attemptSeries({ ...window, limit: 1 }, question)
  return { ...window, step_ms: stepMs, ...found }
}
