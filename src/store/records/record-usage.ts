import { usdOfNano } from '../../core/cost/money.ts'
import { noGroup } from '../../core/record.ts'
import type { RecordFilter, UsageRow, UsageSum } from '../api.ts'
import { type CountedRow, countOf, spentNano } from './record-groups.ts'
import { type Counted, isShadow, type RecordSource } from './record-source.ts'

interface KeySum {
  requests: number
  tokens: number
  cached: number
  nano: number | null
}

/** Both spans come of one reading of each time: what lies before `lately`, and what since. */
export async function recordUsage(source: RecordSource, filter: RecordFilter, lately: string): Promise<UsageRow[]> {
  const keys = new Map<string, { whole: KeySum; lately: KeySum }>()
  const { until, since } = filter
  const spans = [
    { isLate: false, filter: { ...filter, until: earlier(until, lately) } },
    { isLate: true, filter: { ...filter, since: later(since, lately) } },
  ]
  for (const span of spans)
    for await (const { rows, labels } of source.totals(span.filter, scan))
      for (const row of rows) {
        const id = labels.get(row.label)?.key_id ?? noGroup
        const sums = keys.getOrInsertComputed(id, () => ({ whole: nothing(), lately: nothing() }))
        add(sums.whole, row, labels)
        if (span.isLate) add(sums.lately, row, labels)
      }
  return [...keys].map(([id, { whole, lately }]) => ({ id, whole: finish(whole), lately: finish(lately) }))
}

const scan = { longest: 'ever', by: ['key'], withLatencies: false } as const

const earlier = (until: string | undefined, lately: string) =>
  until !== undefined && Date.parse(until) < Date.parse(lately) ? until : lately
const later = (since: string | undefined, lately: string) =>
  since !== undefined && Date.parse(since) > Date.parse(lately) ? since : lately

const nothing = (): KeySum => ({ requests: 0, tokens: 0, cached: 0, nano: null })

/** A copy for a shadow target is spent, and no request of its key. */
function add(sum: KeySum, row: CountedRow, labels: Counted['labels']): void {
  if (!isShadow(labels, row)) sum.requests += countOf(row)
  // What is under way has its hold on the record; only an end makes it a charge.
  const tokens = row.state === 'admitted' ? 0 : (row.input ?? 0) + (row.output ?? 0)
  sum.tokens += tokens
  // What was interrupted may have asked a provider.
  if (row.state === 'settled' && labels.get(row.label)?.provider === null) sum.cached += tokens
  const nano = spentNano(row)
  if (nano !== null) sum.nano = (sum.nano ?? 0) + nano
}

function finish({ requests, tokens, cached, nano }: KeySum): UsageSum {
  return { requests, tokens, cached, usd: nano === null ? null : usdOfNano(BigInt(nano)) }
}
