import { sql } from 'kysely'
import type { Database } from '../schema.ts'

/** No id has it. */
const last = '\u{10ffff}'
/** `req_` and seven of the ten characters of time: 33 seconds have them in common. */
const periodLength = 'req_'.length + 7

/** What ids of the same half minute have in common; sorted as text, periods are sorted by time. */
export function periodOf(id: string): string {
  return id.slice(0, periodLength)
}

/** The latest period in which one of the labels occurs, up to that of `id` itself; null is no bound. */
export async function latestPeriod(db: Database, labels: readonly number[], id: string | null): Promise<string | null> {
  const upTo = id === null ? last : periodOf(id)
  // One look into the index for each label, where a plain `in` would read all periods of them.
  const { rows } = await sql<{ period: string | null }>`
    select max((select max(period) from label_periods where label = value and period <= ${upTo})) as period
    from json_each(${JSON.stringify(labels)})`.execute(db)
  return rows[0]?.period ?? null
}

/** Above every id of the period, and below all later ones. */
export function endOf(period: string): string {
  return period + last
}
