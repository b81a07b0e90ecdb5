import type { Key } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { loadNames, type NamesById } from '../names.ts'

export interface KeyNames extends NamesById {
  policy(id: string): string
}

export async function loadKeyNames(context: Pick<AdminContext, 'store'>): Promise<KeyNames> {
  const [names, policies] = await Promise.all([loadNames(context), context.store.policies.list()])
  const byId = new Map(policies.map(({ id, name }) => [id, name]))
  return { ...names, policy: (id) => byId.get(id) ?? id }
}

export const resource = ({ id, name }: Key) => ({ kind: 'key', id, name })

/** A key as anybody may see it: neither secret nor hash. */
export function showKey(key: Key, names: KeyNames, now = Date.now()) {
  const [current, former] = key.secrets
  const grace = former?.expiresAt ?? null
  return {
    id: key.id,
    name: key.name,
    project: names.project(key.projectId),
    environment: names.environment(key.environmentId),
    last_four: current?.lastFour ?? '',
    state: stateOf(key, now),
    policy: key.policyId === null ? null : names.policy(key.policyId),
    tags: key.tags,
    created_at: key.createdAt,
    created_by: key.createdBy,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    last_used_at: key.lastUsedAt,
    grace_ends_at: grace !== null && Date.parse(grace) > now ? grace : null,
    owned: names.owned(key.id),
  }
}

function stateOf(key: Key, now: number): 'active' | 'expired' | 'revoked' {
  if (key.revokedAt !== null) return 'revoked'
  return key.expiresAt !== null && Date.parse(key.expiresAt) <= now ? 'expired' : 'active'
}
