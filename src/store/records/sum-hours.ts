import { idTime } from '../../core/ids.ts'
import type { RecordFilter } from '../api.ts'
import type { Database } from '../schema.ts'
import type { LabelChoice } from './record-labels.ts'
import { selectOutcomes } from './sum-outcomes.ts'
import { momentOf, startOf } from './sum-spans.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** An id is made a little before the time of its record, or after it. */
const slackMs = 60_000

/**
 * The end of the latest hour that has such a label and outcome and begins at that moment or before: by its day first, so that a
 * search over months reads some thousand small rows. Infinity: nobody knows, since sums do not go so far back yet. Null: there is none.
 * What is under way is in no sum.
 */
export async function latestHourEnd(
  db: Database,
  filter: RecordFilter,
  labels: LabelChoice | null,
  moment: number,
): Promise<number | null> {
  const summedFrom = await readSummedFrom(db)
  if (moment < summedFrom) return Number.POSITIVE_INFINITY
  const latest = (span: 'hour' | 'day', from: number, to: number) =>
    findLatest(db, filter, labels, { span, from: startOf(from, span), to: startOf(to, span) })
  const today = Number.isFinite(moment) ? Math.floor(moment / dayMs) * dayMs : moment
  const recent = Number.isFinite(moment) ? await latest('hour', today, moment) : null
  const day = recent === null ? await latest('day', Number.NEGATIVE_INFINITY, today - 1) : null
  const hour = recent ?? (day === null ? null : await latest('hour', momentOf(day), momentOf(day) + dayMs - 1))
  if (hour !== null && momentOf(hour) >= summedFrom) return momentOf(hour) + hourMs
  return summedFrom === Number.NEGATIVE_INFINITY ? null : summedFrom
}

/** Milliseconds since the epoch; what came before is not in the sums yet. */
export async function readSummedFrom(db: Database): Promise<number> {
  return timeOf((await readState(db)).summed_from)
}

/** The same of the sums by tag. */
export async function readTaggedFrom(db: Database): Promise<number> {
  const { summed_from, tagged_from } = await readState(db)
  return Math.max(timeOf(summed_from), timeOf(tagged_from))
}

async function readState(db: Database) {
  return await db.selectFrom('record_sum_state').selectAll().executeTakeFirstOrThrow()
}

function timeOf(from: string): number {
  if (from === '') return Number.NEGATIVE_INFINITY
  return (idTime(from.replace(/~$/, '')) ?? Date.now()) + slackMs
}

async function findLatest(
  db: Database,
  filter: RecordFilter,
  labels: LabelChoice | null,
  { span, from, to }: { span: 'hour' | 'day'; from: string; to: string },
): Promise<string | null> {
  const inside = db
    .selectFrom('record_sums')
    .where('span', '=', span)
    .where('start', '>=', from)
    .where('start', '<=', to)
  const found = await selectOutcomes(inside, filter, labels)
    .select('start')
    .orderBy('start', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found?.start ?? null
}
