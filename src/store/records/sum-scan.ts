import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { RecordFilter } from '../api.ts'
import { throwIfStopped } from '../cancellation.ts'
import type { Database } from '../schema.ts'
import { selectFiltered } from './record-filter.ts'
import { chooseLabels, type LabelChoice, readLabels } from './record-labels.ts'
import { scanRecords } from './record-scan.ts'
import { type Counted, type ScannedRow, type SumQuestion, type SumRow, scannedColumns } from './record-source.ts'
import { type SumSpan, sumAmounts } from './record-sum-keys.ts'
import { readSummedFrom, readTaggedFrom } from './sum-hours.ts'
import { selectOutcomes } from './sum-outcomes.ts'
import { partsOf, type SpanPart, spanOf, startOf } from './sum-spans.ts'
import { scanTagSums } from './tag-sum-scan.ts'

interface SumPart extends Pick<SpanPart, 'from' | 'to'> {
  by: SumSpan
  withLatencies: boolean
}

/** Spans read in one statement: some thousand rows. */
const atOnce: Readonly<Record<SumSpan, number>> = { hour: 12, day: 4, week: 1 }

/** All that the filter lets through, from sums where they tell it. Newest first, a few milliseconds' worth at a time. */
export async function* scanTotals(db: Database, filter: RecordFilter, question: SumQuestion): AsyncGenerator<Counted> {
  const { before: _before, ...unpaged } = filter
  const chosen = await chooseLabels(db, unpaged)
  if (chosen?.numbers.length === 0) return
  const { longest, by, withLatencies } = question
  const withTags = by.includes('tag')
  const summable = longest !== null && (longest !== 'hour' || !withTags) && areSummed(unpaged, chosen)
  if (!summable) return yield* scanRecords(db, unpaged, withTags)
  const span = {
    from: unpaged.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(unpaged.since),
    to: unpaged.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(unpaged.until),
  }
  const parts = withTags
    ? partsOf(span, await readTaggedFrom(db), longest, 'day')
    : partsOf(span, await readSummedFrom(db), longest)
  for (const part of parts) {
    if (part.by === 'record') yield* scanRecords(db, { ...unpaged, ...spanOf(part) }, withTags)
    else if (withTags) yield* scanTagSums(db, unpaged, chosen, { ...part, by: part.by, withLatencies })
    else yield* scanSums(db, unpaged, chosen, { ...part, by: part.by, withLatencies })
  }
  const summed = parts.filter(({ by }) => by !== 'record')
  const newest = summed.at(0)
  const oldest = summed.at(-1)
  if (newest !== undefined && oldest !== undefined)
    yield* scanUnderWay(db, { ...unpaged, ...spanOf({ from: oldest.from, to: newest.to }) }, chosen, withTags)
}

/** Only what labels and outcome tell. */
function areSummed(filter: RecordFilter, chosen: LabelChoice | null): boolean {
  const { tags, route, id, slowerThanMs, fellBack, failedAt } = filter
  const others = [route, id, slowerThanMs, fellBack, failedAt]
  return (
    Object.keys(tags ?? {}).length === 0 &&
    others.every((each) => each === undefined) &&
    (chosen?.named ?? null) === null
  )
}

async function* scanSums(
  db: Database,
  filter: RecordFilter,
  chosen: LabelChoice | null,
  { from, to, by: span, withLatencies }: SumPart,
): AsyncGenerator<Counted> {
  const oldest = startOf(from, span)
  let below = startOf(to, span)
  let labels = await readLabels(db)
  for (;;) {
    const starts = await startsBelow(db, span, below, oldest)
    const reached = starts.at(-1)
    if (reached === undefined) return
    const rows = await selectSums(db, filter, chosen, { span, from: reached, below, withLatencies })
    if (rows.some(({ label }) => !labels.has(label))) labels = await readLabels(db)
    yield { rows, labels }
    below = reached
    await nextTurn()
    throwIfStopped()
  }
}

/** The next older spans that there are sums of: one look into the key each, whatever lies between them. */
async function startsBelow(db: Database, span: SumSpan, below: string, oldest: string): Promise<string[]> {
  const starts: string[] = []
  let bound = below
  while (starts.length < atOnce[span]) {
    const { rows } = await sql<{ start: string | null }>`select max(start) as start from record_sums
      where span = ${span} and start < ${bound} and start >= ${oldest}`.execute(db)
    const start = rows[0]?.start ?? null
    if (start === null) break
    starts.push(start)
    bound = start
  }
  return starts
}

interface Spans {
  span: SumSpan
  from: string
  below: string
  withLatencies: boolean
}

async function selectSums(
  db: Database,
  filter: RecordFilter,
  chosen: LabelChoice | null,
  { span, from, below, withLatencies }: Spans,
): Promise<SumRow[]> {
  const inside = db
    .selectFrom('record_sums')
    .where('span', '=', span)
    .where('start', '>=', from)
    .where('start', '<', below)
  return await selectOutcomes(inside, filter, chosen)
    .select([
      'start as time',
      'label',
      'state',
      sql<number | null>`nullif(status, 0)`.as('status'),
      sql<string | null>`nullif(error_code, '')`.as('error_code'),
      ...sumAmounts,
      (withLatencies ? latencies : sql<null>`null`).as('latencies'),
    ])
    .execute()
}

const latencies = sql<Uint8Array | null>`(select counts from record_latencies l
  where l.span = record_sums.span and l.start = record_sums.start and l.label = record_sums.label
  and l.state = record_sums.state and l.status = record_sums.status and l.error_code = record_sums.error_code)`

/** What is under way is in no sum yet; there are as many as requests at once, and they have an index. */
async function* scanUnderWay(
  db: Database,
  filter: RecordFilter,
  chosen: LabelChoice | null,
  withText: boolean,
): AsyncGenerator<Counted> {
  if (filter.state !== undefined && filter.state !== 'admitted') return
  const underWay = db.selectFrom('records').where(sql<boolean>`state = 'admitted'`)
  const matching = selectFiltered(underWay, filter, chosen).select(scannedColumns)
  const rows: ScannedRow[] = await (withText ? matching.select('record_json') : matching).execute()
  if (rows.length > 0) yield { rows, labels: await readLabels(db) }
}
