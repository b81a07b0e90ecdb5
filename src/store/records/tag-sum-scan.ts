import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { noGroup } from '../../core/record.ts'
import type { RecordFilter } from '../api.ts'
import { throwIfStopped } from '../cancellation.ts'
import type { Database } from '../schema.ts'
import { type LabelChoice, readLabels } from './record-labels.ts'
import { scanTagged } from './record-scan.ts'
import type { Counted, SumRow } from './record-source.ts'
import type { SumSpan } from './record-sum-keys.ts'
import { latenciesOfSums, type SumPart, samePlace, selectGroups } from './sum-groups.ts'
import { outcomeConditions } from './sum-outcomes.ts'
import { momentOf, type SpanPart, spanOf, startOf } from './sum-spans.ts'

const dayMs = 86_400_000

/**
 * Of whole days or weeks what has ended, a row for each tag. A week that has too many rows is read by its days, and such a day by its
 * records.
 */
export async function* scanTagSums(
  db: Database,
  filter: RecordFilter,
  chosen: LabelChoice | null,
  part: SumPart,
): AsyncGenerator<Counted> {
  const { from, to, span, question } = part
  const oldest = startOf(from, span)
  let labels = await readLabels(db)
  for (let below = startOf(to, span); ; await nextTurn()) {
    throwIfStopped()
    const start = await startBelow(db, span, below, oldest)
    if (start === null) return
    below = start
    const found = await selectTagged(db, filter, chosen, { span, start, question })
    // After reading: a span that overflows loses its rows.
    if (!(await overflows(db, span, start))) {
      if (found.some(({ label }) => !labels.has(label))) labels = await readLabels(db)
      yield { rows: found, labels }
    } else if (span === 'week')
      yield* scanTagSums(db, filter, chosen, { ...part, ...between(start, 7 * dayMs), span: 'day' })
    else yield* scanEnded(db, { ...filter, ...spanOf(between(start, dayMs)) })
  }
}

function between(start: string, lengthMs: number): Pick<SpanPart, 'from' | 'to'> {
  const from = momentOf(start)
  return { from, to: from + lengthMs }
}

/** What is under way is read apart from all sums. */
async function* scanEnded(db: Database, filter: RecordFilter): AsyncGenerator<Counted> {
  for await (const { rows, labels } of scanTagged(db, filter))
    yield { rows: rows.filter(({ state }) => state !== 'admitted'), labels }
}

/** The next older span that there are sums of: one look into the key, whatever lies between. */
export async function startBelow(db: Database, span: SumSpan, below: string, oldest: string): Promise<string | null> {
  const { rows } = await sql<{ start: string | null }>`select max(start) as start from record_sums
    where span = ${span} and start < ${below} and start >= ${oldest}`.execute(db)
  return rows[0]?.start ?? null
}

async function overflows(db: Database, span: SumSpan, start: string): Promise<boolean> {
  const found = db.selectFrom('tag_sum_overflows').select('start').where('span', '=', span).where('start', '=', start)
  return (await found.executeTakeFirst()) !== undefined
}

interface TagPlace extends Pick<SumPart, 'span' | 'question'> {
  start: string
}

/**
 * Rows for each tag, and for what has none: all without those that have any, which stand under the tag ''. In one statement, so that
 * all rows are of one moment.
 */
async function selectTagged(
  db: Database,
  filter: RecordFilter,
  chosen: LabelChoice | null,
  { span, start, question }: TagPlace,
): Promise<SumRow[]> {
  const where = sql.join([sql`span = ${span} and start = ${start}`, ...outcomeConditions(filter, chosen)], sql` and `)
  const untagged = selectGroups(question, {
    from: sql`(select * from record_sums where ${where}) s left join tag_sums t on ${sql.raw(samePlace('t'))} and t.tag = ''`,
    where: sql`s.requests > ifnull(t.requests, 0)`,
    amount: (name) => `s.${name} - ifnull(t.${name}, 0)`,
    latencies: latenciesOfSums,
    fewer: 't.counts',
    tag: `'${noGroup}'`,
  })
  const tagged = selectGroups(question, {
    from: sql`(select * from tag_sums where ${where} and tag <> '') s`,
    where: sql`true`,
    latencies: 's.counts',
    tag: 's.tag',
  })
  return (await sql<SumRow>`${untagged} union all ${tagged}`.execute(db)).rows
}
