import { refusalOf, type Users } from '../removal-refusal.ts'

/** Operations that others' use of a thing keeps from being done. */
const refusable = [
  'providers.remove',
  'policies.remove',
  'projects.remove',
  'environments.remove',
  'operators.remove',
  'operators.disable',
]

/** The operations that list whatever may use something else. */
export interface UsersReader {
  routes: { list(input: { all: true }): Promise<Users['routes']> }
  environments: { list(input: { all: true }): Promise<Users['environments']> }
  keys: { list(input: { all: true }): Promise<Users['keys']> }
  operators: { list(input: object): Promise<Users['operators']> }
}

/** Read before somebody is asked for a name. What cannot be read refuses nothing: the operation itself will say it. */
export async function findRefusal(
  admin: UsersReader,
  operation: string,
  input: Record<string, unknown>,
): Promise<string | null> {
  if (!refusable.includes(operation)) return null
  const ofOperators = operation.startsWith('operators.')
  const all = { all: true } as const
  try {
    const [routes, environments, keys, operators] = await Promise.all([
      ofOperators ? [] : admin.routes.list(all),
      ofOperators ? [] : admin.environments.list(all),
      ofOperators ? [] : admin.keys.list(all),
      ofOperators ? admin.operators.list({}) : [],
    ])
    return refusalOf(operation, input, { routes, environments, keys, operators })
  } catch {
    return null
  }
}
