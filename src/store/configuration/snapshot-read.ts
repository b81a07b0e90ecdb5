import type { StoredSnapshot } from '../api.ts'
import type { Database } from '../schema.ts'
import { listEnvironments } from './environments.ts'
import { keyVersion } from './key-version.ts'
import { joinSecrets } from './keys.ts'
import { listPolicies } from './policies.ts'
import { pricesRevision } from './prices.ts'
import { projectsTable } from './projects.ts'
import { listProviders } from './providers.ts'
import { listRoutes } from './routes.ts'
import { readWorkspace } from './workspace.ts'

/** To be run in one read transaction. `keysSince` 0 is all keys. */
export async function readSnapshot(db: Database, keysSince: number): Promise<StoredSnapshot> {
  const projects = await projectsTable(db).list()
  const environments = await listEnvironments(db, null)
  const projectNames = new Map(projects.map((project) => [project.id, project.name]))
  const environmentNames = new Map(environments.map((environment) => [environment.id, environment.name]))
  const routes = await listRoutes(db, null)
  const { timeZone } = await readWorkspace(db)
  return {
    timeZone,
    providers: await listProviders(db),
    routes: routes.map((route) => ({
      ...route,
      project: projectNames.get(route.projectId) ?? '',
      environment: route.environmentId === null ? null : (environmentNames.get(route.environmentId) ?? ''),
    })),
    policies: await listPolicies(db),
    environments,
    projects,
    pricesRevision: await pricesRevision(db),
    ...(await readKeys(db, keysSince)),
  }
}

type KeyPart = Pick<StoredSnapshot, 'keys' | 'keysVersion' | 'removedHashes'>

async function readKeys(db: Database, since: number): Promise<KeyPart> {
  const rows = await db.selectFrom('keys').selectAll().where('version', '>', since).orderBy('version').execute()
  const removed = await db.selectFrom('removed_key_hashes').select('hash').where('version', '>', since).execute()
  return {
    keys: await joinSecrets(db, rows),
    keysVersion: await keyVersion(db),
    removedHashes: removed.map((row) => row.hash),
  }
}
