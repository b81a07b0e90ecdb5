import { usdOfNano } from '../../core/money.ts'
import { noGroup } from '../../core/record.ts'
import type { RecordFilter, UsageRow, UsageSum } from '../api.ts'
import { type CountedRow, countOf, spentNano } from './record-groups.ts'
import { isShadow, type RecordSource } from './record-source.ts'

interface KeySum {
  requests: number
  tokens: number
  nano: number | null
}

/** Both spans come of one reading of each time: what lies before `lately`, and what since. */
export async function recordUsage(source: RecordSource, filter: RecordFilter, lately: string): Promise<UsageRow[]> {
  const keys = new Map<string, { before: KeySum; lately: KeySum }>()
  const { until, since } = filter
  const spans = [
    { name: 'before', filter: { ...filter, until: earlier(until, lately) } },
    { name: 'lately', filter: { ...filter, since: later(since, lately) } },
  ] as const
  for (const span of spans)
    for await (const { rows, labels } of source.totals(span.filter, scan))
      for (const row of rows) {
        const id = labels.get(row.label)?.key_id ?? noGroup
        const sums = keys.get(id) ?? { before: nothing(), lately: nothing() }
        keys.set(id, sums)
        add(sums[span.name], row, isShadow(labels, row))
      }
  return [...keys].map(([id, { before, lately }]) => ({
    id,
    whole: finish(join(before, lately)),
    lately: finish(lately),
  }))
}

const scan = { longest: 'ever', by: ['key'], withLatencies: false } as const

const earlier = (until: string | undefined, lately: string) =>
  until !== undefined && Date.parse(until) < Date.parse(lately) ? until : lately
const later = (since: string | undefined, lately: string) =>
  since !== undefined && Date.parse(since) > Date.parse(lately) ? since : lately

const nothing = (): KeySum => ({ requests: 0, tokens: 0, nano: null })

/** A copy for a shadow target is spent, and no request of its key. */
function add(sum: KeySum, row: CountedRow, shadow: boolean): void {
  if (!shadow) sum.requests += countOf(row)
  // What is under way has its hold on the record; only an end makes it a charge.
  if (row.state !== 'admitted') sum.tokens += (row.input ?? 0) + (row.output ?? 0)
  const nano = spentNano(row)
  if (nano !== null) sum.nano = (sum.nano ?? 0) + nano
}

function join(one: KeySum, other: KeySum): KeySum {
  const nano = one.nano === null && other.nano === null ? null : (one.nano ?? 0) + (other.nano ?? 0)
  return { requests: one.requests + other.requests, tokens: one.tokens + other.tokens, nano }
}

function finish({ requests, tokens, nano }: KeySum): UsageSum {
  return { requests, tokens, usd: nano === null ? null : usdOfNano(BigInt(nano)) }
}
