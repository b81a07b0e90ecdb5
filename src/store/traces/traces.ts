import type { Tables } from '../api.ts'
import { readRecords } from '../records/record-rows.ts'
import type { Database } from '../schema.ts'

export function tracesTable(db: Database): Tables['traces'] {
  return {
    async take(limit) {
      const pending = await db.selectFrom('pending_traces').selectAll().orderBy('sequence').limit(limit).execute()
      if (pending.length === 0) return []
      const ids = pending.map(({ record_id }) => record_id)
      const rows = await db.selectFrom('records').select(['id', 'record_json']).where('id', 'in', ids).execute()
      const records = new Map((await readRecords(db, rows)).map((record) => [record.id, record]))
      return pending.map(({ sequence, record_id }) => ({ sequence, record: records.get(record_id) ?? null }))
    },
    async pending() {
      const ends = await endsOf(db)
      return ends === null ? 0 : ends.last - ends.first + 1
    },
    async finish(through) {
      await db.deleteFrom('pending_traces').where('sequence', '<=', through).execute()
    },
    async trim(most) {
      const ends = await endsOf(db)
      if (ends === null || ends.last - ends.first < most) return 0
      const { numDeletedRows } = await db
        .deleteFrom('pending_traces')
        .where('sequence', '<=', ends.last - most)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

/** Numbers without gaps: only the oldest are ever removed. */
async function endsOf(db: Database): Promise<{ first: number; last: number } | null> {
  const first = await db.selectFrom('pending_traces').select('sequence').orderBy('sequence').limit(1).executeTakeFirst()
  if (first === undefined) return null
  const last = await db
    .selectFrom('pending_traces')
    .select('sequence')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return { first: first.sequence, last: last.sequence }
}
