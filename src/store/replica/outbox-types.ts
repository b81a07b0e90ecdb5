import type { HeldBatch } from '../ingest/batch-hold-statements.ts'
import type { PurgeQuestion, PurgeSlice, RecordCost } from '../records/record-tables.ts'
import type { SumChange } from '../records/sum-changes.ts'
import type { BodyRow } from '../schema.ts'
import type { ForgottenObject, SharedChange } from './shared-change.ts'
import type { ClaimAnswer, ClaimPage, CountedHold, WaitingUsage } from './usage-claim.ts'

/** A record as it is shipped to PostgreSQL, in the order of `shippedColumns`. */
export type ShippedRow = (string | number | null)[]

export const labelColumns = [
  'lane',
  'project',
  'environment',
  'key_id',
  'key_name',
  'model',
  'provider',
  'shadow',
] as const
export type LabelWords = (string | number | null)[]

/** As SQLite has them, with what a label stands for in words, and how many refusals share the record. */
export const shippedColumns = [
  ...(['id', 'state', 'time'] as const),
  ...labelColumns,
  ...(['status', 'error_code', 'input', 'output', 'cache_read', 'cache_write', 'reasoning', 'usd'] as const),
  ...(['duration_ms', 'first_byte_ms', 'attempts_json', 'record_json', 'repeats', 'last_time'] as const),
] as const

/** What records of one node change in its sums, with what a label stands for in words. */
export interface LabelledChange {
  node: string
  /** Tells labels apart. */
  label: string
  values: LabelWords
  change: SumChange
}

/**
 * Records of one node as PostgreSQL takes them. Made in the store's thread: the rows themselves, thousands of small values, would
 * cost more to hand over, and to collect afterwards, than all else that the cluster's thread does with them.
 */
export interface ShippedRecords {
  ids: string[]
  /** Of `COPY`'s text format: the node, then `shippedColumns`. */
  copied: Uint8Array<ArrayBuffer>
  /** What they add. */
  sums: LabelledChange[]
  /** The same of days by tag (`tag-sum-statements.ts`): of those that have any. */
  tags: LabelledChange[]
}

/** A batch's number, and what tells it from another one of that number. */
export interface OutboxMark {
  sequence: number
  mark: string
}

export interface OutboxBatch extends OutboxMark {
  /** In the order in which they were stored. */
  changes: SharedChange[]
  /** Captured, as they are sealed here; of a request they never come later than its record. */
  bodies: BodyRow[]
  /** Only what was stored before it was shared follows. */
  isHistory: boolean
  /** The mark that PostgreSQL is to be at. */
  after: number
  records: ShippedRecords
}

export interface BatchWanted {
  after: number
  most: number
  /** Of texts and bodies. */
  mostBytes: number
  /** As PostgreSQL's records name it. */
  node: string
}

export interface OutboxState extends WaitingUsage {
  /** Records that PostgreSQL was not heard to have. Bodies, which come with them, are not counted. */
  depth: number
  /** RFC 3339: since when the oldest of them waits; null: none does. */
  since: string | null
  /** Records from before they were shared are still to come. */
  history: boolean
}

export interface OutboxQuestions {
  /** What is journaled by now is in the outbox when it is answered. */
  ingest: { input: null; output: undefined }
  /** PostgreSQL has come to that mark; after which number it goes on. */
  resume: { input: OutboxMark; output: number }
  /** What follows, in so many records and bytes, but at least one batch of those that came in together. Null: nothing. */
  read: { input: BatchWanted; output: OutboxBatch | null }
  /** PostgreSQL has it. */
  shipped: { input: OutboxMark; output: undefined }
  /** What waits behind that number; null: behind what PostgreSQL was last heard to have. */
  state: { input: { after: number | null }; output: OutboxState }
  /** What others have forgotten is forgotten here. */
  forget: { input: ForgottenObject[]; output: undefined }
  /** What background work used, and no node is known to count: behind that number. */
  claims: { input: { after: number }; output: ClaimPage }
  claimed: { input: ClaimAnswer[]; output: undefined }
  /** What holds budget here for background work, behind that one; null: from the beginning. */
  holds: { input: HeldBatch | null; output: HeldBatch[] }
  /** Of these it is counted what they came to: they hold nothing more. */
  release: { input: CountedHold[]; output: undefined }
  /** Deletes some of what this node has stored, as a purge on any node asks. Of bodies it counts what PostgreSQL has not. */
  purge: { input: PurgeQuestion; output: PurgeSlice }
  /** Puts another cost on what this node has of these, as a node has found it; returns how many there were. */
  reprice: { input: RecordCost[]; output: number }
  /** What PostgreSQL refuses, each as JSON: kept as a file. */
  'set-aside': { input: { sequence: number; records: string[] }; output: null }
}

export type OutboxAct = keyof OutboxQuestions
export type OutboxQuestion = {
  [Act in OutboxAct]: { id: number; act: Act; input: OutboxQuestions[Act]['input'] }
}[OutboxAct]
export type OutboxReply = { id: number; output: unknown } | { id: number; failure: string }
