import type { Generated } from 'kysely'

export interface ReplicaTables {
  /** One row, on a node of a cluster: how far it has come. */
  replica: ReplicaRow
  replica_pending: PendingRow
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

/** What was decided here while PostgreSQL was away, and holds here already. */
interface PendingRow {
  number: Generated<number>
  token: string
  changes_json: string
  audit_json: string | null
  project_id: string | null
  time: string
}
