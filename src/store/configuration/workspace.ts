import type { Tables, Workspace } from '../api.ts'
import type { Database } from '../schema.ts'

/** One row, made by the first migration. */
export function workspaceTable(db: Database): Tables['workspace'] {
  return {
    get: () => readWorkspace(db),
    async update({ name, timeZone }) {
      const change = {
        ...(name === undefined ? {} : { name }),
        ...(timeZone === undefined ? {} : { time_zone: timeZone }),
      }
      if (Object.keys(change).length > 0) await db.updateTable('workspace').set(change).execute()
      return await readWorkspace(db)
    },
  }
}

export async function readWorkspace(db: Database): Promise<Workspace> {
  const row = await db.selectFrom('workspace').selectAll().executeTakeFirstOrThrow()
  return { id: row.id, name: row.name, timeZone: row.time_zone, createdAt: row.created_at }
}
