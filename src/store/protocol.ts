import type { MessagePort } from 'node:worker_threads'
import type { SettledHold, Writers } from '../core/journal-format.ts'
import type { LongTurn } from '../core/threads/turn-watch.ts'
import type { TrafficTally } from '../core/traffic-tally.ts'
import type { AuditLine, SchemaUpgrade } from './api.ts'
import type { PurgeQuestion, Retention } from './records/record-tables.ts'
import type { ReplicaRequest } from './replica/replica-types.ts'
import type { PlainError } from './store-error.ts'

/** What the composition root hands the store thread as `workerData`. */
export interface StoreThreadData {
  databasePath: string
  journalDirectory: string
  /** Name of this run of the gateway, as in its segments' names. */
  boot: string
  /** The SQLite addon's path in the packaged executable. */
  nativeBinding?: string
  /** Left out: records and bodies are kept for ever. */
  retention?: Retention
  /** Left out: nothing is exported. */
  traces?: boolean
  /** Of a node of a cluster: whether what it stores is shipped to PostgreSQL. Left out: there is no cluster. */
  sharesRecords?: boolean
}

/** What is answered, under its `id`. */
export type StoreQuestion =
  | {
      kind: 'table'
      id: number
      table: string
      method: string
      input: unknown[]
      audit: AuditLine | null
    }
  | { kind: 'snapshot'; id: number; keysSince: number }
  | { kind: 'purge'; id: number; question: PurgeQuestion }
  | { kind: 'ingest' | 'health' | 'close'; id: number }
  /** Of a node of a cluster. */
  | { kind: 'replica'; id: number; request: ReplicaRequest }

export type StoreRequest =
  | StoreQuestion
  | { kind: 'open' }
  /** Whether anybody wants this pushed: nobody pays for copies that nobody reads. */
  | { kind: 'records' | 'admitted' | 'traffic' | 'holds' | 'traces'; wanted: boolean }
  /** Nobody waits any more for the answer to that call. */
  | { kind: 'stop'; id: number }
  /** From now on the look-ups that come over this port are answered. It is transferred. */
  | { kind: 'objects'; port: MessagePort }
  /** From now on what the cluster's thread asks of the outbox comes over this port. It is transferred. */
  | { kind: 'outbox'; port: MessagePort }
  | { kind: 'retention'; retention: Retention }
  | { kind: 'writers'; writers: Writers }

export type StoreMessage =
  /** This process is the one that has the database; it is opened when `open` is asked. */
  | { kind: 'locked' }
  | { kind: 'ready'; upgrade: SchemaUpgrade | null }
  | { kind: 'refused'; error: PlainError }
  /** The last message: a fault that nobody caught. */
  | { kind: 'crashing'; reason: string }
  | { kind: 'answer'; id: number; output: unknown }
  | { kind: 'failure'; id: number; error: PlainError }
  | StoreNews

/** What the thread tells on its own, to whom it was asked for. */
export type StoreNews =
  /** Each as JSON, which crosses threads far more cheaply than an object. */
  | { kind: 'records'; records: string[] }
  | { kind: 'traffic'; tally: TrafficTally }
  | { kind: 'holds'; settled: SettledHold[] }
  | { kind: 'long-turn'; turn: LongTurn }
