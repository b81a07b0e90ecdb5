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
/** Days whose sums are looked through before any of their records is. */
const daysAtOnce = 14
/** Records that are looked through in some tens of milliseconds. */
const atOnce = 5000
/** Of a day that has fewer, its hours are looked up first: that costs less than to read all of the day. */
const rareInDay = 1000

const isoOf = (moment: number): string => new Date(moment).toISOString()

export interface StoredRow {
  id: string
  node: string
  record_json: string
  repeats: number | null
  last_time: string | null
}

/** Milliseconds since the epoch; `end` is behind it. */
interface Stretch {
  begin: number
  end: number
}

/**
 * A page of what the filter lets through, newest first, as `searchRecords` of the store finds it: what takes longer than that to find
 * is left to the next page. Read day by day, of those alone whose sums say that they have something.
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
  // The one that has that id.
  if (id !== undefined && idTime(id) !== null) return look('').then(whole)
  for await (const { begin, end } of piecesOf(ask, stretchesOf(ask, filter), filter)) {
    const upper = idAt(end + idSlackMs)
    if (upper < below) below = upper
    const from = idAt(begin - idSlackMs)
    // Looked through for the page before.
    if (from >= below) continue
    await look(from)
    if (records.length >= limit) break
    if (performance.now() - begun > withinMs)
      return { records, before: below, searchedUntil: isoOf(Math.max(0, begin)) }
  }
  return whole()
}

/** What sums do not say is looked for in the records themselves, of which a day may have more than a page has time for. */
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

/** Hours, the newest first: together as long as they have few records, and else in parts of so many. */
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

/** Where something may be, from the newest back. */
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
  // Most that somebody looks for is new, and the newest day needs no sums.
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

/** Hours that follow each other are one. */
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

/** Days or hours that have something of what labels and outcomes tell, and how much; the newest first. */
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
