import type pg from 'pg'
import { idTime } from '../../core/ids.ts'
import type { RequestRecord } from '../../core/record.ts'
import type { FoundRecords } from '../../store/api.ts'
import { idAt, idSlackMs, timeOf } from '../../store/records/id-time.ts'
import { withRepeats } from '../../store/records/record-json.ts'
import { dayOf, hourOf } from '../../store/records/record-sum-keys.ts'
import { addFull, addPlain, SqlCondition } from './condition.ts'
import type { AskPostgres, ReadingFilter } from './reading.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** How many days of sums are read before any of their records. */
const daysAtOnce = 14
/** How many records are searched in some tens of milliseconds. */
const atOnce = 5000
/** For a day with fewer records, its hours are looked up first: that is faster than searching the whole day. */
const rareInDay = 1000

const isoOf = (moment: number): string => new Date(moment).toISOString()

export interface StoredRow {
  id: string
  node: string
  record_json: string
  repeats: number | null
  last_time: string | null
}

/** Epoch milliseconds; `end` is exclusive. */
interface Stretch {
  begin: number
  end: number
}

/**
 * One page of matching records, newest first, like the store's `searchRecords`: if the search takes longer than `withinMs`, the rest is
 * left to the next page. Searches day by day, skipping those whose sums show no matches.
 */
export async function searchRecords(ask: AskPostgres, filter: ReadingFilter, withinMs: number): Promise<FoundRecords> {
  const begun = performance.now()
  const { limit, id, before = '~' } = filter
  const records: RequestRecord[] = []
  let below = before
  const look = async (from: string) => {
    const condition = new SqlCondition()
    addFull(condition, { ...filter, before: below })
    condition.add(`id >= ${condition.value(from)}`)
    const text = `${condition.text} order by id desc limit ${limit - records.length}`
    records.push(...(await readRecords(ask, text, condition.values)))
    below = from
  }
  const whole = (): FoundRecords => {
    const last = records.length < limit ? null : (records.at(-1)?.id ?? null)
    return { records, before: last, searchedUntil: null }
  }
  // A complete id names at most one record.
  if (id !== undefined && idTime(id) !== null) return look('').then(whole)
  for await (const { begin, end } of piecesOf(ask, stretchesOf(ask, filter), filter)) {
    const upper = idAt(end + idSlackMs)
    if (upper < below) below = upper
    const from = idAt(begin - idSlackMs)
    // Searched for the page before.
    if (from >= below) continue
    await look(from)
    if (records.length >= limit) break
    if (performance.now() - begun > withinMs)
      return { records, before: below, searchedUntil: isoOf(Math.max(0, begin)) }
  }
  return whole()
}

/** Splits stretches for filters that sums cannot answer: a day may have more records than a page can search. */
async function* piecesOf(
  ask: AskPostgres,
  stretches: AsyncGenerator<Stretch>,
  filter: ReadingFilter,
): AsyncGenerator<Stretch> {
  const { id, slowerThanMs, fellBack, failedAt, route, tags } = filter
  const asked = [id, slowerThanMs, fellBack, failedAt, route, tags]
  if (asked.every((each) => each === undefined)) return yield* stretches
  for await (const { begin, end } of stretches) {
    const span = { span: 'hour', from: hourOf(isoOf(begin)), below: hourOf(isoOf(end)) } as const
    yield* pack(await summed(ask, { limit: 1 }, span))
  }
}

/** Packs hours, newest first: together while they have few records, otherwise in several parts. */
function* pack(hours: readonly { start: string; requests: number }[]): Generator<Stretch> {
  let open: (Stretch & { requests: number }) | null = null
  for (const { start, requests } of hours) {
    const begin = Date.parse(`${start}:00Z`)
    if (open !== null && open.requests + requests <= atOnce) {
      open.begin = begin
      open.requests += requests
      continue
    }
    if (open !== null) yield open
    open = null
    const parts = Math.ceil(requests / atOnce)
    if (parts === 1) open = { begin, end: begin + hourMs, requests }
    else
      for (let part = parts; part > 0; part--)
        yield {
          begin: begin + Math.floor(((part - 1) * hourMs) / parts),
          end: begin + Math.floor((part * hourMs) / parts),
        }
  }
  if (open !== null) yield open
}

/** Stretches that may contain matches, newest first. */
async function* stretchesOf(ask: AskPostgres, filter: ReadingFilter): AsyncGenerator<Stretch> {
  const edges = await ask<{ oldest: string | null; newest: string | null }>(
    `select (select start from spgw.record_sums where span = 'day' order by start limit 1) as oldest,
       (select start from spgw.record_sums where span = 'day' order by start desc limit 1) as newest`,
    [],
  )
  const { oldest, newest } = edges[0] ?? {}
  if (oldest == null || newest == null) return
  const since = dayOf(isoOf(Math.max(Date.parse(oldest), Date.parse(filter.since ?? oldest) - idSlackMs)))
  const last = Math.min(
    Date.parse(newest),
    Date.parse(filter.until ?? newest),
    timeOf(filter.before ?? '~') + idSlackMs,
  )
  const first = dayOf(isoOf(Math.max(0, last)))
  // Most searches look for something recent, so the newest day is searched without reading sums.
  yield dayStretch(first)
  for (let below = first; below > since; ) {
    const from = dayOf(isoOf(Math.max(Date.parse(since), Date.parse(below) - daysAtOnce * dayMs)))
    for (const { start, requests } of await summed(ask, filter, { span: 'day', from, below })) {
      if (requests >= rareInDay) yield dayStretch(start)
      else yield* hoursOf(await summed(ask, filter, { span: 'hour', from: `${start}T`, below: `${start}U` }))
    }
    below = from
  }
}

const dayStretch = (day: string): Stretch => ({ begin: Date.parse(day), end: Date.parse(day) + dayMs })

/** Joins consecutive hours. */
function* hoursOf(hours: readonly { start: string }[]): Generator<Stretch> {
  let open: Stretch | null = null
  for (const { start } of hours) {
    const begin = Date.parse(`${start}:00Z`)
    if (open !== null && open.begin === begin + hourMs) open.begin = begin
    else {
      if (open !== null) yield open
      open = { begin, end: begin + hourMs }
    }
  }
  if (open !== null) yield open
}

/** Days or hours with matching labels and outcomes, and their number of requests; newest first. */
async function summed(
  ask: AskPostgres,
  filter: ReadingFilter,
  { span, from, below }: { span: 'day' | 'hour'; from: string; below: string },
): Promise<{ start: string; requests: number }[]> {
  const condition = new SqlCondition()
  condition.add(`span = ${condition.value(span)}`)
  condition.add(`start >= ${condition.value(from)} and start < ${condition.value(below)}`)
  addPlain(condition, filter)
  if (filter.names !== undefined)
    condition.add(`project = any (${condition.value(filter.names.map(({ name }) => name))}::text[])`)
  return await ask(
    `select start, sum(requests)::float8 as requests from spgw.record_sums where ${condition.text}
     group by start having sum(requests) > 0 order by start desc`,
    condition.values,
  )
}

export async function readRecords(ask: AskPostgres, condition: string, values: unknown[]): Promise<RequestRecord[]> {
  const rows = await ask<StoredRow & pg.QueryResultRow>(
    `select id, node, record_json, repeats::float8 as repeats, last_time from spgw.records where ${condition}`,
    values,
  )
  return rows.map(({ id, node, record_json, repeats, last_time }) => {
    const repeat = repeats === null || last_time === null ? null : { count: repeats, last_time }
    return { ...withRepeats(record_json, id, repeat), node }
  })
}
