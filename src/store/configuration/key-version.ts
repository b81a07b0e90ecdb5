import type { Database } from '../schema.ts'

/** The next version of the key set. The single row is the lock: two writers never get one number. */
export async function nextKeyVersion(db: Database): Promise<number> {
  await db
    .updateTable('key_version')
    .set((set) => ({ version: set('version', '+', 1) }))
    .execute()
  return await keyVersion(db)
}

export async function keyVersion(db: Database): Promise<number> {
  const row = await db.selectFrom('key_version').select('version').executeTakeFirstOrThrow()
  return Number(row.version)
}

/** Remembers hashes that are no longer valid, for readers that follow the key set by version. */
export async function markRemoved(db: Database, hashes: readonly string[], version: number): Promise<void> {
  if (hashes.length === 0) return
  await db
    .insertInto('removed_key_hashes')
    .values(hashes.map((hash) => ({ hash, version })))
    .onConflict((conflict) => conflict.column('hash').doUpdateSet({ version }))
    .execute()
}

export async function removeKey(db: Database, id: string): Promise<void> {
  const secrets = await db.selectFrom('key_secrets').select('hash').where('key_id', '=', id).execute()
  await markRemoved(
    db,
    secrets.map((secret) => secret.hash),
    await nextKeyVersion(db),
  )
  await db.deleteFrom('policy_attachments').where('target_id', '=', id).execute()
  await db.deleteFrom('keys').where('id', '=', id).execute()
}
