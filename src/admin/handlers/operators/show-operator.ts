import type { Operator } from '../../../store/operators/operator-tables.ts'
import type { AdminContext } from '../context.ts'
import { notFound } from '../fault.ts'
import { describeGrants } from './grants.ts'

export const resource = ({ id, name }: Operator) => ({ kind: 'operator', id, name })

export async function findOperator({ store }: Pick<AdminContext, 'store'>, name: string): Promise<Operator> {
  const operator = await store.operators.find(name)
  if (operator === null) throw notFound('operator', name, 'List them: spgw operators list')
  return operator
}

/** An operator as anybody may see him: what he signs in with, and nothing of it. */
export async function showOperator({ store }: Pick<AdminContext, 'store'>, operator: Operator) {
  const [projects, passkeys] = await Promise.all([store.projects.list(), store.passkeys.list(operator.id)])
  const names = new Map(projects.map(({ id, name }) => [id, name]))
  const projectName = (id: string) => names.get(id) ?? id
  return {
    id: operator.id,
    name: operator.name,
    display_name: operator.displayName,
    state: operator.state,
    grants: operator.grants.map(({ role, project }) => ({
      role,
      project: project === null ? null : projectName(project),
    })),
    roles: describeGrants(operator.grants, projectName),
    signs_in_with: [
      ...(operator.passwordHash === null ? [] : ['password' as const]),
      ...(operator.totpSealed === null ? [] : ['authenticator' as const]),
      ...(passkeys.length === 0 ? [] : ['passkey' as const]),
      ...(operator.oidcIssuer === null ? [] : ['oidc' as const]),
    ],
    created_at: operator.createdAt,
    last_sign_in_at: operator.lastSignInAt,
  }
}
