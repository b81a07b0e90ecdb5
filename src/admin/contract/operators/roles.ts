/** What a caller may do, told alike by the gateway, which enforces it, and by surfaces, which hide what would be refused. */

export const roleNames = ['viewer', 'admin', 'owner'] as const
/** Each may all that the one before may. */
export type RoleName = (typeof roleNames)[number]

export interface RoleGrant {
  /** Id of a project; null: the whole workspace, with every project in it. */
  project: string | null
  role: RoleName
}

/** What an operation asks of its caller. */
export interface Requirement {
  /** The least role. */
  role: RoleName
  /** Whether a grant for the project concerned is enough, or it takes one for the workspace. */
  reach: 'workspace' | 'project'
}

export function isAtLeast(role: RoleName, least: RoleName): boolean {
  return roleNames.indexOf(role) >= roleNames.indexOf(least)
}

/** The projects in which the grants give at least this role; null: all, and the workspace itself. */
export function projectsWith(grants: readonly RoleGrant[], least: RoleName): ReadonlySet<string> | null {
  const enough = grants.filter(({ role }) => isAtLeast(role, least))
  if (enough.some(({ project }) => project === null)) return null
  return new Set(enough.flatMap(({ project }) => (project === null ? [] : [project])))
}

/** Whether an operation may be called; in the project `project`, where one is named. */
export function mayCall(grants: readonly RoleGrant[], { role, reach }: Requirement, project?: string): boolean {
  const projects = projectsWith(grants, role)
  if (projects === null) return true
  if (reach === 'workspace') return false
  return project === undefined ? projects.size > 0 : projects.has(project)
}

/** Whether somebody with `held` has everything that `asked` gives: nobody hands out more than he has. */
export function covers(held: readonly RoleGrant[], asked: readonly RoleGrant[]): boolean {
  return asked.every(({ project, role }) => {
    const projects = projectsWith(held, role)
    return projects === null || (project !== null && projects.has(project))
  })
}
