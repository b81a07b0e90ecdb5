import type { Database } from 'better-sqlite3'
import type { BackgroundWork, BatchHeldEntry } from '../../core/journal-format.ts'
import type { BatchInput } from '../../core/objects/batch-input.ts'
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

interface HistoryPage {
  changes: SharedChange[]
  next: string | null
}

/** The next of what stood here before it was shared, and where to go on behind it; null: there is no more. */
export function readObjectHistory(sqlite: Database, from: string): HistoryPage {
  const [table, ...key] = JSON.parse(from) as string[]
  switch (table) {
    case 'objects':
      return readPage<ObjectRow & { input_json: string | null }>(sqlite, key, {
        name: table,
        columns: 'o.type, o.id, o.provider_id, o.credential_id',
        rows: `o.*, b.input_json from objects o left join batch_inputs b on o.type in ('file', 'eval') and b.file_id = o.id
          and b.provider_id = o.provider_id and b.credential_id = o.credential_id`,
        toChange({ input_json, ...row }) {
          const input = input_json === null ? null : readJson<BatchInput>(input_json)
          return { kind: 'made', object: toStoredObject(row), input }
        },
        following: reasoningStart,
      })
    case 'reasoning':
      return readPage<{ name: string; expires_at: number; sealed: string }>(sqlite, key, {
        name: table,
        columns: 'name',
        rows: 'name, expires_at, sealed from reasoning',
        toChange: ({ name, expires_at, sealed }) => ({ kind: 'reasoning', name, expiresAt: expires_at, sealed }),
        following: countedStart,
      })
    case 'counted':
      return readPage<WorkRow & { type: BackgroundWork }>(sqlite, key, {
        name: table,
        columns: 'id, provider_id, credential_id',
        rows: 'id, provider_id, credential_id, type from counted_batches',
        // What was counted before it was shared: nobody counts it again.
        toChange({ type, ...row }) {
          const usage = { usd: 0, tokens: 0, counters: [] }
          return isClaimable(row.id) ? { kind: 'counted', ...placeOf(row), type, usage } : null
        },
        following: heldStart,
      })
    default:
      return readPage<{ batch_id: string; held_json: string }>(sqlite, key, {
        name: 'held',
        columns: 'batch_id, provider_id, credential_id',
        rows: 'batch_id, held_json from batch_holds',
        toChange: ({ batch_id, held_json }) =>
          isClaimable(batch_id) ? toSharedHold(readJson<BatchHeldEntry>(held_json)) : null,
        following: null,
      })
  }
}

interface History<Row> {
  name: string
  /** Its key. */
  columns: string
  rows: string
  /** Null: it is of no kind that nodes share. */
  toChange(row: Row): SharedChange | null
  /** Where the next one begins. */
  following: string | null
}

function readPage<Row>(sqlite: Database, key: readonly string[], history: History<Row>): HistoryPage {
  const { name, columns, rows: text, toChange, following } = history
  const rows = sqlite
    .prepare<(string | number)[], Row & { key: string }>(
      `select json_array('${name}', ${columns}) as key, ${text} where (${columns}) > (${key.map(() => '?')})
       order by ${columns} limit ?`,
    )
    .all(...key, rowsAtOnce)
  return { changes: rows.flatMap((row) => toChange(row) ?? []), next: rows.at(-1)?.key ?? following }
}
