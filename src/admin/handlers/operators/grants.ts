import type { Grant } from '../../../store/operators/operator-tables.ts'
import { covers, type RoleName } from '../../contract/operators/roles.ts'
import type { AdminContext } from '../context.ts'
import { refused } from '../fault.ts'
import { findProject } from '../find.ts'

export interface GrantInput {
  role: RoleName | 'none'
  projects?: string[] | undefined
}

/** Ids of the places that grants are for; null is the whole workspace. */
async function readPlaces(context: AdminContext, names: string[] | undefined): Promise<(string | null)[]> {
  if (names === undefined || names.length === 0) return [null]
  const ids = new Set<string>()
  for (const name of names) ids.add((await findProject(context, name)).id)
  return [...ids]
}

/** The grants before, with this role in these places: one a place, and none where the role is taken away. */
export async function changeGrants(
  context: AdminContext,
  before: readonly Grant[],
  { role, projects }: GrantInput,
): Promise<Grant[]> {
  const places = await readPlaces(context, projects)
  const kept = before.filter(({ project }) => !places.includes(project))
  return role === 'none' ? kept : [...kept, ...places.map((project) => ({ project, role }))]
}

/** Nobody hands out more than he has, nor changes who has more than he. */
export function refuseBeyond({ caller }: AdminContext, grants: readonly Grant[], what: string): void {
  if (!covers(caller.grants, grants)) throw refused(`${what} requires roles that you do not have.`, 'Ask an owner.')
}

/** `owner`, `admin of search`. */
export function describeGrants(grants: readonly Grant[], projectName: (id: string) => string): string[] {
  return grants.map(({ project, role }) => (project === null ? role : `${role} of ${projectName(project)}`))
}
