import type { Database } from 'better-sqlite3'
import type { BackgroundWork, BatchHeldEntry } from '../../core/journal-format.ts'
import type { BatchInput } from '../../core/stored-object.ts'
import { toStoredObject } from '../objects/object-rows.ts'
import type { ObjectRow } from '../schema.ts'
import { readJson } from '../sqlite/json-column.ts'
import { type SharedChange, toSharedHold } from './shared-change.ts'
import { isClaimable, placeOf, type WorkRow } from './usage-claim.ts'

const rowsAtOnce = 1000

/** Where it begins: the least key of all. */
export const objectHistoryStart = JSON.stringify(['objects', '', '', '', ''])
const reasoningStart = JSON.stringify(['reasoning', ''])
const countedStart = JSON.stringify(['counted', '', '', ''])
const heldStart = JSON.stringify(['held', '', '', ''])

/** The next of what stood here before it was shared, and where to go on behind it; null: there is no more. */
export function readObjectHistory(sqlite: Database, from: string): { changes: SharedChange[]; next: string | null } {
  const [table, ...key] = JSON.parse(from) as string[]
  if (table === 'objects') return readObjects(sqlite, key)
  if (table === 'reasoning') return readReasoning(sqlite, key)
  return table === 'counted' ? readCounted(sqlite, key) : readHeld(sqlite, key)
}

function readObjects(sqlite: Database, key: readonly string[]): ReturnType<typeof readObjectHistory> {
  const rows = sqlite
    .prepare<(string | number)[], ObjectRow & { input_json: string | null }>(
      `select o.*, b.input_json from objects o left join batch_inputs b on o.type in ('file', 'eval') and b.file_id = o.id
       and b.provider_id = o.provider_id and b.credential_id = o.credential_id
       where (o.type, o.id, o.provider_id, o.credential_id) > (?, ?, ?, ?)
       order by o.type, o.id, o.provider_id, o.credential_id limit ?`,
    )
    .all(...key, rowsAtOnce)
  const last = rows.at(-1)
  const changes = rows.map((row): SharedChange => {
    const input = row.input_json === null ? null : (JSON.parse(row.input_json) as BatchInput)
    return { kind: 'made', object: toStoredObject(row), input }
  })
  if (last === undefined) return { changes, next: reasoningStart }
  return { changes, next: JSON.stringify(['objects', last.type, last.id, last.provider_id, last.credential_id]) }
}

function readReasoning(sqlite: Database, key: readonly string[]): ReturnType<typeof readObjectHistory> {
  const rows = sqlite
    .prepare<(string | number)[], { name: string; expires_at: number; sealed: string }>(
      'select name, expires_at, sealed from reasoning where name > ? order by name limit ?',
    )
    .all(...key, rowsAtOnce)
  const last = rows.at(-1)
  const changes = rows.map(({ name, expires_at, sealed }): SharedChange => {
    return { kind: 'reasoning', name, expiresAt: expires_at, sealed }
  })
  return { changes, next: last === undefined ? countedStart : JSON.stringify(['reasoning', last.name]) }
}

/** What was counted before it was shared: nobody counts it again. */
function readCounted(sqlite: Database, key: readonly string[]): ReturnType<typeof readObjectHistory> {
  const rows = sqlite
    .prepare<(string | number)[], WorkRow & { type: BackgroundWork }>(
      `select id, provider_id, credential_id, type from counted_batches
       where (id, provider_id, credential_id) > (?, ?, ?) order by id, provider_id, credential_id limit ?`,
    )
    .all(...key, rowsAtOnce)
  const changes = rows.flatMap((row): SharedChange[] => {
    const usage = { usd: 0, tokens: 0, counters: [] }
    return isClaimable(row.id) ? [{ kind: 'counted', ...placeOf(row), type: row.type, usage }] : []
  })
  return { changes, next: rows.length === 0 ? heldStart : keyOf('counted', rows.at(-1)) }
}

function readHeld(sqlite: Database, key: readonly string[]): ReturnType<typeof readObjectHistory> {
  const rows = sqlite
    .prepare<(string | number)[], WorkRow & { held_json: string }>(
      `select batch_id as id, provider_id, credential_id, held_json from batch_holds
       where (batch_id, provider_id, credential_id) > (?, ?, ?)
       order by batch_id, provider_id, credential_id limit ?`,
    )
    .all(...key, rowsAtOnce)
  const changes = rows.flatMap((row): SharedChange[] => {
    return isClaimable(row.id) ? [toSharedHold(readJson<BatchHeldEntry>(row.held_json))] : []
  })
  return { changes, next: keyOf('held', rows.at(-1)) }
}

function keyOf(table: string, last: WorkRow | undefined): string | null {
  return last === undefined ? null : JSON.stringify([table, last.id, last.provider_id, last.credential_id])
}
