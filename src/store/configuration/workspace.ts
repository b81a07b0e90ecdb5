import type { Tables, Workspace } from '../api.ts'
import type { Database } from '../schema.ts'

/** One row, made by the first migration. */
export function workspaceTable(db: Database): Tables['workspace'] {
  async function get(): Promise<Workspace> {
    const row = await db.selectFrom('workspace').selectAll().executeTakeFirstOrThrow()
    return { id: row.id, name: row.name, createdAt: row.created_at }
  }
  return {
    get,
    async rename(name) {
      await db.updateTable('workspace').set({ name }).execute()
      return await get()
    },
  }
}
