import { sumAmounts } from '../../store/records/record-sum-keys.ts'
import { startOf } from '../../store/records/sum-spans.ts'
import type { NodeDay } from './grouped-sums.ts'
import type { AskPostgres, ReadingFilter } from './reading.ts'

interface TagDay extends NodeDay {
  requests: number
  /** Of its sums, those by tag among them. */
  rows: number
  /** Its sums by tag are of all its records: no node of an earlier version has written any of them, and they are not too many. */
  whole: boolean
}

/** Those of which there are sums, newest first, as sums stand; `from`, `to`: milliseconds since the epoch. */
export async function readTagDays(
  ask: AskPostgres,
  { node }: ReadingFilter,
  { from, to }: { from: number; to: number },
): Promise<TagDay[]> {
  const there = await ask<{ found: boolean }>("select to_regclass('spgw.tag_days') is not null as found", [])
  // Until a node has made them that may.
  const counted = there[0]?.found
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
export function* joinDays(days: readonly TagDay[]): Generator<[TagDay, ...TagDay[]]> {
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
