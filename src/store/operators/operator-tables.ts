/** The tables of those who sign in to the console. Tokens are known by their SHA-256 in base64, and by nothing else. */
export interface OperatorTables {
  operators: {
    list(): Operator[]
    find(nameOrId: string): Operator | null
    findBySubject(issuer: string, subject: string): Operator | null
    insert(operator: Operator): Operator
    /** An operator that ceases to be active, or whose password changes, is signed out everywhere, in the same transaction. */
    update(id: string, change: OperatorChange): Operator
    /** Takes a one-time password's time step, if it is later than any that was taken: no code admits twice. */
    takeTotpStep(id: string, step: number): boolean
    /** Takes password, authenticator and passkeys away, ends sessions and links, and leaves this link as the one way in. */
    reset(id: string, link: SignInLink, now: string): Operator
    /** Refused for the last owner. */
    remove(id: string): void
  }
  sessions: {
    /** With who it belongs to; whatever its state. */
    find(tokenSha256: string): SessionOfOperator | null
    /** Those that are neither revoked nor over; null: of every operator. The one used last comes first. */
    list(operatorId: string | null, now: string): Session[]
    /** Also notes when the operator signed in last, and forgets what has been over for long. */
    insert(session: Session): void
    touch(tokenSha256: string, lastSeenAt: string, expiresAt: string): void
    /** By their id. Gives how many of them were not over yet. */
    revoke(ids: readonly string[], now: string): number
  }
  links: {
    insert(link: SignInLink): void
    /** Uses it up. null: there is none, it was used, or it is over. */
    take(tokenSha256: string, now: string): SignInLink | null
  }
  passkeys: {
    list(operatorId: string): Passkey[]
    findByCredential(credentialId: string): Passkey | null
    insert(passkey: Passkey): void
    noteUse(id: string, counter: number, time: string): void
    /** False: the operator has no such passkey. */
    remove(id: string, operatorId: string): boolean
  }
}

export type Role = 'viewer' | 'admin' | 'owner'

export interface Grant {
  /** Id of the project; null: the whole workspace. */
  project: string | null
  role: Role
}

export interface Operator {
  /** `opr_…` */
  id: string
  name: string
  displayName: string
  state: 'active' | 'disabled'
  /** In the form of `sign-in/password-hash.ts`. */
  passwordHash: string | null
  /** Seal format of `sealing/`; identity `totp:<operator id>`. */
  totpSealed: string | null
  oidcIssuer: string | null
  oidcSubject: string | null
  grants: Grant[]
  createdAt: string
  lastSignInAt: string | null
}

export type OperatorChange = Partial<Omit<Operator, 'id' | 'createdAt' | 'lastSignInAt'>> & {
  /** Of all sessions that a change ends, the one that stays: whose holder made the change. */
  keepSession?: string
  /** Refused if it would leave the workspace without an active owner. */
  keepOwner?: boolean
}

export type SignInMethod = 'password' | 'passkey' | 'oidc' | 'link'

export interface Session {
  tokenSha256: string
  /** `ses_…`: what it is called where its token must not be told. */
  id: string
  operatorId: string
  method: SignInMethod
  createdAt: string
  lastSeenAt: string
  expiresAt: string
  address: string
  userAgent: string
  revokedAt: string | null
}

export interface SessionOfOperator {
  session: Session
  operator: Operator
}

export interface SignInLink {
  tokenSha256: string
  /** null: whoever opens it becomes the first owner. */
  operatorId: string | null
  createdAt: string
  expiresAt: string
}

export interface Passkey {
  /** `pas_…` */
  id: string
  operatorId: string
  /** base64url, as the authenticator names it. */
  credentialId: string
  /** COSE, base64url. */
  publicKey: string
  counter: number
  transports: string[]
  name: string
  createdAt: string
  lastUsedAt: string | null
}
