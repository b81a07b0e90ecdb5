import type { Generated, Selectable } from 'kysely'

export interface ReplicaTables {
  /** One row, on a node of a cluster: how far it has come. */
  replica: ReplicaRow
  replica_pending: PendingColumns
  outbox: OutboxRow
  /** One row, where records are shared. */
  outbox_state: OutboxStateRow
  waiting_usage: WaitingUsageRow
}

/** `schema`: of the database when it was brought there. */
interface ReplicaRow {
  cluster: string
  member: string
  sequence: number
  /** Of the append that made this number: tells it from another one of the same number. */
  mark: string
  schema: string
}

export type PendingRow = Selectable<PendingColumns>

/** What was decided here, or heard past PostgreSQL, and holds here already; the cluster is not known to have it. */
interface PendingColumns {
  number: Generated<number>
  token: string
  changes_json: string
  audit_json: string | null
  project_id: string | null
  time: string
}

/** Records that PostgreSQL has not been heard to have, or that it had only a moment ago. */
interface OutboxRow {
  sequence: Generated<number>
  mark: Generated<string>
  /** The least of their ids. */
  least: string
  records: number
  ids_json: string
  time: string
  /** What was stored besides: `SharedChange[]`. */
  changes_json: Generated<string | null>
  /** Captured bodies, of these or of later records: `[id, part][]`. */
  bodies_json: Generated<string | null>
}

/** What background work used, until it is known which node counts it; `kind` is that of the journal's entry. */
interface WaitingUsageRow {
  number: Generated<number>
  batch_id: string
  provider_id: string
  credential_id: string
  noted_at: string
  kind: string
  entry_json: string
}

interface OutboxStateRow {
  member: string
  /** Of what was stored before records were shared, what lies below this id is still to come; null: nothing. */
  history: string | null
  /** The same of objects and reasoning: behind this key (`readObjectHistory`). */
  object_history: Generated<string | null>
  /** The same of bodies of records that were shipped without them. */
  body_history: Generated<string | null>
  /** How far PostgreSQL was heard to be. */
  sequence: number
  mark: string
}
