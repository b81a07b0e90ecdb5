import { call, isProcedure } from '@orpc/server'
import type { RoleGrant } from '../../src/admin/contract/operators/roles.ts'
import type { AdminParts, OperationCaller, OperationContext } from '../../src/admin/handlers/context.ts'
import { router } from '../../src/admin/handlers/index.ts'

export const everywhere = (role: RoleGrant['role']): RoleGrant[] => [{ project: null, role }]

export const callerWith = (grants: readonly RoleGrant[]): OperationCaller => ({
  name: 'somebody',
  surface: 'console',
  id: 'opr_somebody',
  address: '192.0.2.7',
  grants,
})

export function procedureAt(path: readonly string[]) {
  let place: unknown = router
  for (const step of path) place = typeof place === 'object' && place !== null ? Reflect.get(place, step) : undefined
  if (!isProcedure(place)) throw new Error(`no handler for ${path.join('.')}`)
  return place
}

/** Calls an operation as the console does for an operator with these grants. */
export async function callAs(
  parts: AdminParts,
  grants: readonly RoleGrant[],
  operation: string,
  input: object = {},
  closing = new AbortController().signal,
): Promise<unknown> {
  const context: OperationContext = { ...parts, caller: callerWith(grants), closing }
  const path = operation.split('.')
  return await call(procedureAt(path), input, { context, path })
}
