import { type SelectQueryBuilder, sql } from 'kysely'
import { idTime } from '../../core/ids.ts'
import type { RecordFilter } from '../api.ts'
import type { Database, Schema } from '../schema.ts'
import type { LabelChoice } from './record-labels.ts'
import { statusRange } from './status-range.ts'

export interface Window {
  /** Newest id of the window, exclusive; null is no bound. */
  below: string | null
  /** Oldest id, inclusive. */
  from: string
}

/** The records of one window that the filter lets through; whoever calls selects and sorts. */
export function selectMatching(db: Database, filter: RecordFilter, labels: LabelChoice | null, window: Window) {
  const inside = db.selectFrom('records').where('id', '>=', window.from)
  return selectFiltered(window.below === null ? inside : inside.where('id', '<', window.below), filter, labels)
}

type RecordQuery = SelectQueryBuilder<Schema, 'records', unknown>

/** Of those of a query, what the filter lets through. */
export function selectFiltered(among: RecordQuery, filter: RecordFilter, labels: LabelChoice | null): RecordQuery {
  let query = among
  if (labels !== null)
    query = query.where(sql<boolean>`label in (select value from json_each(${JSON.stringify(labels.numbers)}))`)
  if (labels?.named != null) query = query.where(isOf(labels.named))
  for (const [name, value] of Object.entries(filter.tags ?? {})) query = query.where(hasTag(name, value))
  if (filter.route !== undefined) query = query.where(hasRoute(filter.route))
  const { state, error, status, since, until, id } = filter
  // As text and by id: those have an index of their own, and there are few.
  if (state === 'admitted') query = query.where(sql<boolean>`id in (select id from records where state = 'admitted')`)
  else if (state !== undefined) query = query.where('state', '=', state)
  if (error !== undefined) query = query.where('error_code', '=', error)
  if (filter.errors) query = query.where(sql<boolean>`(error_code is not null or status >= 400)`)
  if (filter.slowerThanMs !== undefined) query = query.where('duration_ms', '>=', filter.slowerThanMs)
  if (filter.fellBack) query = query.where(fellBack)
  if (filter.failedAt !== undefined) query = query.where(failedAt(filter.failedAt))
  if (since !== undefined) query = query.where('time', '>=', new Date(since).toISOString())
  if (until !== undefined) query = query.where('time', '<', new Date(until).toISOString())
  if (status !== undefined) {
    const [low, high] = statusRange(status)
    query = query.where('status', '>=', low).where('status', '<=', high)
  }
  if (id !== undefined) {
    query =
      idTime(id) === null ? query.where(sql<boolean>`id like ${containing(id)} escape '!'`) : query.where('id', '=', id)
  }
  return query
}

/** A name is one project's at a time. */
function isOf(projects: readonly string[]) {
  return sql<boolean>`exists (select 1 from record_labels l join project_names n on n.name = l.project
    where l.number = label and n.project_id in (select value from json_each(${JSON.stringify(projects)}))
      and time >= n.since and (n.until is null or time < n.until))`
}

/** Most records are told by a look at their text; only what may have the tag is handed to the function. */
function hasTag(name: string, value: string | null) {
  const written = value === null ? `${JSON.stringify(name)}:` : `${JSON.stringify(name)}:${JSON.stringify(value)}`
  return sql<boolean>`case when instr(record_json, ${written}) > 0 then has_tag(record_json, ${name}, ${value}) else 0 end`
}

/** In the figures of attempts, whose strings cannot hold these words: quotation marks are escaped. */
const fellBack = sql<boolean>`instr(attempts_json, '"outcome":"fell_back"') > 0`

function failedAt(provider: string) {
  const written = `"provider":${JSON.stringify(provider)}`
  return sql<boolean>`case when instr(attempts_json, ${written}) > 0 then exists (select 1 from json_each(attempts_json)
    where json_extract(value, '$.provider') = ${provider}
      and json_extract(value, '$.outcome') in ('failed', 'fell_back')) else 0 end`
}

function hasRoute(route: string) {
  const written = `"route":${JSON.stringify(route)}`
  return sql<boolean>`case when instr(record_json, ${written}) > 0 then json_extract(record_json, '$.route') = ${route} else 0 end`
}

function containing(text: string): string {
  return `%${text.toLowerCase().replace(/[!%_]/g, '!$&')}%`
}
