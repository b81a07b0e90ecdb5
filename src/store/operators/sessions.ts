import type { Tables } from '../api.ts'
import type { Database, SessionRow } from '../schema.ts'
import type { Session, SignInMethod } from './operator-tables.ts'
import { joinGrants } from './operators.ts'

/** How long what is over stays, for whoever wants to see it. */
const keptMs = 30 * 86_400_000

export function sessionsTable(db: Database): Tables['sessions'] {
  return {
    async find(tokenSha256) {
      const row = await db.selectFrom('sessions').selectAll().where('token_sha256', '=', tokenSha256).executeTakeFirst()
      if (row === undefined) return null
      const owner = db.selectFrom('operators').selectAll().where('id', '=', row.operator_id)
      const [operator] = await joinGrants(db, await owner.execute())
      return operator === undefined ? null : { session: toSession(row), operator }
    },
    async list(operatorId, now) {
      let query = db.selectFrom('sessions').selectAll().where('revoked_at', 'is', null).where('expires_at', '>', now)
      if (operatorId !== null) query = query.where('operator_id', '=', operatorId)
      return (await query.orderBy('last_seen_at', 'desc').orderBy('id').execute()).map(toSession)
    },
    async insert(session) {
      const { operatorId, createdAt } = session
      const old = new Date(Date.parse(createdAt) - keptMs).toISOString()
      await db.deleteFrom('sessions').where('expires_at', '<', old).execute()
      await db.insertInto('sessions').values(toRow(session)).execute()
      await db.updateTable('operators').set({ last_sign_in_at: createdAt }).where('id', '=', operatorId).execute()
    },
    async touch(tokenSha256, lastSeenAt, expiresAt) {
      const change = { last_seen_at: lastSeenAt, expires_at: expiresAt }
      await db.updateTable('sessions').set(change).where('token_sha256', '=', tokenSha256).execute()
    },
    async revoke(ids, now) {
      const revoked = await db
        .updateTable('sessions')
        .set({ revoked_at: now })
        .where('id', 'in', ids)
        .where('revoked_at', 'is', null)
        .where('expires_at', '>', now)
        .executeTakeFirst()
      return Number(revoked.numUpdatedRows)
    },
  }
}

function toRow(session: Session): SessionRow {
  return {
    token_sha256: session.tokenSha256,
    id: session.id,
    operator_id: session.operatorId,
    method: session.method,
    created_at: session.createdAt,
    last_seen_at: session.lastSeenAt,
    expires_at: session.expiresAt,
    address: session.address,
    user_agent: session.userAgent,
    revoked_at: session.revokedAt,
  }
}

function toSession(row: SessionRow): Session {
  return {
    tokenSha256: row.token_sha256,
    id: row.id,
    operatorId: row.operator_id,
    method: row.method as SignInMethod,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
    address: row.address,
    userAgent: row.user_agent,
    revokedAt: row.revoked_at,
  }
}
