import type { BackgroundWork, BatchUsageEntry } from '../../core/journal-format.ts'
import type { BatchActual, HeldBatch } from '../ingest/batch-hold-statements.ts'

/** Some background work whose usage waits here to be counted, if no other node counts it. */
export interface UsageClaim extends HeldBatch {
  /** In `waiting_usage`. */
  number: number
  type: BackgroundWork
  /** The request that made it, on whose record a part may stand, where this node does not have that; null: it does, or none is needed. */
  maker: string | null
}

/** How much of it waits to be counted. */
export interface WaitingUsage {
  /** Of so many batches, responses and the like. */
  usage: number
  /** RFC 3339: since when the oldest of it waits; null: none does. */
  usageSince: string | null
}

export interface ClaimPage {
  claims: UsageClaim[]
  /** In all. */
  waiting: WaitingUsage
  /** Where the next page begins; null: there is none. */
  last: number | null
}

/** Of a record. */
export interface MakerAmounts {
  input: number | null
  output: number | null
  cache_read: number | null
  cache_write: number | null
  reasoning: number | null
  usd: number | null
}

export type ClaimAnswer = { number: number } & (
  | {
      kind: 'mine'
      /** Another node holds budget for it, and books there what it came to. */
      heldElsewhere: boolean
      maker: MakerAmounts | null
    }
  /** Another node has counted it. */
  | { kind: 'counted' }
  /** Another node is about to count it: until it has, that one may be removed. */
  | { kind: 'taken' }
  /** The record of the request that made it is not there yet. */
  | { kind: 'unmade' }
)

/** What it came to, for the node that holds budget for it. */
export interface CountedUsage extends BatchActual {
  counters: NonNullable<BatchUsageEntry['counters']>
}

/** Null: what it came to is booked elsewhere. */
export interface CountedHold extends HeldBatch {
  usage: CountedUsage | null
}

/** As databases have it. */
export interface WorkRow {
  id: string
  provider_id: string
  credential_id: string
}

export function placeOf({ id, provider_id, credential_id }: WorkRow): HeldBatch {
  return { batchId: id, providerId: provider_id, credentialId: credential_id || null }
}

/** In an index of PostgreSQL; whatever is longer, or no text to it, a node counts by itself. */
const longestId = 500

/** Whether PostgreSQL can have it as a name. */
export function isClaimable(batchId: string): boolean {
  return batchId.length <= longestId && !batchId.includes('\0')
}
