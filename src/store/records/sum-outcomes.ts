import { type SelectQueryBuilder, sql } from 'kysely'
import type { RecordFilter } from '../api.ts'
import type { Schema } from '../schema.ts'
import type { LabelChoice } from './record-labels.ts'
import { statusRange } from './status-range.ts'

type SumQuery = SelectQueryBuilder<Schema, 'record_sums', unknown>

/** Of the sums of a query, those of the labels and outcomes that the filter lets through. */
export function selectOutcomes(among: SumQuery, filter: RecordFilter, chosen: LabelChoice | null): SumQuery {
  const { state, error, errors, status } = filter
  let query = among
  if (chosen !== null)
    query = query.where(sql<boolean>`label in (select value from json_each(${JSON.stringify(chosen.numbers)}))`)
  if (state !== undefined) query = query.where('state', '=', state)
  if (error !== undefined) query = query.where('error_code', '=', error)
  if (errors) query = query.where(sql<boolean>`(error_code <> '' or status >= 400)`)
  if (status !== undefined) {
    const [low, high] = statusRange(status)
    query = query.where('status', '>=', low).where('status', '<=', high)
  }
  return query
}
