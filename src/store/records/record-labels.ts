import { maskKeys } from '../../core/secrets/mask-keys.ts'
import type { RecordFilter } from '../api.ts'
import type { Database, RecordLabelsRow } from '../schema.ts'

/** Labels whose next occurrence is looked up one by one; where more match, there is hardly anything to skip. */
const skippingLabels = 1000

export interface LabelChoice {
  numbers: number[]
  /** There are so few that it pays to skip where none of them occurs. */
  few: boolean
  /** Ids of the projects, where a name that counts was another's as well: then a record's time tells whose it is. */
  named: readonly string[] | null
}

/** The labels that a filter lets through; null where it names none of them. */
export async function chooseLabels(db: Database, filter: RecordFilter): Promise<LabelChoice | null> {
  let query = db.selectFrom('record_labels').select('number')
  let named = false
  for (const column of ['project', 'environment', 'model', 'provider', 'lane'] as const) {
    const wanted = filter[column]
    if (wanted === undefined) continue
    query = query.where(column, '=', wanted)
    named = true
  }
  const { key, projects } = filter
  const names = projects === undefined ? [] : await namesOf(db, projects)
  if (projects !== undefined) {
    query = query.where('project', 'in', ['', ...names.map(({ name }) => name)])
    named = true
  }
  if (key !== undefined) {
    query = query.where((where) => where.or([where('key_id', '=', key), where('key_name', '=', key)]))
    named = true
  }
  if (!named) return null
  const numbers = (await query.execute()).map((row) => row.number)
  const shared = names.some(({ since, until }) => since !== '' || until !== null)
  return { numbers, few: numbers.length <= skippingLabels, named: shared && projects !== undefined ? projects : null }
}

async function namesOf(db: Database, projects: readonly string[]) {
  return await db
    .selectFrom('project_names')
    .selectAll()
    .where('project_id', 'in', ['', ...projects])
    .execute()
}

export async function readLabels(db: Database): Promise<Map<number, RecordLabelsRow>> {
  const rows = await db.selectFrom('record_labels').selectAll().execute()
  return new Map(rows.map((row) => [row.number, { ...row, model: row.model && maskKeys(row.model) }]))
}
