import type { MessagePort } from 'node:worker_threads'
import type { BookedAmount } from '../../core/journal-format.ts'
import type { AuditLine } from '../operators/audit-tables.ts'
import type { BodyRow } from '../schema.ts'
import type { SharedChange } from './shared-change.ts'

/** How far a node of a cluster has come. */
export interface ReplicaState {
  cluster: string
  /** Id of this node. */
  member: string
  /** Number of the last append that is in this database. */
  sequence: number
  /** Of that append: tells it from another one of the same number. */
  mark: string
}

/**
 * What one row became. `put`: all of its columns, where it was not there; `set`: those that changed; `drop`: it is no more.
 */
export interface RowChange {
  name: string
  /** JSON list of the values of the table's key. */
  key: string
  op: 'put' | 'set' | 'drop'
  patch: Record<string, unknown> | null
}

/** A row as the cluster has it. */
export interface SharedRow {
  name: string
  key: string
  /** JSON object; null: it is no more. */
  row: string | null
}

export interface SharedRows {
  rows: SharedRow[]
  sequence: number
  mark: string
  /** `all`: these are all rows there are. `join`: so they are, and this database's own audit trail gives way to theirs. */
  extent: 'changes' | 'all' | 'join'
}

export interface SharedCall {
  table: string
  method: string
  input: unknown[]
  audit: AuditLine | null
}

/** A reading of records, objects or bodies. `own` is what this node's database says. */
export type SharedRead = (
  call: { table: 'records' | 'objects' | 'bodies'; method: string; input: unknown[]; signal: AbortSignal | null },
  own: () => Promise<unknown>,
) => Promise<unknown>

export type SharedWrite = (call: SharedCall) => Promise<unknown>

/** A call that was made and undone: what it would answer, and change. */
export interface Rehearsal {
  output: unknown
  changes: RowChange[]
  /** Where this database was meanwhile. */
  sequence: number
}

/** What one node took away, told to the others past PostgreSQL. Appended under its token once, whoever brings it there. */
export interface TakenAway {
  token: string
  changes: RowChange[]
  audit: AuditLine | null
  projectId: string | null
  time: string
}

export interface PendingChange {
  number: number
  token: string
  changes: RowChange[]
  sequence: number
}

/** A record of another node, with which refusals it stands for. */
export interface ForeignRecord {
  /** The whole, as JSON. */
  text: string
  repeats: number | null
  last_time: string | null
}

/** What a store's thread does for a node of a cluster. */
export type ReplicaRequest =
  | { act: 'state' }
  /** From now on this database is that node's. With `rows`: these in place of what it holds; else it must be as exported. */
  | { act: 'enter'; state: ReplicaState; rows: SharedRow[] }
  | { act: 'enter'; state: ReplicaState; rows: null; digest: string }
  /** `spent`: what other nodes have used of budgets, which counts here from now on. */
  | { act: 'leave'; spent: BookedAmount[] }
  /** Stores records of other nodes that are not here yet. */
  | { act: 'take-over'; records: ForeignRecord[] }
  /** The same of captured bodies, of records that are here. */
  | { act: 'take-over-bodies'; bodies: BodyRow[] }
  /** The same of what nodes have stored besides. */
  | { act: 'take-over-objects'; changes: SharedChange[] }
  /** Every row that all nodes share. */
  | { act: 'export' }
  | { act: 'rehearse'; call: SharedCall }
  /** Makes the change here alone, and keeps it for `pending`. */
  | { act: 'defer'; call: SharedCall; token: string }
  /** Makes here what another node took away, and keeps it for `pending`; what is here already is passed over. */
  | { act: 'hear'; taken: TakenAway[] }
  /** All that waits, as others are told of it. */
  | { act: 'waiting' }
  /** The oldest that waits, as it is to be appended now; null: none does. */
  | { act: 'pending' }
  | { act: 'settle'; number: number }
  | { act: 'apply'; rows: SharedRows }

export interface ReplicaAnswers {
  state: (ReplicaState & { pending: number; behindSchema: boolean }) | null
  enter: null
  leave: null
  /** How many were not here. */
  'take-over': number
  'take-over-bodies': null
  'take-over-objects': null
  export: { rows: SharedRow[]; digest: string }
  rehearse: Rehearsal
  /** `taken`: null where nothing is different. */
  defer: { output: unknown; taken: TakenAway | null }
  /** Whether something became different. */
  hear: boolean
  waiting: TakenAway[]
  pending: PendingChange | null
  settle: null
  apply: null
}

/** The store of a node of a cluster, as seen from another thread. */
export interface SharedStore {
  replica<Request extends ReplicaRequest>(request: Request): Promise<ReplicaAnswers[Request['act']]>
  /** From now on all writes of tables go through this; null: straight into the database, as on a node alone. */
  share(writer: SharedWrite | null): void
  /** Straight into the database, whoever shares it. */
  alone: SharedWrite
  /** The store's thread answers what the cluster's thread asks of the outbox over this port (`OutboxQuestion`). */
  serveOutbox(port: MessagePort): void
  /** From now on records are read through this; null: from the database, as on a node alone. */
  readRecords(reader: SharedRead | null): void
}
