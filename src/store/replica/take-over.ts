import type { Database } from 'better-sqlite3'
import { toObjectRow } from '../objects/object-rows.ts'
import { readHead } from '../records/record-head.ts'
import type { HotStatements } from '../sqlite/hot-statements.ts'
import type { ForeignRecord } from './replica-types.ts'
import type { SharedChange } from './shared-change.ts'

/** No run of this gateway: nothing of them is ever under way here. */
const owner = 'another node'

/** Records of other nodes, each once; and none of them is brought to PostgreSQL again. Returns how many were new. */
export function takeOver(hot: HotStatements, records: readonly ForeignRecord[]): number {
  const { outbox } = hot
  hot.outbox = null
  try {
    return records.filter((record) => addOne(hot, record)).length
  } finally {
    hot.outbox = outbox
  }
}

/** Whose things at providers are, and what is kept of conversations, of all nodes. */
export function takeOverObjects(sqlite: Database, changes: readonly SharedChange[]): void {
  const addObject = sqlite.prepare(
    `insert or ignore into objects
       (type, id, provider_id, credential_id, project_id, environment_id, key_id, request_id, created_at, batch_id)
     values (:type, :id, :provider_id, :credential_id, :project_id, :environment_id, :key_id, :request_id, :created_at,
       :batch_id)`,
  )
  const addInput = sqlite.prepare('insert or ignore into batch_inputs values (?, ?, ?, ?)')
  const addReasoning = sqlite.prepare('insert or ignore into reasoning (name, expires_at, sealed) values (?, ?, ?)')
  // As if it had been counted here, so that nobody counts it again.
  const addCounted = sqlite.prepare(
    `insert or ignore into counted_batches (id, provider_id, credential_id, request_id, counted_at, type)
     values (?, ?, ?, '', ?, ?)`,
  )
  for (const change of changes) {
    if (change.kind === 'reasoning') addReasoning.run(change.name, change.expiresAt, change.sealed)
    else if (change.kind === 'counted') {
      const { batchId, providerId, credentialId, type } = change
      addCounted.run(batchId, providerId, credentialId ?? '', new Date().toISOString(), type)
    } else if (change.kind === 'made') {
      const row = toObjectRow(change.object)
      addObject.run(row)
      if (change.input !== null) addInput.run(row.id, row.provider_id, row.credential_id, JSON.stringify(change.input))
    }
  }
}

function addOne(hot: HotStatements, { text, repeats, last_time }: ForeignRecord): boolean {
  const head = readHead(text, 'settled')
  if (head === null || hot.hasRecord(head.id)) return false
  hot.writeRecord(head, owner, text)
  if (repeats !== null && last_time !== null) hot.addRepeat(head.id, repeats, last_time)
  return true
}
