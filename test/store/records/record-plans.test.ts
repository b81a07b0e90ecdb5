import { CompiledQuery, type Kysely } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RecordFilter } from '../../../src/store/api.ts'
import { idAt } from '../../../src/store/records/id-time.ts'
import { selectMatching } from '../../../src/store/records/record-filter.ts'
import { selectOutcomes } from '../../../src/store/records/sum-outcomes.ts'
import type { Schema } from '../../../src/store/schema.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

async function openDatabase(): Promise<Kysely<Schema>> {
  const store = await openTestStore(storePaths(temporaryDirectory()).databasePath)
  onTestFinished(() => store.close())
  return store.connection.db
}

async function planOf(db: Kysely<Schema>, filter: Partial<RecordFilter>, labels: number[] | null): Promise<string[]> {
  const window = { below: idAt(Date.now()), from: idAt(Date.now() - 3_600_000) }
  const chosen = labels === null ? null : { numbers: labels, few: true, named: null }
  const query = selectMatching(db, { limit: 50, ...filter }, chosen, window).select(['id', 'record_json'])
  const { sql, parameters } = query.orderBy('id', 'desc').limit(50).compile()
  const explained = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters])
  const { rows } = await db.executeQuery<{ detail: string }>(explained)
  return rows.map(({ detail }) => detail).filter((detail) => /records|temp b-tree/i.test(detail))
}

describe('a page of records', () => {
  const byId = ['SEARCH records USING INDEX sqlite_autoindex_records_1 (id>? AND id<?)']
  const filters: [string, Partial<RecordFilter>, number[] | null][] = [
    ['nothing', {}, null],
    ['key, model, provider, lane or project', {}, [1, 2]],
    ['state', { state: 'interrupted' }, null],
    ['status', { status: '4xx' }, null],
    ['time', { since: '2026-01-01T00:00:00Z', until: '2027-01-01T00:00:00Z' }, null],
    ['errors, slow and fallen back', { errors: true, slowerThanMs: 1000, fellBack: true, failedAt: 'a' }, null],
    ['part of an id', { id: 'abc' }, null],
    ['tag', { tags: { team: 'a', run: null } }, null],
    ['all of them', { status: '429', tags: { team: 'a' }, since: '2026-01-01T00:00:00Z' }, [3]],
  ]
  it.each(filters)(
    'filtered by %s goes through the ids of its window, in their order',
    async (_name, filter, labels) => {
      expect(await planOf(await openDatabase(), filter, labels)).toEqual(byId)
    },
  )

  it('filtered by error goes through those of the error alone', async () => {
    expect(await planOf(await openDatabase(), { error: 'rate_limited' }, null)).toEqual([
      'SEARCH records USING INDEX records_error (error_code=? AND id>? AND id<?)',
    ])
  })
})

describe('the latest hour of an outcome', () => {
  const outcomes: [string, Partial<RecordFilter>, number[] | null][] = [
    ['status', { status: '4xx' }, null],
    ['error', { error: 'rate_limited' }, null],
    ['errors', { errors: true }, [1, 2]],
    ['state and label', { state: 'interrupted' }, [1]],
  ]
  it.each(outcomes)('by %s goes back through the key, and sorts nothing', async (_name, filter, labels) => {
    const db = await openDatabase()
    const inside = db.selectFrom('record_sums').where('span', '=', 'day').where('start', '<=', '2026-03-01')
    const chosen = labels === null ? null : { numbers: labels, few: true, named: null }
    const query = selectOutcomes(inside, { limit: 1, ...filter }, chosen).select('start')
    const { sql, parameters } = query.orderBy('start', 'desc').limit(1).compile()
    const { rows } = await db.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
    )
    const plan = rows.map(({ detail }) => detail).filter((detail) => /record_sums|temp b-tree/i.test(detail))
    expect(plan).toEqual(['SEARCH record_sums USING PRIMARY KEY (span=? AND start<?)'])
  })
})
