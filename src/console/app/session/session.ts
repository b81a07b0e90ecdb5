import { useQuery } from '@tanstack/react-query'
import { type Grant, mayCall, type RoleName, roleNames } from '../../../admin/contract/roles.ts'
import { callAuth } from '../client/http.ts'
import { queries, sessionKey } from '../client/queries.ts'
import { findOperation } from '../contract/operations.ts'

export interface SignedIn {
  id: string
  name: string
  display_name: string
  /** By project; null: the whole workspace. */
  grants: Grant[]
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

/**
 * Whether a button for the operation makes sense for whoever is signed in. The gateway decides, for each project on its
 * own; this is only so that nobody is led to a refusal.
 */
export function useMay(operation: string): boolean {
  return useMayCall()(operation)
}

/** The same for many at once. */
export function useMayCall(): (operation: string) => boolean {
  const { data } = useSession()
  const grants = data?.operator?.grants ?? []
  return (operation) => {
    const found = findOperation(operation)
    return found !== undefined && mayCall(grants, found.meta)
  }
}

/** The highest role, as a word; null: nobody is signed in. */
export function useRole(): RoleName | null {
  const { data } = useSession()
  const held = (data?.operator?.grants ?? []).map(({ role }) => role)
  return roleNames.findLast((role) => held.includes(role)) ?? null
}
