import type { Tables } from '../api.ts'
import { present, refuseTaken } from '../reject.ts'
import type { ApiTokenRow, Database } from '../schema.ts'
import type { ApiToken } from './token-tables.ts'

export function tokensTable(db: Database): Tables['tokens'] {
  const select = () => db.selectFrom('api_tokens').selectAll()
  const withId = (id: string) => select().where('id', '=', id).executeTakeFirst()
  const withName = (name: string) =>
    select()
      .where('name', '=', name)
      .orderBy('revoked_at', (order) => order.desc().nullsFirst())
      .executeTakeFirst()
  return {
    list: async () => (await select().orderBy('name').orderBy('created_at').execute()).map(toToken),
    async find(nameOrId) {
      const row = (await withId(nameOrId)) ?? (await withName(nameOrId))
      return row === undefined ? null : toToken(row)
    },
    async findByHash(tokenSha256) {
      const row = await select().where('token_sha256', '=', tokenSha256).executeTakeFirst()
      return row === undefined ? null : toToken(row)
    },
    async insert(token) {
      const namesake = await withName(token.name)
      if (namesake?.revoked_at === null) refuseTaken(namesake, 'token', token.name, token.id)
      await db.insertInto('api_tokens').values(toRow(token)).execute()
      return token
    },
    async revoke(id, time) {
      const row = present(await withId(id), 'token', id)
      await db.updateTable('api_tokens').set({ revoked_at: time }).where('id', '=', id).execute()
      return toToken({ ...row, revoked_at: time })
    },
    async touch(id, time) {
      await db.updateTable('api_tokens').set({ last_used_at: time }).where('id', '=', id).execute()
    },
    async remove(id) {
      present(await withId(id), 'token', id)
      await db.deleteFrom('api_tokens').where('id', '=', id).execute()
    },
  }
}

function toRow(token: ApiToken): ApiTokenRow {
  return {
    id: token.id,
    name: token.name,
    token_sha256: token.tokenSha256,
    last_four: token.lastFour,
    role: token.role,
    project_id: token.projectId,
    created_by: token.createdBy,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
    revoked_at: token.revokedAt,
  }
}

function toToken(row: ApiTokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    tokenSha256: row.token_sha256,
    lastFour: row.last_four,
    role: row.role as ApiToken['role'],
    projectId: row.project_id,
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  }
}
