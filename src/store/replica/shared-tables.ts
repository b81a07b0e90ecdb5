import type { SharedRow } from './replica-types.ts'

/** How the rows of one table are shared by the nodes of a cluster. */
export interface SharedTable {
  name: string
  /** Which columns tell its rows apart; none: it has one row. */
  key: readonly string[]
  /** What each node finds for itself: a row brings it when it is new, and its later changes stay where they are made. */
  own?: readonly string[]
}

/** The version of the key set is counted by each node for its own threads. */
export const numberedTables: readonly string[] = ['keys', 'removed_key_hashes']

/** All that is configuration, in an order in which each refers only to what stands before it. */
export const sharedTables: readonly SharedTable[] = [
  { name: 'workspace', key: ['id'] },
  { name: 'projects', key: ['id'] },
  { name: 'project_names', key: ['number'] },
  { name: 'environments', key: ['id'] },
  { name: 'providers', key: ['id'], own: ['readiness_json', 'models_json'] },
  { name: 'provider_projects', key: ['provider_id', 'project_id'] },
  { name: 'provider_revisions', key: ['provider_id', 'number'] },
  { name: 'provider_credentials', key: ['provider_id', 'revision', 'position'] },
  { name: 'environment_default_providers', key: ['environment_id', 'lane'] },
  { name: 'routes', key: ['id'] },
  { name: 'route_targets', key: ['route_id', 'position'] },
  { name: 'policies', key: ['id'] },
  { name: 'policy_attachments', key: ['policy_id', 'target_id'] },
  { name: 'keys', key: ['id'], own: ['last_used_at', 'version'] },
  { name: 'key_secrets', key: ['key_id', 'position'] },
  { name: 'removed_key_hashes', key: ['hash'], own: ['version'] },
  { name: 'prices', key: ['model', 'provider_id'] },
  { name: 'price_state', key: [] },
  { name: 'owned_fields', key: ['resource_id', 'field'] },
  { name: 'seal', key: ['name'] },
  { name: 'operators', key: ['id'], own: ['last_sign_in_at'] },
  { name: 'operator_roles', key: ['operator_id', 'project_id'] },
  { name: 'sessions', key: ['token_sha256'], own: ['last_seen_at', 'expires_at'] },
  { name: 'sign_in_links', key: ['token_sha256'] },
  { name: 'passkeys', key: ['id'], own: ['counter', 'last_used_at'] },
  { name: 'api_tokens', key: ['id'], own: ['last_used_at'] },
  { name: 'alerts', key: ['id'] },
  { name: 'audit', key: ['sequence'] },
]

/**
 * Methods that change only what is a node's own (records, objects, what it found of providers). Their audit lines are
 * shared nevertheless. Every other method that writes is rehearsed.
 */
const ownMethods: Record<string, readonly string[]> = {
  providers: ['setReadiness', 'noteShown'],
  keys: ['touch'],
  tokens: ['touch'],
  sessions: ['touch'],
  passkeys: ['noteUse'],
  objects: ['insert', 'remove'],
  records: ['reprice'],
  cache: ['clear'],
  spend: ['add'],
  traces: ['finish', 'trim'],
  alerts: ['raise', 'queue', 'noteTry', 'retry', 'forget'],
}

export function isOwn(table: string, method: string): boolean {
  return ownMethods[table]?.includes(method) === true
}

/**
 * What a node may decide while PostgreSQL is away, since it fits to whatever others decide meanwhile: to take something away
 * for ever, to sign in, to use up a code, and to note in the audit what has happened.
 */
export function isDeferrable({ table, method, input }: { table: string; method: string; input: unknown[] }): boolean {
  if (table === 'keys' && method === 'update') return isRevocation(input[1])
  return deferrable.has(`${table}.${method}`)
}

const deferrable = new Set([
  'audit.note',
  'tokens.revoke',
  'sessions.revoke',
  'sessions.insert',
  'operators.takeTotpStep',
])

/** Of these, what takes something away for ever: it holds here at once, and is told to the others past PostgreSQL as well. */
export function takesAway({ table, method, input }: { table: string; method: string; input: unknown[] }): boolean {
  if (table === 'keys' && method === 'update') return isRevocation(input[1])
  return method === 'revoke' && (table === 'tokens' || table === 'sessions')
}

/** Whether some of these rows, as the cluster has them by now, may end somebody's access. */
export function endsAccess(rows: readonly SharedRow[]): boolean {
  return rows.some(({ name, row }) => {
    if (accessTables.changed.has(name)) return true
    return accessTables.ended.has(name) && (row === null || JSON.parse(row).revoked_at != null)
  })
}

/** Any change of the first may end access; of the others, that a row is gone or revoked. */
const accessTables = {
  changed: new Set(['operators', 'operator_roles', 'removed_key_hashes']),
  ended: new Set(['keys', 'key_secrets', 'api_tokens', 'sessions', 'passkeys']),
}

function isRevocation(change: unknown): boolean {
  if (typeof change !== 'object' || change === null) return false
  return Object.keys(change).join() === 'revokedAt' && Reflect.get(change, 'revokedAt') !== null
}
