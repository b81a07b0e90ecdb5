import { closeSync, fsyncSync, openSync } from 'node:fs'
import { sql } from 'kysely'
import { reachFaultPoint } from '../../core/fault-point.ts'
import { hiddenHeader } from '../../core/secrets/hidden-header.ts'
import type { Reseal, SealedValue } from '../../sealing/reseal.ts'
import { parseSealed } from '../../sealing/seal-format.ts'
import type { ProviderRevision, Tables } from '../api.ts'
import type { Database } from '../schema.ts'
import { writeJson } from '../sqlite/json-column.ts'
import { StoreConflict } from '../store-error.ts'

export function sealTable(db: Database): Tables['seal'] {
  return {
    sealed: () => readSecrets(db),
    everything: () => readEverySeal(db),
    async replace(expected, changes) {
      if (!isSame(expected, await readEverySeal(db)))
        throw new StoreConflict('the sealed secrets changed in the meantime')
      await replaceSealed(db, changes)
      reachFaultPoint('seal-rotate.before-commit')
    },
    async makeDurable() {
      const { rows } = await sql<{ file: string }>`pragma database_list`.execute(db)
      // The database of temporary tables, which exists after a migration, has no file.
      for (const { file } of rows) if (file !== '') syncLog(`${file}-wal`)
    },
    async sealHeaders(revisions) {
      for (const { providerId, number, headers } of revisions)
        await db
          .updateTable('provider_revisions')
          .set({ headers_json: writeJson(headers) })
          .where('provider_id', '=', providerId)
          .where('number', '=', number)
          .execute()
    },
    witness: () => readNamed(db, 'witness'),
    recovery: () => readNamed(db, 'recovery'),
    setWitness: (sealed) => writeNamed(db, 'witness', sealed),
    async setRecovery(sealed) {
      await refuseStaleSeal(db, [sealed], [])
      await writeNamed(db, 'recovery', sealed)
    },
  }
}

async function readSecrets(db: Database): Promise<SealedValue[]> {
  return [
    ...(await readCredentials(db)),
    ...(await readHeaders(db)),
    ...(await readTotp(db)),
    ...(await readAlerts(db)),
  ]
}

/** Of headers that providers are sent, or that this one is. */
async function readHeaders(db: Database, providerId?: string): Promise<SealedValue[]> {
  const ofOne = providerId === undefined ? sql`` : sql`provider_id = ${providerId} and`
  const rows = await sql<SealedValue>`select distinct 'header:' || provider_id || ':' || key as identity,
      substr(value, ${hiddenHeader.length + 1}) as sealed
    from provider_revisions, json_each(headers_json)
    where ${ofOne} value like ${`${hiddenHeader}%`} order by 1, 2`.execute(db)
  return rows.rows
}

async function readCredentials(db: Database): Promise<SealedValue[]> {
  const rows = await db
    .selectFrom('provider_credentials')
    .select(['provider_id', 'id', 'sealed'])
    .distinct()
    .orderBy('provider_id')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ identity: `credential:${row.provider_id}:${row.id}`, sealed: row.sealed }))
}

/** Credentials, the secrets of one-time passwords and of alerts, and what the gateway has sealed for itself under its name. */
export async function readEverySeal(db: Database): Promise<SealedValue[]> {
  const own = await db.selectFrom('seal').select(['name', 'sealed']).orderBy('name').execute()
  const values = own.map(({ name, sealed }) => ({ identity: name, sealed }))
  return [...(await readSecrets(db)), ...values]
}

async function readTotp(db: Database): Promise<SealedValue[]> {
  const rows = await db.selectFrom('operators').select(['id', 'totp_sealed']).orderBy('id').execute()
  return rows.flatMap(({ id, totp_sealed: sealed }) => (sealed === null ? [] : [{ identity: `totp:${id}`, sealed }]))
}

async function readAlerts(db: Database): Promise<SealedValue[]> {
  const rows = await db.selectFrom('alerts').select(['id', 'sealed']).orderBy('id').execute()
  return rows.map(({ id, sealed }) => ({ identity: `alert:${id}`, sealed }))
}

/** In the caller's transaction. All revisions of a provider that share a credential get its new seal. */
export async function replaceSealed(db: Database, changes: Reseal['changes']): Promise<void> {
  for (const { identity, before, after: sealed } of changes) {
    const [kind, owner = '', id = ''] = identity.split(':')
    if (kind === 'totp')
      await sql`update operators set totp_sealed = ${sealed} where id = ${owner} and totp_sealed = ${before}`.execute(
        db,
      )
    else if (kind === 'alert')
      await sql`update alerts set sealed = ${sealed} where id = ${owner} and sealed = ${before}`.execute(db)
    else if (kind === 'credential')
      await sql`update provider_credentials set sealed = ${sealed}
        where provider_id = ${owner} and id = ${id} and sealed = ${before}`.execute(db)
    // Sealed text has no character that JSON would escape.
    else if (kind === 'header')
      await sql`update provider_revisions set headers_json = replace(headers_json, ${before}, ${sealed})
        where provider_id = ${owner} and instr(headers_json, ${before}) > 0`.execute(db)
    else await sql`update seal set sealed = ${sealed} where name = ${identity} and sealed = ${before}`.execute(db)
  }
}

/**
 * Throws `StoreConflict` for a value that was sealed, or read, before a rotation that has been committed since: it would
 * be the only one under a key that is gone. What stands here in this very form may be copied, whether it opens or not.
 */
export async function refuseStaleSeals(
  db: Database,
  providerId: string,
  { credentials, headers }: Pick<ProviderRevision, 'credentials' | 'headers'>,
): Promise<void> {
  const standing = await db
    .selectFrom('provider_credentials')
    .select('sealed')
    .where('provider_id', '=', providerId)
    .distinct()
    .execute()
  const values = Object.values(headers).filter((value) => value.startsWith(hiddenHeader))
  const known = values.length === 0 ? [] : await readHeaders(db, providerId)
  await refuseStaleSeal(
    db,
    [...credentials.map(({ sealed }) => sealed), ...values.map((value) => value.slice(hiddenHeader.length))],
    [...standing, ...known].map(({ sealed }) => sealed),
  )
}

export async function refuseStaleSeal(
  db: Database,
  values: readonly string[],
  standing: readonly string[],
): Promise<void> {
  const witness = await readNamed(db, 'witness')
  // Nothing but a test has a database that no key was made for.
  if (witness === null) return
  const live = parseSealed(witness)?.keyId
  const stale = values.some((value) => parseSealed(value)?.keyId !== live && !standing.includes(value))
  if (stale) throw new StoreConflict('the machine key was rotated in the meantime; try again')
}

export async function readNamed(db: Database, name: string): Promise<string | null> {
  const row = await db.selectFrom('seal').select('sealed').where('name', '=', name).executeTakeFirst()
  return row?.sealed ?? null
}

export async function writeNamed(db: Database, name: string, sealed: string): Promise<void> {
  await db
    .insertInto('seal')
    .values({ name, sealed })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
    .execute()
}

function isSame(expected: readonly SealedValue[], found: readonly SealedValue[]): boolean {
  const text = (values: readonly SealedValue[]) => values.map(({ identity, sealed }) => `${identity} ${sealed}`).sort()
  return JSON.stringify(text(expected)) === JSON.stringify(text(found))
}

/**
 * A commit in the write-ahead log outlives the process at once, and a power cut only then; what has left the log for the
 * database was synced on its way. Never the database itself: closing it would give up the locks that SQLite has on it.
 */
function syncLog(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
