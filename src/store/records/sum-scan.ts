import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { RecordFilter } from '../api.ts'
import { throwIfStopped } from '../cancellation.ts'
import type { Database } from '../schema.ts'
import { selectFiltered } from './record-filter.ts'
import { chooseLabels, type LabelChoice, readLabels } from './record-labels.ts'
import { readTagged, scanRecords, scanTagged } from './record-scan.ts'
import { type Counted, type SumQuestion, type SumRow, scannedColumns } from './record-source.ts'
import type { SumSpan } from './record-sum-keys.ts'
import { latenciesOfSums, type SumPart, selectGroups } from './sum-groups.ts'
import { readSummedFrom, readTaggedFrom } from './sum-hours.ts'
import { outcomeConditions } from './sum-outcomes.ts'
import { partsOf, spanOf, startOf } from './sum-spans.ts'
import { scanTagSums, startBelow } from './tag-sum-scan.ts'

/** Spans read in one statement: some thousand rows. */
const atOnce: Readonly<Record<SumSpan, number>> = { hour: 12, day: 4, week: 1 }

/** All that the filter lets through, from sums where they tell it. Newest first, a few milliseconds' worth at a time. */
export async function* scanTotals(db: Database, filter: RecordFilter, question: SumQuestion): AsyncGenerator<Counted> {
  const { before: _before, ...unpaged } = filter
  const chosen = await chooseLabels(db, unpaged)
  if (chosen?.numbers.length === 0) return
  const { longest, by } = question
  const withTags = by.includes('tag')
  const withRoute = by.includes('route')
  const summable = longest !== null && !withRoute && (longest !== 'hour' || !withTags) && areSummed(unpaged, chosen)
  const scan = (asked: RecordFilter) =>
    withTags ? scanTagged(db, asked, withRoute) : scanRecords(db, asked, false, withRoute)
  if (!summable) return yield* scan(unpaged)
  const span = {
    from: unpaged.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(unpaged.since),
    to: unpaged.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(unpaged.until),
  }
  const parts = withTags
    ? partsOf(span, await readTaggedFrom(db), longest, 'day')
    : partsOf(span, await readSummedFrom(db), longest)
  for (const part of parts) {
    if (part.by === 'record') yield* scan({ ...unpaged, ...spanOf(part) })
    else if (withTags) yield* scanTagSums(db, unpaged, chosen, { ...part, span: part.by, question })
    else yield* scanSums(db, unpaged, chosen, { ...part, span: part.by, question })
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
  { from, to, span, question }: SumPart,
): AsyncGenerator<Counted> {
  const oldest = startOf(from, span)
  let below = startOf(to, span)
  let labels = await readLabels(db)
  for (;;) {
    const starts = await startsBelow(db, span, below, oldest)
    const reached = starts.at(-1)
    if (reached === undefined) return
    for (const range of rangesOf(chosen?.numbers ?? [...labels.keys()])) {
      const rows = await selectSums(db, filter, chosen, { span, from: reached, below, question, range })
      if (rows.some(({ label }) => !labels.has(label))) labels = await readLabels(db)
      yield { rows, labels }
      await nextTurn()
      throwIfStopped()
    }
    below = reached
  }
}

/** Models are the clients' own words: of many labels so many are read in a turn. */
const labelsAtOnce = 5000

type LabelRange = readonly [above: number, upTo: number]

/** The first and the last have no bound, since labels may come meanwhile. One of them all is null, and needs no condition. */
function rangesOf(labels: readonly number[]): readonly (LabelRange | null)[] {
  if (labels.length <= labelsAtOnce) return [null]
  const sorted = labels.toSorted((one, other) => one - other)
  const bounds = sorted.filter((_, place) => place > 0 && place % labelsAtOnce === 0)
  return [...bounds, Number.MAX_SAFE_INTEGER].map((upTo, place) => [bounds[place - 1] ?? 0, upTo])
}

async function startsBelow(db: Database, span: SumSpan, below: string, oldest: string): Promise<string[]> {
  const starts: string[] = []
  while (starts.length < atOnce[span]) {
    const start = await startBelow(db, span, starts.at(-1) ?? below, oldest)
    if (start === null) break
    starts.push(start)
  }
  return starts
}

interface Spans extends Pick<SumPart, 'span' | 'question'> {
  from: string
  below: string
  range: LabelRange | null
}

async function selectSums(
  db: Database,
  filter: RecordFilter,
  chosen: LabelChoice | null,
  { span, from, below, question, range }: Spans,
): Promise<SumRow[]> {
  const inside = sql`s.span = ${span} and s.start >= ${from} and s.start < ${below}`
  const among = range === null ? [] : [sql`s.label > ${range[0]} and s.label <= ${range[1]}`]
  const groups = selectGroups(question, {
    from: sql`record_sums s`,
    where: sql.join([inside, ...among, ...outcomeConditions(filter, chosen)], sql` and `),
    latencies: latenciesOfSums,
    severalSpans: true,
  })
  return (await groups.execute(db)).rows
}

/** What is under way is in no sum yet; there are as many as requests at once, and they have an index. */
async function* scanUnderWay(
  db: Database,
  filter: RecordFilter,
  chosen: LabelChoice | null,
  withTags: boolean,
): AsyncGenerator<Counted> {
  if (filter.state !== undefined && filter.state !== 'admitted') return
  const underWay = db.selectFrom('records').where(sql<boolean>`state = 'admitted'`)
  const matching = selectFiltered(underWay, filter, chosen).select(scannedColumns)
  const rows = await (withTags ? readTagged(matching) : matching.execute())
  if (rows.length > 0) yield { rows, labels: await readLabels(db) }
}
