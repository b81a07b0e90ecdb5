import { sumAmounts } from '../../store/records/record-sum-keys.ts'
import { momentOf, type SpanPart, startOf } from '../../store/records/sum-spans.ts'
import type { NodeDay } from './grouped-sums.ts'
import type { AskPostgres, ReadingFilter } from './reading.ts'

interface TagDay extends NodeDay {
  requests: number
  /** Of its sums, those by tag among them. */
  rows: number
  /** Its sums by tag are of all its records: no node of an earlier version has written any of them, and they are not too many. */
  whole: boolean
}

type DaySpan = Pick<SpanPart, 'from' | 'to'>

const dayMs = 86_400_000
/** To read months of them takes as long as some of their sums do. */
const lookMs = 28 * dayMs

/** Those of which there are sums, newest first, as what is read together; older ones are looked at while newer ones are read. */
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
    // What fails before its turn comes fails when it does.
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

/** `found`: a node has made the sums by tag that may. */
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
  // A condition that holds for every node would count for PostgreSQL as one that leaves few rows, which it adds up otherwise.
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

/** More of them would be too much at once. */
const mostRows = 20_000

/** Days that are read together; what has no sums by tag alone. */
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
