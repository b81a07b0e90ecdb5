import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { idTime, newId } from '../../core/ids.ts'
import type { RecordFilter } from '../api.ts'
import { throwIfStopped } from '../cancellation.ts'
import type { Database } from '../schema.ts'
import { endOf, latestPeriod } from './label-periods.ts'
import type { LabelChoice } from './record-labels.ts'

/** Ids looked at in one statement: a few milliseconds, then it is somebody else's turn. */
const windowIds = 2000
/** An id is made when its request arrives; `since` and `until` leave it this much room. */
export const idSlackMs = 60_000

interface Window {
  /** Newest id of the window, exclusive; null is no bound. */
  below: string | null
  /** Oldest id, inclusive. */
  from: string
}

/**
 * Slices of the records, newest first, so that a long search never holds the thread. Where few labels match, it goes
 * on where one of them next occurs.
 */
export async function* recordWindows(
  db: Database,
  filter: RecordFilter,
  labels: LabelChoice | null,
): AsyncGenerator<Window> {
  const floor = filter.since === undefined ? '' : idAt(Date.parse(filter.since) - idSlackMs)
  let below = upperBound(filter)
  for (;;) {
    if (labels?.few) {
      const period = await latestPeriod(db, labels.numbers, below)
      if (period === null || endOf(period) < floor) return
      if (below === null || endOf(period) < below) below = endOf(period)
    }
    let query = db.selectFrom('records').select('id').where('id', '>=', floor).orderBy('id', 'desc')
    if (below !== null) query = query.where('id', '<', below)
    const mark: { id: string } | undefined = await query
      .offset(windowIds - 1)
      .limit(1)
      .executeTakeFirst()
    yield { below, from: mark?.id ?? floor }
    if (!mark) return
    below = mark.id
    await nextTurn()
    throwIfStopped()
  }
}

function upperBound(filter: RecordFilter): string | null {
  const until = filter.until === undefined ? null : idAt(Date.parse(filter.until) + idSlackMs)
  if (filter.before === undefined) return until
  return until === null || filter.before < until ? filter.before : until
}

/** The least id that a request of that moment could have. */
export function idAt(time: number): string {
  return newId('req', Math.max(0, time)).slice(0, 'req_'.length + 10)
}

/** The records of one window that the filter lets through; whoever calls selects and sorts. */
export function selectMatching(db: Database, filter: RecordFilter, labels: LabelChoice | null, window: Window) {
  let query = db.selectFrom('records').where('id', '>=', window.from)
  if (window.below !== null) query = query.where('id', '<', window.below)
  if (labels !== null)
    query = query.where(sql<boolean>`label in (select value from json_each(${JSON.stringify(labels.numbers)}))`)
  if (labels?.named != null) query = query.where(isOf(labels.named))
  for (const [name, value] of Object.entries(filter.tags ?? {})) query = query.where(hasTag(name, value))
  if (filter.route !== undefined) query = query.where(hasRoute(filter.route))
  const { state, error, status, since, until, id } = filter
  if (state !== undefined) query = query.where('state', '=', state)
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

/** `429` or `4xx`; a text that is neither matches nothing. */
function statusRange(status: string): [number, number] {
  const hundreds = /^([1-5])xx$/i.exec(status)?.[1]
  if (hundreds !== undefined) return [Number(hundreds) * 100, Number(hundreds) * 100 + 99]
  const exact = /^\d{3}$/.test(status) ? Number(status) : -1
  return [exact, exact]
}

function containing(text: string): string {
  return `%${text.toLowerCase().replace(/[!%_]/g, '!$&')}%`
}
