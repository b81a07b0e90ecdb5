import type { Key, UsageSum } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { findKey, findListScope, findScope } from '../find.ts'
import { loadNames } from '../names.ts'

interface UsageInput {
  key?: string | undefined
  project?: string | undefined
  environment?: string | undefined
  all: boolean
}

/**
 * From the records, which are what requests are charged by. No policy limits any of it yet; where one will, its figures
 * are those of the shared counters, and stand in `limits`.
 */
export async function showKeyUsage(context: AdminContext, input: UsageInput, now = new Date()) {
  const keys = await chooseKeys(context, input)
  const [one] = input.key === undefined ? [] : keys
  await context.runtime.ingest()
  const names = await loadNames(context)
  const day = startOf(now, 'day')
  const filter = one === undefined ? { since: day } : { since: startOf(now, 'month'), key: one.id }
  const rows = await context.store.records.usage({ ...filter, limit: 1 }, day)
  const sums = new Map(rows.map((row) => [row.id, row]))
  const ends = { day: endOf(now, 'day'), month: endOf(now, 'month') }
  return keys.map((key) => ({
    key: { id: key.id, name: key.name },
    project: names.project(key.projectId),
    environment: names.environment(key.environmentId),
    limits: [],
    today: showSum(sums.get(key.id)?.lately, ends.day),
    month: one === undefined ? null : showSum(sums.get(key.id)?.whole, ends.month),
    last_used_at: key.lastUsedAt,
  }))
}

async function chooseKeys(context: AdminContext, input: UsageInput): Promise<Key[]> {
  if (input.key !== undefined) {
    const { project = 'default', environment = 'production' } = input
    return [await findKey(context, input.key, await findScope(context, { project, environment }))]
  }
  const scope = await findListScope(context, input)
  const keys = await context.store.keys.list(scope.projectId, null)
  return keys.filter((key) => key.revokedAt === null && scope.includes(key))
}

function showSum({ requests, tokens, usd }: UsageSum = { requests: 0, tokens: 0, usd: null }, resetsAt: string) {
  return { requests, tokens, usd, resets_at: resetsAt }
}

function startOf(now: Date, unit: 'day' | 'month'): string {
  const day = unit === 'day' ? now.getUTCDate() : 1
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), day)).toISOString()
}

function endOf(now: Date, unit: 'day' | 'month'): string {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  return new Date(unit === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1)).toISOString()
}
