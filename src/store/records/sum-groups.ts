import { type RawBuilder, sql } from 'kysely'
import { isOfLabel } from './record-groups.ts'
import type { SumQuestion, SumRow } from './record-source.ts'
import { type SumSpan, sumAmounts, sumKey } from './record-sum-keys.ts'
import type { SpanPart } from './sum-spans.ts'

/** Of which sums are read, and what is asked of them. */
export interface SumPart extends Pick<SpanPart, 'from' | 'to'> {
  span: SumSpan
  question: Pick<SumQuestion, 'by' | 'withLatencies'>
}

/** Which rows of sums, and what of them. Their table is `s`. */
interface SumsTable {
  from: RawBuilder<unknown>
  where: RawBuilder<unknown>
  /** Else what it has. */
  amount?(name: string): string
  latencies: string
  /** As `SumRow` has them. */
  fewer?: string
  tag?: string
  /** Else all rows are of one span. */
  severalSpans?: boolean
}

/** Of a row of `record_sums`. */
export const latenciesOfSums = `(select counts from record_latencies l where ${samePlace('l')})`

/** Where another table has the same sums. */
export function samePlace(other: string): string {
  return sumKey.map((name) => `${other}.${name} = s.${name}`).join(' and ')
}

/** By what else groups are told apart, so that their rows say the same of each of their records. */
function outcomesOf(by: SumPart['question']['by']): string[] {
  const always = ['r.provider is null', 'r.shadow']
  if (by.includes('status') || by.includes('error')) return ['s.state', 's.status', 's.error_code', ...always]
  // As `isError` has it. One number, since SQLite sorts by them: five columns took a quarter longer.
  const facts = [`s.state = 'interrupted'`, `s.error_code <> '' or s.status >= 400`, ...always]
  return [facts.map((fact, place) => `ifnull(${fact}, 0) * ${2 ** place}`).join(' + ')]
}

/**
 * Added up by SQLite to what groups are made of: labels differ in more, so that of a row for each of hundreds of keys a tenth is left.
 * The label of a group is the latest, by whose name a key goes.
 */
export function selectGroups(
  { by, withLatencies }: SumPart['question'],
  {
    from,
    where,
    amount = (name) => `s.${name}`,
    latencies,
    fewer = 'null',
    tag = 'null',
    severalSpans = false,
  }: SumsTable,
): RawBuilder<SumRow> {
  const ways = by.filter((way) => way !== 'total' && isOfLabel(way))
  const columns = ways.map((way) => `r.${way === 'key' ? 'key_id' : way}`)
  const groups = [...(severalSpans ? ['s.start'] : []), ...outcomesOf(by), ...columns, tag]
  // It joins texts only, whatever bytes these are made of.
  const join = (bytes: string) =>
    withLatencies ? `cast(group_concat(cast(${bytes} as text), x'0000') as blob)` : 'null'
  return sql`${sql.raw(`select s.start as time, max(s.label) as label, s.state, nullif(s.status, 0) as status,
      nullif(s.error_code, '') as error_code, ${sumAmounts.map((name) => `sum(${amount(name)}) as ${name}`)},
      ${join(latencies)} as latencies, ${join(fewer)} as fewer, ${tag} as tag from`)} ${from}
    left join record_labels r on r.number = s.label where ${where} group by ${sql.raw(groups.join(', '))}`
}
