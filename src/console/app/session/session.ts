import { useQuery } from '@tanstack/react-query'
import { callAuth } from '../client/http.ts'
import { queries, sessionKey } from '../client/queries.ts'
import { findOperation } from '../contract/operations.ts'

export type Role = 'viewer' | 'admin' | 'owner'

export interface SignedIn {
  id: string
  name: string
  display_name: string
  /** By project; null: the whole workspace. */
  grants: { project: string | null; role: Role }[]
}

/** `GET /auth/state`: who one is, and how one may sign in. */
export interface AuthState {
  version: string
  operator: SignedIn | null
  methods: { password: true; passkey: boolean; oidc: { name: string } | null }
  /** Why passkeys cannot be used at this address. */
  passkey_refused: string | null
  /** Why nobody signs in over this connection. */
  sign_in_refused?: string | null
}

export const sessionQuery = {
  queryKey: sessionKey,
  queryFn: () => callAuth<AuthState>('/auth/state'),
  staleTime: Number.POSITIVE_INFINITY,
}

export function useSession() {
  return useQuery(sessionQuery)
}

/** After signing in or out: whatever was read as somebody else is forgotten. */
export async function refreshSession(): Promise<AuthState> {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  return queries.fetchQuery({ ...sessionQuery, staleTime: 0 })
}

const ranks: Record<Role, number> = { viewer: 0, admin: 1, owner: 2 }

function highestRank(operator: SignedIn | null | undefined): number {
  return Math.max(-1, ...(operator?.grants ?? []).map(({ role }) => ranks[role] ?? 0))
}

/**
 * Whether a button for the operation makes sense for whoever is signed in. The gateway decides, for each project on its
 * own; this is only so that nobody is led to a refusal.
 */
export function useMay(operation: string): boolean {
  const { data } = useSession()
  const needed = findOperation(operation)?.meta.role ?? 'owner'
  return highestRank(data?.operator) >= ranks[needed]
}

/** The highest role, as a word; null: nobody is signed in. */
export function useRole(): Role | null {
  const { data } = useSession()
  const rank = highestRank(data?.operator)
  return (Object.keys(ranks) as Role[]).find((role) => ranks[role] === rank) ?? null
}
