import type { Project, Tables } from '../api.ts'
import { named, present, refuseInUse, refuseTaken } from '../reject.ts'
import type { Database, Schema } from '../schema.ts'
import { environmentUsers, removeEnvironment } from './environments.ts'

export function projectsTable(db: Database): Tables['projects'] {
  const withName = (name: string) => db.selectFrom('projects').selectAll().where('name', '=', name).executeTakeFirst()
  const withId = (id: string) => db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst()
  return {
    async list() {
      const rows = await db.selectFrom('projects').selectAll().orderBy('name').execute()
      return rows.map(toProject)
    },
    async names() {
      const rows = await db.selectFrom('project_names').select(['name', 'project_id', 'since', 'until']).execute()
      return rows.map(({ project_id, ...row }) => ({ ...row, projectId: project_id }))
    },
    async find(nameOrId) {
      const row = (await withId(nameOrId)) ?? (await withName(nameOrId))
      return row ? toProject(row) : null
    },
    async insert(project) {
      refuseTaken(await withName(project.name), 'project', project.name, project.id)
      await db
        .insertInto('projects')
        .values({ id: project.id, name: project.name, created_at: project.createdAt })
        .execute()
      return project
    },
    async update(id, change) {
      const row = present(await withId(id), 'project', id)
      const name = change.name ?? row.name
      refuseTaken(await withName(name), 'project', name, id)
      await db.updateTable('projects').set({ name }).where('id', '=', id).execute()
      return toProject({ ...row, name })
    },
    async remove(id) {
      const row = present(await withId(id), 'project', id)
      await refuseUsed(db, row)
      const environments = await db.selectFrom('environments').select('id').where('project_id', '=', id).execute()
      for (const environment of environments) await removeEnvironment(db, environment.id)
      await db.deleteFrom('policy_attachments').where('target_id', '=', id).execute()
      await db.deleteFrom('projects').where('id', '=', id).execute()
    },
  }
}

function toProject(row: Schema['projects']): Project {
  return { id: row.id, name: row.name, createdAt: row.created_at }
}

async function refuseUsed(db: Database, project: Schema['projects']): Promise<void> {
  const routes = await db
    .selectFrom('routes')
    .select('model')
    .where('project_id', '=', project.id)
    .where('environment_id', 'is', null)
    .orderBy('model')
    .execute()
  const users = named(
    'route',
    routes.map((route) => route.model),
  )
  const environments = await db.selectFrom('environments').selectAll().where('project_id', '=', project.id).execute()
  for (const environment of environments) {
    for (const user of await environmentUsers(db, environment.id)) users.push(`${user} (${environment.name})`)
  }
  refuseInUse(`project ${project.name}`, users)
}
