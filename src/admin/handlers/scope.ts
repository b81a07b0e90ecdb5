import { projectsWith, type Requirement, type RoleGrant } from '../contract/operators/roles.ts'
import { refused } from './fault.ts'

/** How far a caller's grants go in one operation. Projects by their ids. */
export interface GrantScope {
  /** Whose things the caller may know of; null: everybody's, and the workspace's own. What is of others does not exist for him. */
  seen: ReadonlySet<string> | null
  /** Where he may do what the operation does; null: anywhere. */
  able: ReadonlySet<string> | null
  /** Why not elsewhere, to somebody who knows of it. */
  refuse(): Error
}

/** Who was given something. */
interface Holder {
  /** null: whoever holds the admin socket. */
  id: string | null
  grants: readonly RoleGrant[]
}

/** Throws what the caller is told who may do this nowhere. */
export function scopeOf(
  { grants, id }: Holder,
  operation: string,
  meta: Requirement & { onMachine?: true },
): GrantScope {
  const { role, reach, onMachine } = meta
  if (onMachine === true && id !== null)
    throw refused(
      `${operation} can only be run on the gateway's machine.`,
      `Run it there: spgw ${operation.replace('.', ' ')}`,
    )
  const able = projectsWith(grants, role)
  if (able === null) return { seen: null, able, refuse: () => refusedFor(operation, role, 'this') }
  if (reach === 'workspace') throw refusedFor(operation, role, 'the workspace')
  if (able.size === 0) throw refusedFor(operation, role, 'a project')
  return { seen: projectsWith(grants, 'viewer'), able, refuse: () => refusedFor(operation, role, 'this project') }
}

function refusedFor(operation: string, role: string, place: string) {
  return refused(`${operation} needs the role ${role} for ${place}, and you do not have it.`, 'Ask an owner.')
}

export function isSeen({ seen }: GrantScope, projectId: string): boolean {
  return seen === null || seen.has(projectId)
}

export function isAble({ able }: GrantScope, projectId: string): boolean {
  return able === null || able.has(projectId)
}
