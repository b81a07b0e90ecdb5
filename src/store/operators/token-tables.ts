import type { Role } from './operator-tables.ts'

/** API tokens, known by their SHA-256 in base64 and by nothing else. */
export interface TokenTables {
  tokens: {
    list(): ApiToken[]
    /** By id or name; of a name that was freed, the token that was revoked last. */
    find(nameOrId: string): ApiToken | null
    /** Whatever its state. */
    findByHash(tokenSha256: string): ApiToken | null
    insert(token: ApiToken): ApiToken
    revoke(id: string, time: string): ApiToken
    /** Not audited. */
    touch(id: string, time: string): void
    remove(id: string): void
  }
}

export interface ApiToken {
  /** `tok_…` */
  id: string
  name: string
  tokenSha256: string
  lastFour: string
  role: Role
  /** null: for the whole workspace. */
  projectId: string | null
  createdBy: string
  createdAt: string
  expiresAt: string | null
  lastUsedAt: string | null
  revokedAt: string | null
}
