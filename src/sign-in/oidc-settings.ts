import { ownValue } from '../core/own-value.ts'
import type { Secret } from '../core/secrets/secret.ts'
import type { Grant, Role } from '../store/operators/operator-tables.ts'

/** How long a person may take at the provider's. */
export const oidcMinutes = 10

/** An identity provider by which operators sign in, as `console.oidc` says it. */
export interface OidcSettings {
  issuer: string
  clientId: string
  /** null: a public client. */
  clientSecret: Secret | null
  /** What the page calls it. */
  name: string
  scopes: readonly string[]
  /** Whose values `roles` names. */
  roleClaim: string
  /** By a value of the claim; `*` is for whoever the provider lets in. */
  roles: Readonly<Record<string, readonly MappedRole[]>>
}

/** Asks the provider. Rejects with `NoProviderAnswer` where no whole answer comes in time. */
export type AskProvider = (url: string, question: ProviderQuestion) => Promise<Response>

/** It is down, or says what nobody can use: no fault of who signs in. */
export class NoProviderAnswer extends Error {
  override readonly name = 'NoProviderAnswer'
}

export interface ProviderQuestion {
  method: string
  headers: Record<string, string>
  body?: unknown
}

export interface MappedRole {
  role: Role
  /** Name or id; null: the whole workspace. */
  project: string | null
}

const ranks: Record<Role, number> = { viewer: 0, admin: 1, owner: 2 }

/** What somebody with such a claim may do: all that his values give, of each scope the highest role. */
export function mapRoles(
  { roles }: Pick<OidcSettings, 'roles'>,
  claim: unknown,
  projects: readonly { id: string; name: string }[],
): Grant[] {
  const values = ['*', ...(Array.isArray(claim) ? claim : [claim]).filter((value) => typeof value === 'string')]
  const granted = new Map<string | null, Role>()
  for (const value of new Set(values)) {
    for (const { role, project } of ownValue(roles, value) ?? []) {
      const found = projects.find(({ id, name }) => id === project || name === project)
      if (project !== null && found === undefined) continue
      const scope = found?.id ?? null
      const before = granted.get(scope)
      if (before === undefined || ranks[role] > ranks[before]) granted.set(scope, role)
    }
  }
  return [...granted].map(([project, role]) => ({ project, role }))
}
