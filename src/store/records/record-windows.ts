import { setImmediate as nextTurn } from 'node:timers/promises'
import { idTime } from '../../core/ids.ts'
import type { RecordFilter } from '../api.ts'
import { throwIfStopped } from '../cancellation.ts'
import type { Database } from '../schema.ts'
import { idAt, idSlackMs, timeOf } from './id-time.ts'
import { endOf, latestPeriod } from './label-periods.ts'
import type { Window } from './record-filter.ts'
import type { LabelChoice } from './record-labels.ts'
import { latestHourEnd } from './sum-hours.ts'

/** Ids looked at in one statement: a few milliseconds, then it is somebody else's turn. */
const windowIds = 2000

/**
 * Slices of the records, newest first, so that a long search never holds the thread. It goes on where something that the filter
 * wants next occurs: where one of few labels does, or where the sums of an hour have the outcome.
 */
export async function* recordWindows(
  db: Database,
  filter: RecordFilter,
  labels: LabelChoice | null,
): AsyncGenerator<Window> {
  const whole = wholeWindow(filter)
  if (whole !== null) return yield whole
  const floor = filter.since === undefined ? '' : idAt(Date.parse(filter.since) - idSlackMs)
  let below = upperBound(filter)
  for (;;) {
    const next = await nextPlace(db, filter, labels, below)
    if (next === null || (next.below !== null && next.below <= floor)) return
    below = next.below
    let query = db.selectFrom('records').select('id').where('id', '>=', floor).orderBy('id', 'desc')
    if (below !== null) query = query.where('id', '<', below)
    const mark: { id: string } | undefined = await query
      .offset(windowIds - 1)
      .limit(1)
      .executeTakeFirst()
    yield { below, from: mark?.id ?? floor }
    if (!mark) return
    below = mark.id
    await nextTurn()
    throwIfStopped()
  }
}

/** What is found without a search: one id, and what is under way. */
function wholeWindow(filter: RecordFilter): Window | null {
  const { id, state } = filter
  if (id !== undefined && idTime(id) !== null) return { below: upperBound(filter), from: id }
  return state === 'admitted' ? { below: upperBound(filter), from: '' } : null
}

/** Where the search goes on; null: nothing that the filter wants occurs before. */
async function nextPlace(
  db: Database,
  filter: RecordFilter,
  labels: LabelChoice | null,
  below: string | null,
): Promise<{ below: string | null } | null> {
  let bound = below
  const lower = (end: string) => {
    if (bound === null || end < bound) bound = end
  }
  if (labels?.few) {
    const period = await latestPeriod(db, labels.numbers, bound)
    if (period === null) return null
    lower(endOf(period))
  }
  const { status, error, errors, state } = filter
  if (status !== undefined || error !== undefined || errors || state !== undefined) {
    const from = bound === null ? Number.POSITIVE_INFINITY : timeOf(bound) + idSlackMs
    const end = await latestHourEnd(db, filter, labels, from)
    if (end === null) return null
    if (Number.isFinite(end)) lower(idAt(end + idSlackMs))
  }
  return { below: bound }
}

function upperBound(filter: RecordFilter): string | null {
  const until = filter.until === undefined ? null : idAt(Date.parse(filter.until) + idSlackMs)
  if (filter.before === undefined) return until
  return until === null || filter.before < until ? filter.before : until
}
