/** The audit: who did what to what. Append-only, each line chained to the one before. */
export interface AuditTables {
  audit: {
    /** Newest first, or from the oldest on (`oldestFirst`). */
    list(filter: AuditFilter): AuditEvent[]
    get(id: string): AuditEvent | null
    /** Walks the whole chain. `noted`: a hash that was the chain's head once. */
    verify(noted: string | null): AuditVerdict
    /** Writes only the audit line: for actions that change nothing but should be known. */
    note(): void
  }
}

export interface AuditEvent {
  /** The line's number: from 1, without a gap. */
  sequence: number
  id: string
  time: string
  /** `local owner` on the admin socket, the name of an operator or a token elsewhere. */
  actor: string
  /** Of the operator or the token; null: the local owner, the gateway itself, or a line of before this was kept. */
  actorId: string | null
  surface: 'cli' | 'tui' | 'console' | 'api' | 'gateway'
  /** Of the client, where there is one. */
  address: string | null
  /** `providers.add`. */
  operation: string
  resource: { kind: string; id: string; name: string }
  /** The project that the thing belongs to; null: the workspace, or several projects. */
  projectId: string | null
  /** Never holds a secret: credentials show as their last four. */
  before: unknown
  after: unknown
  previousHash: string
  hash: string
}

/** An audit line before it is written. */
export interface AuditLine
  extends Pick<AuditEvent, 'actor' | 'surface' | 'operation' | 'resource' | 'before' | 'after'> {
  actorId?: string | null
  address?: string | null
  /** Where the id of the thing does not say whose it is. */
  projectId?: string
  /** Writes although a configuration file owns what changes. */
  force?: boolean
}

export interface AuditFilter {
  /** Ids: only what was done to things of these projects. */
  projects?: string[]
  /** Name or id. */
  actor?: string
  surface?: AuditEvent['surface']
  /** `keys.revoke`, or `keys` for all of them. */
  operation?: string
  /** Name or id. */
  resource?: string
  since?: string
  until?: string
  /** Id of a line: only those that were written before it. */
  before?: string
  /** Number of a line: only those that were written after it. */
  after?: number
  oldestFirst?: boolean
  limit: number
}

export interface AuditMark {
  sequence: number
  id: string
  time: string
  hash: string
}

/** The first line that is not right, and why. */
export interface AuditFlaw extends AuditMark {
  reason: string
}

export interface AuditVerdict {
  lines: number
  /** Where the chain stands now. */
  head: AuditMark | null
  flaw: AuditFlaw | null
  /** The line with the hash that was noted; null: none was. */
  noted: AuditMark | 'missing' | null
}
