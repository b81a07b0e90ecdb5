import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { RecordFilter } from '../api.ts'
import type { Schema } from '../schema.ts'
import type { LabelChoice } from './record-labels.ts'
import { statusRange } from './status-range.ts'

type SumQuery = SelectQueryBuilder<Schema, 'record_sums', unknown>

/** Of the sums of a query, those of the labels and outcomes that the filter lets through. */
export function selectOutcomes(among: SumQuery, filter: RecordFilter, chosen: LabelChoice | null): SumQuery {
  return outcomeConditions(filter, chosen).reduce((query, condition) => query.where(condition), among)
}

/** The same as conditions of any table of sums. */
export function outcomeConditions(filter: RecordFilter, chosen: LabelChoice | null): RawBuilder<boolean>[] {
  const { state, error, errors, status } = filter
  const found: RawBuilder<boolean>[] = []
  if (chosen !== null) found.push(sql`label in (select value from json_each(${JSON.stringify(chosen.numbers)}))`)
  if (state !== undefined) found.push(sql`state = ${state}`)
  if (error !== undefined) found.push(sql`error_code = ${error}`)
  if (errors) found.push(sql`(error_code <> '' or status >= 400)`)
  if (status !== undefined) {
    const [low, high] = statusRange(status)
    found.push(sql`status >= ${low} and status <= ${high}`)
  }
  return found
}
