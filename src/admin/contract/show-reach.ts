import { valueAt } from './show-value.ts'

const revoked: Partial<Record<string, string>> = {
  'keys.revoke': 'key',
  'tokens.revoke': 'token',
  'sessions.revoke': 'session',
}

/** Nodes of a cluster that a revocation did not reach still admit what was revoked; null: all reject it. */
export function describeMissing(operation: string, answer: unknown): string | null {
  const missing = valueAt(answer, 'nodes.missing')
  if (!Array.isArray(missing) || missing.length === 0) return null
  const nodes = missing.map((node: unknown) => {
    const heard = valueAt(node, 'last_heard_at')
    return `${valueAt(node, 'name')} (last heard of ${typeof heard === 'string' ? heard : 'never'})`
  })
  return `Not reached: ${nodes.join(', ')}. Each admits the ${revoked[operation]} until it reaches PostgreSQL or Valkey: spgw cluster status`
}
