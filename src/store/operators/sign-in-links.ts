import type { Tables } from '../api.ts'
import type { Database } from '../schema.ts'

export function linksTable(db: Database): Tables['links'] {
  return {
    async insert({ tokenSha256, operatorId, createdAt, expiresAt }) {
      await db.deleteFrom('sign_in_links').where('expires_at', '<', createdAt).execute()
      const row = { token_sha256: tokenSha256, operator_id: operatorId, created_at: createdAt, expires_at: expiresAt }
      await db
        .insertInto('sign_in_links')
        .values({ ...row, used_at: null })
        .execute()
    },
    async take(tokenSha256, now) {
      // One statement decides: of two that come at once one finds it used.
      const row = await db
        .updateTable('sign_in_links')
        .set({ used_at: now })
        .where('token_sha256', '=', tokenSha256)
        .where('used_at', 'is', null)
        .where('expires_at', '>', now)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined) return null
      const { operator_id: operatorId, created_at: createdAt, expires_at: expiresAt } = row
      return { tokenSha256, operatorId, createdAt, expiresAt }
    },
  }
}
