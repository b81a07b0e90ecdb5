import { valueAt } from './show-value.ts'

/** What a node goes on doing that such a change did not reach. */
const meanwhile: Partial<Record<string, string>> = {
  'keys.edit': 'goes by the earlier expiry and policy of the key',
  'keys.revoke': 'admits the key',
  'keys.remove': 'admits the key',
  'keys.rotate': 'admits the old secret and not the new one',
  'tokens.revoke': 'admits the token',
  'tokens.remove': 'admits the token',
  'sessions.revoke': 'admits the session',
  'operators.disable': 'admits the operator',
  'operators.remove': 'admits the operator',
  'operators.reset': 'admits the operator as before',
  'operators.edit': 'admits the operator with the roles of before',
  'routes.edit': 'goes by the route of before',
  'routes.disable': 'sends traffic through the route',
  'routes.remove': 'sends traffic through the route',
  'providers.edit': 'calls the provider as before',
  'providers.deactivate': 'sends traffic to the provider',
  'providers.rollback': 'calls the provider as before',
  'providers.remove': 'keeps the provider and its credentials',
  'providers.credentials.remove': 'uses the credential',
  'policies.add': 'does not apply the policy',
  'policies.edit': 'goes by the earlier rules of the policy',
  'policies.remove': 'applies the policy',
  'projects.remove': 'keeps the project',
  'environments.remove': 'keeps the environment',
  apply: 'goes by the earlier configuration',
  '/auth/account/password': 'admits the old password and the sessions that it ended',
  '/auth/account/totp/confirm': 'admits the password without the code',
  '/auth/account/passkeys/remove': 'admits the passkey',
  '/auth/account/sessions/revoke': 'admits the session',
}

/**
 * Nodes of a cluster that a change did not reach which takes something away; null: it reached all. `operation`: its name, or its
 * path on the console.
 */
export function describeMissing(operation: string, answer: unknown): string | null {
  const missing = valueAt(answer, 'nodes.missing')
  if (!Array.isArray(missing) || missing.length === 0) return null
  const nodes = missing.map((node: unknown) => {
    const heard = valueAt(node, 'last_heard_at')
    return `${valueAt(node, 'name')} (last heard of ${typeof heard === 'string' ? heard : 'never'})`
  })
  const until = /[./]revoke$/.test(operation) ? 'PostgreSQL or Valkey' : 'PostgreSQL'
  return `Not reached: ${nodes.join(', ')}. Each ${meanwhile[operation]} until it reaches ${until}: spgw cluster status`
}
