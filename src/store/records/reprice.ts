import { sql } from 'kysely'
import { addToOutbox } from '../replica/outbox-rows.ts'
import type { Database, RecordRow } from '../schema.ts'
import { countedTags, repricedText } from './record-json.ts'
import { nanoOfUsd, spansOf } from './record-sum-keys.ts'
import type { RecordCost } from './record-tables.ts'

/** Puts another cost on records, and on the sums with them. */
export async function repriceRecords(db: Database, costs: readonly RecordCost[]): Promise<number> {
  const byId = new Map(costs.map((each) => [each.id, each]))
  const rows = await db
    .selectFrom('records')
    .select(['id', 'record_json', 'time', 'label', 'state', 'status', 'error_code', 'usd'])
    .where('id', 'in', [...byId.keys()])
    .where('state', '<>', 'admitted')
    .execute()
  const sums = new PricedSums()
  for (const row of rows) {
    const { id, record_json } = row
    const found = byId.get(id)
    if (found === undefined) continue
    const change = { usd: found.cost.usd, record_json: repricedText(record_json, found) }
    await db.updateTable('records').set(change).where('id', '=', id).execute()
    sums.add(row, found.cost.usd)
  }
  await sums.write(db)
  await addToOutbox(
    db,
    rows.map(({ id }) => id),
  )
  return rows.length
}

type PricedRow = Pick<RecordRow, 'id' | 'record_json' | 'time' | 'label' | 'state' | 'status' | 'error_code' | 'usd'>

/** What new costs change in the sums: once for each of their rows. */
class PricedSums {
  readonly #rows: PricedRow[] = []
  readonly #usd: number[] = []

  add(row: PricedRow, usd: number): void {
    this.#rows.push(row)
    this.#usd.push(usd)
  }

  async write(db: Database): Promise<void> {
    const state = await db.selectFrom('record_sum_state').selectAll().executeTakeFirstOrThrow()
    const changes = new Map<string, { place: SumPlace; nano: number; priced: number }>()
    for (const [index, row] of this.#rows.entries()) {
      // Not in the sums yet: it will come in with its new cost.
      const places = row.id < state.summed_from ? [] : placesOf(row)
      const tagged = row.id < state.tagged_from ? [] : countedTags(row.record_json)
      for (const place of [...places, ...tagged.flatMap((tag) => placesOf(row).map((each) => ({ ...each, tag })))]) {
        const name = Object.values(place).join('\n')
        const change = changes.get(name) ?? { place, nano: 0, priced: 0 }
        changes.set(name, change)
        change.nano += nanoOfUsd(this.#usd[index] ?? 0) - nanoOfUsd(row.usd ?? 0)
        if (row.usd === null) change.priced++
      }
    }
    for (const { place, nano, priced } of changes.values())
      await sql`update ${sql.table(place.tag === undefined ? 'record_sums' : 'tag_sums')} set usd_nano = usd_nano + ${nano}, priced = priced + ${priced}
        where span = ${place.span} and start = ${place.start} and label = ${place.label} and state = ${place.state}
        and status = ${place.status} and error_code = ${place.error}
        and ${place.tag === undefined ? sql`true` : sql`tag = ${place.tag}`}`.execute(db)
  }
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
