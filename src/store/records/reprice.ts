import { sql } from 'kysely'
import { nanoOfUsd } from '../../core/cost/money.ts'
import { addToOutbox } from '../replica/outbox-rows.ts'
import type { Database, RecordRow } from '../schema.ts'
import { countedTags, repricedText } from './record-json.ts'
import { spansOf } from './record-sum-keys.ts'
import type { RecordCost } from './record-tables.ts'

type PricedRow = Pick<RecordRow, 'id' | 'record_json' | 'time' | 'label' | 'state' | 'status' | 'error_code' | 'usd'>

/** Puts another cost on records, and on the sums with them. */
export async function repriceRecords(db: Database, costs: readonly RecordCost[]): Promise<number> {
  const byId = new Map(costs.map((each) => [each.id, each]))
  const rows: PricedRow[] = await db
    .selectFrom('records')
    .select(['id', 'record_json', 'time', 'label', 'state', 'status', 'error_code', 'usd'])
    .where('id', 'in', [...byId.keys()])
    .where('state', '<>', 'admitted')
    .execute()
  const state = await db.selectFrom('record_sum_state').selectAll().executeTakeFirstOrThrow()
  // Once for each row of sums.
  const changes = new Map<string, { place: SumPlace; nano: number; priced: number }>()
  for (const row of rows) {
    const { id, record_json, usd } = row
    const found = byId.get(id)
    if (found === undefined) continue
    const change = { usd: found.cost.usd, record_json: repricedText(record_json, found) }
    await db.updateTable('records').set(change).where('id', '=', id).execute()
    // Not in the sums yet: it will come in with its new cost.
    const places = id < state.summed_from ? [] : placesOf(row)
    const tags = id < state.tagged_from ? [] : countedTags(record_json)
    for (const place of [...places, ...tags.flatMap((tag) => placesOf(row).map((each) => ({ ...each, tag })))]) {
      const begin = () => ({ place, nano: 0, priced: 0 })
      const sum = changes.getOrInsertComputed(Object.values(place).join('\n'), begin)
      sum.nano += nanoOfUsd(change.usd) - nanoOfUsd(usd ?? 0)
      if (usd === null) sum.priced++
    }
  }
  for (const { place, nano, priced } of changes.values())
    await sql`update ${sql.table(place.tag === undefined ? 'record_sums' : 'tag_sums')} set usd_nano = usd_nano + ${nano}, priced = priced + ${priced}
      where span = ${place.span} and start = ${place.start} and label = ${place.label} and state = ${place.state}
      and status = ${place.status} and error_code = ${place.error}
      and ${place.tag === undefined ? sql`true` : sql`tag = ${place.tag}`}`.execute(db)
  await addToOutbox(
    db,
    rows.map(({ id }) => id),
  )
  return rows.length
}

interface SumPlace {
  span: string
  start: string
  label: number
  state: string
  status: number
  error: string
  /** Absent: of the sums that tell no tags apart. */
  tag?: string
}

function placesOf({ time, label, state, status, error_code }: PricedRow): SumPlace[] {
  const outcome = { label, state, status: status ?? 0, error: error_code ?? '' }
  return Object.entries(spansOf(time)).map(([span, start]) => ({ span, start, ...outcome }))
}
