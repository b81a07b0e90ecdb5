import type { ObjectType, StoredObject } from '../../core/objects/stored-object.ts'
import type { ObjectRow } from '../schema.ts'

export function toStoredObject(row: ObjectRow): StoredObject {
  return {
    // Only the gateway's own names of types are ever written there.
    type: row.type as ObjectType,
    id: row.id,
    providerId: row.provider_id,
    credentialId: row.credential_id || null,
    projectId: row.project_id,
    environmentId: row.environment_id,
    keyId: row.key_id,
    requestId: row.request_id,
    createdAt: row.created_at,
    batchId: row.batch_id,
  }
}

export function toObjectRow(object: StoredObject): ObjectRow {
  return {
    type: object.type,
    id: object.id,
    provider_id: object.providerId,
    credential_id: object.credentialId ?? '',
    project_id: object.projectId,
    environment_id: object.environmentId,
    key_id: object.keyId,
    request_id: object.requestId,
    created_at: object.createdAt,
    batch_id: object.batchId,
  }
}

/**
 * A deleted object was created before its deletion, even if the clock of the node that created it is ahead of this
 * one's.
 */
export function forgottenUntil(createdAt?: string): string {
  const now = new Date().toISOString()
  return createdAt !== undefined && createdAt > now ? createdAt : now
}
