import { useQuery } from '@tanstack/react-query'
import { mayCall, type RoleGrant } from '../../../admin/contract/operators/roles.ts'
import { orpc } from '../client/admin.ts'
import { callAuth } from '../client/http.ts'
import { queries, sessionKey } from '../client/queries.ts'
import { findOperation } from '../contract/operations.ts'
import { useScope } from './scope.ts'

export interface SignedIn {
  id: string
  name: string
  display_name: string
  /** By project; null: the whole workspace. */
  grants: RoleGrant[]
}

/** `GET /auth/state`: who one is, and how one may sign in. */
export interface AuthState {
  version: string
  operator: SignedIn | null
  methods: { password: true; passkey: boolean; oidc: { name: string } | null }
  /** Why passkeys cannot be used at this address. */
  passkey_refused: string | null
  /** Why nobody can sign in over this connection. */
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

/** After signing in or out: drops everything that was read as another operator. */
export async function refreshSession(): Promise<AuthState> {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  const state = await queries.fetchQuery({ ...sessionQuery, staleTime: 0 })
  if (state.operator !== null) signedOut = false
  return state
}

let signedOut = false

/** Whether the operator signed out; the page then does not say that the session has ended. */
export function hasSignedOut(): boolean {
  return signedOut
}

export async function signOut(): Promise<void> {
  await callAuth('/auth/sign-out', {})
  signedOut = true
  await refreshSession()
}

/**
 * Whether the signed-in operator may call the operation, to hide buttons that would be rejected. The gateway decides.
 * `project`: the project's name, or null for the workspace; without it: the project of the address, else any.
 */
export function useMay(operation: string, project?: string | null): boolean {
  return useMayCall()(operation, project)
}

export type MayCall = (operation: string, project?: string | null) => boolean

/** The same for many operations. */
export function useMayCall(): MayCall {
  const { data } = useSession()
  const { project: chosen } = useScope()
  const grants = data?.operator?.grants ?? []
  const idOf = useProjectIds(grants)
  return (operation, project = chosen) => {
    const found = findOperation(operation)
    return found !== undefined && mayCall(grants, found.meta, project === undefined ? undefined : idOf(project))
  }
}

/** No project: for the workspace, and while the names are not known. */
const none = ''

/** Read only by operators who have a grant for a project. */
function useProjects(grants: readonly RoleGrant[]) {
  return useQuery({
    ...orpc.projects.list.queryOptions({ input: {} }),
    enabled: grants.some(({ project }) => project !== null),
  })
}

/** Grants refer to projects by ID, pages by name. */
function useProjectIds(grants: readonly RoleGrant[]): (name: string | null) => string | undefined {
  const { data } = useProjects(grants)
  return (name) => {
    if (name === null || data === undefined) return none
    // A record keeps the name that its project had: only the gateway knows whose it was.
    return data.find((project) => project.name === name)?.id
  }
}

/** The roles that one has: `owner`, or `admin of search, viewer of default`. */
export function useRoles(): string {
  const { data } = useSession()
  const grants = data?.operator?.grants ?? []
  const { data: projects = [] } = useProjects(grants)
  // A project that is gone has no name; the role in it means nothing any more.
  const nameOf = (id: string) => projects.find((project) => project.id === id)?.name ?? '…'
  const words = grants.map(({ project, role }) => (project === null ? role : `${role} of ${nameOf(project)}`))
  return words.join(', ') || 'No role'
}
