import type { AdminContext } from './context.ts'
import { loadOwners, type Owners } from './projects/owners.ts'

/** Names by id, for showing what refers to others. */
export interface NamesById {
  project(id: string): string
  environment(id: string): string
  provider(id: string): string
  owned: Owners
}

export async function loadNames(context: Pick<AdminContext, 'store'>): Promise<NamesById> {
  const { store } = context
  const [projects, environments, providers, owned] = await Promise.all([
    store.projects.list(),
    store.environments.list(null),
    store.providers.list(),
    loadOwners(context),
  ])
  return { project: byId(projects), environment: byId(environments), provider: byId(providers), owned }
}

/** An id whose row went away between two reads shows as itself. */
function byId(rows: { id: string; name: string }[]): (id: string) => string {
  const names = new Map(rows.map((row) => [row.id, row.name]))
  return (id) => names.get(id) ?? id
}
