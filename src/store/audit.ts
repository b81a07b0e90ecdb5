import { createHash } from 'node:crypto'
import { newId } from '../core/ids.ts'
import type { AuditEvent, Tables } from './api.ts'
import { canonicalJson, readJson, writeJson } from './json-column.ts'
import type { AuditRow, Database } from './schema.ts'

export type AuditInput = Omit<AuditEvent, 'id' | 'time'>

/** Append-only: triggers refuse every change, and each line's hash covers the one before, so that a cut shows. */
export function auditTable(db: Database): Tables['audit'] {
  return {
    async list(filter) {
      let query = db.selectFrom('audit').selectAll().orderBy('sequence', 'desc').limit(filter.limit)
      const { operation, resource, since, until } = filter
      if (operation !== undefined) {
        // `keys` means every operation on keys: '/' is the character after '.'.
        query = query.where((where) =>
          where.or([
            where('operation', '=', operation),
            where.and([where('operation', '>', `${operation}.`), where('operation', '<', `${operation}/`)]),
          ]),
        )
      }
      if (resource !== undefined) {
        query = query.where((where) =>
          where.or([where('resource_id', '=', resource), where('resource_name', '=', resource)]),
        )
      }
      if (since !== undefined) query = query.where('time', '>=', new Date(since).toISOString())
      if (until !== undefined) query = query.where('time', '<', new Date(until).toISOString())
      return (await query.execute()).map(toEvent)
    },
    note: async () => {},
  }
}

export async function appendAudit(db: Database, input: AuditInput): Promise<void> {
  const last = await db.selectFrom('audit').select('hash').orderBy('sequence', 'desc').limit(1).executeTakeFirst()
  const event: AuditEvent = { id: newId('aud'), time: new Date().toISOString(), ...input }
  const previous = last?.hash ?? ''
  await db
    .insertInto('audit')
    .values({
      id: event.id,
      time: event.time,
      actor: event.actor,
      surface: event.surface,
      operation: event.operation,
      resource_kind: event.resource.kind,
      resource_id: event.resource.id,
      resource_name: event.resource.name,
      before_json: writeJson(event.before),
      after_json: writeJson(event.after),
      previous_hash: previous,
      hash: auditHash(event, previous),
    })
    .execute()
}

/** SHA-256 over the hash before and the line's canonical JSON, in hex; the first line follows the empty text. */
export function auditHash(event: AuditEvent, previousHash: string): string {
  const { id, time, actor, surface, operation, resource, before, after } = event
  const line = canonicalJson({
    id,
    time,
    actor,
    surface,
    operation,
    resource,
    before: before ?? null,
    after: after ?? null,
  })
  return createHash('sha256').update(previousHash).update(line).digest('hex')
}

function toEvent(row: AuditRow): AuditEvent {
  return {
    id: row.id,
    time: row.time,
    actor: row.actor,
    surface: row.surface as AuditEvent['surface'],
    operation: row.operation,
    resource: { kind: row.resource_kind, id: row.resource_id, name: row.resource_name },
    before: readJson(row.before_json),
    after: readJson(row.after_json),
  }
}
