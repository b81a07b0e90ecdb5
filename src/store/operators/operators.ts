import type { Tables } from '../api.ts'
import { refuseStaleSeal } from '../configuration/seal.ts'
import { present, refuseTaken } from '../reject.ts'
import type { Database, OperatorRow } from '../schema.ts'
import { StoreConflict } from '../store-error.ts'
import type { Grant, Operator, OperatorChange, Role } from './operator-tables.ts'
import { linksTable } from './sign-in-links.ts'

export function operatorsTable(db: Database): Tables['operators'] {
  const withId = (id: string) => db.selectFrom('operators').selectAll().where('id', '=', id).executeTakeFirst()
  const withName = (name: string) => db.selectFrom('operators').selectAll().where('name', '=', name).executeTakeFirst()
  return {
    async list() {
      const rows = await db.selectFrom('operators').selectAll().orderBy('name').execute()
      return await joinGrants(db, rows)
    },
    find: async (nameOrId) => await one(db, (await withId(nameOrId)) ?? (await withName(nameOrId))),
    async findBySubject(issuer, subject) {
      const query = db.selectFrom('operators').selectAll().where('oidc_issuer', '=', issuer)
      return await one(db, await query.where('oidc_subject', '=', subject).executeTakeFirst())
    },
    async insert(operator) {
      refuseTaken(await withName(operator.name), 'operator', operator.name, operator.id)
      await refuseStaleTotp(db, operator, null)
      await db
        .insertInto('operators')
        .values({ ...toRow(operator), totp_step: null })
        .execute()
      await writeGrants(db, operator)
      return operator
    },
    async update(id, { keepSession, keepOwner, ...change }) {
      const row = present(await withId(id), 'operator', id)
      const operator = { ...(await joinOne(db, row)), ...change }
      refuseTaken(await withName(operator.name), 'operator', operator.name, id)
      await refuseStaleTotp(db, operator, row.totp_sealed)
      await db.updateTable('operators').set(toRow(operator)).where('id', '=', id).execute()
      if (change.grants !== undefined) await writeGrants(db, operator)
      if (endsSessions(change)) await endSessions(db, id, keepSession ?? null)
      if (keepOwner === true) await refuseNoOwner(db, row.name)
      return operator
    },
    async takeTotpStep(id, step) {
      const taken = await db
        .updateTable('operators')
        .set({ totp_step: step })
        .where('id', '=', id)
        .where((where) => where.or([where('totp_step', 'is', null), where('totp_step', '<', step)]))
        .executeTakeFirst()
      return taken.numUpdatedRows > 0n
    },
    async reset(id, link, now) {
      const operator = await joinOne(db, present(await withId(id), 'operator', id))
      const nothing = { password_hash: null, totp_sealed: null, totp_step: null }
      await db.updateTable('operators').set(nothing).where('id', '=', id).execute()
      await db.deleteFrom('passkeys').where('operator_id', '=', id).execute()
      await db.deleteFrom('sign_in_links').where('operator_id', '=', id).execute()
      await endSessions(db, id, null, now)
      await linksTable(db).insert(link)
      return { ...operator, passwordHash: null, totpSealed: null }
    },
    async remove(id) {
      const { name } = present(await withId(id), 'operator', id)
      // Without any owner (the identity provider may name none) there is no last one to keep.
      const hadOwner = await hasOwner(db)
      await db.deleteFrom('operators').where('id', '=', id).execute()
      if (hadOwner) await refuseNoOwner(db, name)
    },
  }
}

/** Rows with their grants, in the order of the rows. */
export async function joinGrants(db: Database, rows: readonly OperatorRow[]): Promise<Operator[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const roles = await db.selectFrom('operator_roles').selectAll().where('operator_id', 'in', ids).execute()
  const grants = Map.groupBy(roles, (role) => role.operator_id)
  return rows.map((row) =>
    toOperator(
      row,
      (grants.get(row.id) ?? []).map(({ project_id, role }) => ({ project: project_id, role: role as Role })),
    ),
  )
}

async function joinOne(db: Database, row: OperatorRow): Promise<Operator> {
  return present((await joinGrants(db, [row]))[0], 'operator', row.id)
}

async function one(db: Database, row: OperatorRow | undefined): Promise<Operator | null> {
  return row === undefined ? null : await joinOne(db, row)
}

async function writeGrants(db: Database, { id, grants }: Operator): Promise<void> {
  await db.deleteFrom('operator_roles').where('operator_id', '=', id).execute()
  if (grants.length === 0) return
  const rows = grants.map(({ project, role }) => ({ operator_id: id, project_id: project, role }))
  await db.insertInto('operator_roles').values(rows).execute()
}

function endsSessions(change: OperatorChange): boolean {
  return change.passwordHash !== undefined || change.state === 'disabled'
}

/** Looked at when it is done, in the same transaction: of two who remove each other, one is refused. */
async function refuseNoOwner(db: Database, name: string): Promise<void> {
  if (!(await hasOwner(db))) throw new StoreConflict(`operator ${name} is the last owner, and a gateway must have one`)
}

async function hasOwner(db: Database): Promise<boolean> {
  const owner = await db
    .selectFrom('operator_roles')
    .innerJoin('operators', 'operators.id', 'operator_roles.operator_id')
    .select('operators.id')
    .where('project_id', 'is', null)
    .where('role', '=', 'owner')
    .where('state', '=', 'active')
    .limit(1)
    .executeTakeFirst()
  return owner !== undefined
}

async function endSessions(
  db: Database,
  operatorId: string,
  keep: string | null,
  now = new Date().toISOString(),
): Promise<void> {
  let query = db.updateTable('sessions').set({ revoked_at: now })
  query = query.where('operator_id', '=', operatorId).where('revoked_at', 'is', null)
  if (keep !== null) query = query.where('id', '!=', keep)
  await query.execute()
}

async function refuseStaleTotp(db: Database, { totpSealed }: Operator, standing: string | null): Promise<void> {
  if (totpSealed !== null) await refuseStaleSeal(db, [totpSealed], standing === null ? [] : [standing])
}

function toRow(operator: Operator): Omit<OperatorRow, 'totp_step'> {
  return {
    id: operator.id,
    name: operator.name,
    display_name: operator.displayName,
    state: operator.state,
    password_hash: operator.passwordHash,
    totp_sealed: operator.totpSealed,
    oidc_issuer: operator.oidcIssuer,
    oidc_subject: operator.oidcSubject,
    created_at: operator.createdAt,
    last_sign_in_at: operator.lastSignInAt,
  }
}

function toOperator(row: OperatorRow, grants: Grant[]): Operator {
  return {
    id: row.id,
    name: row.name,
    displayName: row.display_name,
    state: row.state as Operator['state'],
    passwordHash: row.password_hash,
    totpSealed: row.totp_sealed,
    oidcIssuer: row.oidc_issuer,
    oidcSubject: row.oidc_subject,
    grants,
    createdAt: row.created_at,
    lastSignInAt: row.last_sign_in_at,
  }
}
