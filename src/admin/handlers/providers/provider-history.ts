import type { AdminContext } from '../context.ts'
import { findProvider } from '../find.ts'
import { readMoment } from '../moments.ts'

/** Newest first. The one that held when the span began stands at its end: without it a chart would begin with nothing. */
export async function showProviderHistory(context: AdminContext, input: { name: string; since: string }) {
  const provider = await findProvider(context, input.name)
  const since = readMoment(input.since, 'back')
  const states = await context.store.providers.states(provider.id, '')
  const before = states.findLast(({ time }) => time < since)
  const found = states.filter(({ time }) => time >= since)
  const all = [...(before === undefined ? [] : [before]), ...found]
  if (all.length > 0) return all.reverse()
  // Of a provider that is older than its history.
  const { state, reason, since: time } = provider.readiness
  return [{ time: time ?? provider.createdAt, state, reason }]
}
