import { reachFaultPoint } from '../../core/fault-point.ts'
import type { Key, Tables } from '../api.ts'
import { present, refuseTaken } from '../reject.ts'
import type { Database, KeyRow, KeySecretRow } from '../schema.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'
import { StoreConflict } from '../store-error.ts'
import { markRemoved, nextKeyVersion, removeKey } from './key-version.ts'

export function keysTable(db: Database): Tables['keys'] {
  const withId = (id: string) => db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirst()
  const withName = (environmentId: string, name: string) =>
    inScope(db, null, environmentId).where('name', '=', name).where('revoked_at', 'is', null).executeTakeFirst()
  const join = async (row: KeyRow) => toKey(row, await readSecrets(db, [row.id]))
  return {
    async list(projectId, environmentId) {
      const rows = await inScope(db, projectId, environmentId).orderBy('created_at').orderBy('name').execute()
      return await joinSecrets(db, rows)
    },
    async find(nameOrId, projectId, environmentId) {
      const row =
        (await withId(nameOrId)) ??
        (await findByName(db, nameOrId, projectId, environmentId)) ??
        (await findByLastFour(db, nameOrId, projectId, environmentId))
      return row ? await join(row) : null
    },
    async insert(key) {
      refuseTaken(await withName(key.environmentId, key.name), 'key', key.name, key.id)
      await db
        .insertInto('keys')
        .values(toRow(key, await nextKeyVersion(db)))
        .execute()
      await writeSecrets(db, key)
      return key
    },
    async update(id, change) {
      const before = await join(present(await withId(id), 'key', id))
      const key = { ...before, ...change }
      if (key.revokedAt === null) refuseTaken(await withName(key.environmentId, key.name), 'key', key.name, id)
      const version = await nextKeyVersion(db)
      await db.updateTable('keys').set(toRow(key, version)).where('id', '=', id).execute()
      if (change.secrets) await replaceSecrets(db, before, key, version)
      reachFaultPoint('key-change.before-commit')
      return key
    },
    touch: (lastUsed) => touchKeys(db, lastUsed),
    async remove(id) {
      present(await withId(id), 'key', id)
      await removeKey(db, id)
    },
  }
}

/** Many ids are read in chunks: engines limit the values of one statement. */
export async function joinSecrets(db: Database, rows: readonly KeyRow[]): Promise<Key[]> {
  const keys: Key[] = []
  for (let start = 0; start < rows.length; start += 500) {
    const chunk = rows.slice(start, start + 500)
    const secrets = Map.groupBy(
      await readSecrets(
        db,
        chunk.map((row) => row.id),
      ),
      (secret) => secret.key_id,
    )
    for (const row of chunk) keys.push(toKey(row, secrets.get(row.id) ?? []))
  }
  return keys
}

/** Only moves forward: the segments of several threads arrive in no order. Not a change of the key set. */
export async function touchKeys(db: Database, lastUsed: Record<string, string>): Promise<void> {
  for (const [id, time] of Object.entries(lastUsed)) {
    await db
      .updateTable('keys')
      .set({ last_used_at: time })
      .where('id', '=', id)
      .where((where) => where.or([where('last_used_at', 'is', null), where('last_used_at', '<', time)]))
      .execute()
  }
}

function inScope(db: Database, projectId: string | null, environmentId: string | null) {
  let query = db.selectFrom('keys').selectAll('keys')
  if (projectId !== null) query = query.where('project_id', '=', projectId)
  if (environmentId !== null) query = query.where('environment_id', '=', environmentId)
  return query
}

/** The key that has the name now; else the one that was revoked last. */
async function findByName(
  db: Database,
  name: string,
  projectId: string | null,
  environmentId: string | null,
): Promise<KeyRow | undefined> {
  const rows = await inScope(db, projectId, environmentId)
    .where('name', '=', name)
    .orderBy('revoked_at', 'desc')
    .execute()
  const current = rows.filter((row) => row.revoked_at === null)
  refuseSeveral(current, `key ${name} exists in several environments`)
  return current[0] ?? rows[0]
}

async function findByLastFour(
  db: Database,
  lastFour: string,
  projectId: string | null,
  environmentId: string | null,
): Promise<KeyRow | undefined> {
  const ids = db.selectFrom('key_secrets').select('key_id').where('last_four', '=', lastFour)
  const rows = await inScope(db, projectId, environmentId).where('id', 'in', ids).execute()
  refuseSeveral(rows, `several keys end in ${lastFour}`)
  return rows[0]
}

function refuseSeveral(rows: readonly KeyRow[], what: string): void {
  if (rows.length < 2) return
  throw new StoreConflict(`${what}: ${rows.map((row) => `${row.name} (${row.id})`).join(', ')}; choose one by its id`)
}

async function readSecrets(db: Database, ids: readonly string[]): Promise<KeySecretRow[]> {
  return await db.selectFrom('key_secrets').selectAll().where('key_id', 'in', ids).orderBy('position').execute()
}

async function writeSecrets(db: Database, key: Key): Promise<void> {
  const rows = key.secrets.map((secret, position) => ({
    key_id: key.id,
    position,
    hash: secret.hash,
    last_four: secret.lastFour,
    expires_at: secret.expiresAt,
  }))
  if (rows.length === 0) return
  await db.insertInto('key_secrets').values(rows).execute()
  // A secret that is put back (a rotation undone) no longer counts as removed.
  const hashes = rows.map((row) => row.hash)
  await db.deleteFrom('removed_key_hashes').where('hash', 'in', hashes).execute()
}

async function replaceSecrets(db: Database, before: Key, key: Key, version: number): Promise<void> {
  await db.deleteFrom('key_secrets').where('key_id', '=', key.id).execute()
  await writeSecrets(db, key)
  const kept = new Set(key.secrets.map((secret) => secret.hash))
  await markRemoved(
    db,
    before.secrets.map((secret) => secret.hash).filter((hash) => !kept.has(hash)),
    version,
  )
}

function toRow(key: Key, version: number): KeyRow {
  return {
    id: key.id,
    name: key.name,
    project_id: key.projectId,
    environment_id: key.environmentId,
    policy_id: key.policyId,
    tags_json: writeJson(key.tags),
    created_at: key.createdAt,
    created_by: key.createdBy,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    last_used_at: key.lastUsedAt,
    version,
  }
}

function toKey(row: KeyRow, secrets: readonly KeySecretRow[]): Key {
  return {
    id: row.id,
    name: row.name,
    projectId: row.project_id,
    environmentId: row.environment_id,
    policyId: row.policy_id,
    tags: readJson(row.tags_json),
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    secrets: secrets.map((secret) => ({ hash: secret.hash, lastFour: secret.last_four, expiresAt: secret.expires_at })),
  }
}
