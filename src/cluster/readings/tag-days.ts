import { sumAmounts } from '../../store/records/record-sum-keys.ts'
import { momentOf, type SpanPart, startOf } from '../../store/records/sum-spans.ts'
import type { NodeDay } from './grouped-sums.ts'
import type { AskPostgres, ReadingFilter } from './reading.ts'

interface TagDay extends NodeDay {
  requests: number
  /** The number of its sums, including those by tag. */
  rows: number
  /** Its sums by tag cover all its records: no node of an earlier version has written any, and there are not too many. */
  whole: boolean
}

type DaySpan = Pick<SpanPart, 'from' | 'to'>

const dayMs = 86_400_000
/** Reading more of them at once takes as long as reading their sums. */
const lookMs = 28 * dayMs

/** The days that have sums, newest first, grouped as they are read together. Older ones are looked up while newer ones are read. */
export async function* readTagDays(
  ask: AskPostgres,
  filter: ReadingFilter,
  { from, to }: DaySpan,
): AsyncGenerator<[TagDay, ...TagDay[]]> {
  const [edges] = await ask<{ found: boolean; oldest: string | null; newest: string | null }>(
    `select to_regclass('spgw.tag_days') is not null as found, min(start) as oldest, max(start) as newest
     from spgw.record_sums where span = 'day' and start >= $1 and start < $2`,
    [startOf(from, 'day'), startOf(to, 'day')],
  )
  if (edges?.oldest == null || edges.newest == null) return
  const oldest = momentOf(edges.oldest)
  const look = (before: number) => {
    const asked = lookAt(ask, filter, { from: Math.max(oldest, before - lookMs), to: before }, edges.found)
    // A failure is reported when the result's turn comes.
    asked.catch(() => {})
    return asked
  }
  let before = momentOf(edges.newest) + dayMs
  for (let next: Promise<TagDay[]> | null = look(before); next !== null; ) {
    const days: TagDay[] = await next
    before -= lookMs
    next = before > oldest ? look(before) : null
    yield* joinDays(days)
  }
}

/** `found`: a node has created the table of sums by tag. */
async function lookAt(
  ask: AskPostgres,
  { node }: ReadingFilter,
  { from, to }: DaySpan,
  found: boolean,
): Promise<TagDay[]> {
  const counted = found
    ? 'spgw.tag_days'
    : `(select start, node, ${sumAmounts}, 0 as rows, true as overflow from spgw.record_sums where false)`
  const amounts = (table: string) => sumAmounts.map((name) => `coalesce(${table}.${name}, 0)`)
  // For PostgreSQL, a condition that holds for every node would look like one that matches few rows, and it would choose a worse plan.
  const ofTime = `start >= $1 and start < $2${node === undefined ? '' : ' and node = $3'}`
  return await ask<TagDay>(
    `select start, node, coalesce(s.requests, 0)::float8 as requests,
       (coalesce(s.rows, 0) + coalesce(t.rows, 0))::float8 as rows,
       coalesce(not t.overflow, false) and (${amounts('t')}) = (${amounts('s')}) as whole
     from (select start, node, count(*) as rows, ${sumAmounts.map((name) => `sum(${name}) as ${name}`)}
       from spgw.record_sums where span = 'day' and ${ofTime} group by start, node) s
     full join (select * from ${counted} c where ${ofTime}) t using (start, node)
     order by start desc, node desc`,
    [startOf(from, 'day'), startOf(to, 'day'), ...(node === undefined ? [] : [node])],
  )
}

/** The most rows that are read at once. */
const mostRows = 20_000

/** Groups days that are read together; a day without complete sums by tag stays alone. */
function* joinDays(days: readonly TagDay[]): Generator<[TagDay, ...TagDay[]]> {
  let open: [TagDay, ...TagDay[]] | null = null
  let rows = 0
  for (const day of days) {
    if (open?.[0].whole && day.whole && rows + day.rows <= mostRows) open.push(day)
    else {
      if (open !== null) yield open
      open = [day]
      rows = 0
    }
    rows += day.rows
  }
  if (open !== null) yield open
}
