import { admin } from '../../client/admin.ts'
import { refusalOf } from '../removal-refusal.ts'

/** Operations that others' use of a thing keeps from being done. */
const refusable = [
  'providers.remove',
  'policies.remove',
  'projects.remove',
  'environments.remove',
  'operators.remove',
  'operators.disable',
]

/** Read before somebody is asked for a name. What cannot be read refuses nothing: the operation itself will say it. */
export async function findRefusal(operation: string, input: Record<string, unknown>): Promise<string | null> {
  if (!refusable.includes(operation)) return null
  const ofOperators = operation.startsWith('operators.')
  const all = { all: true }
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
