import type { BatchUsageEntry } from '../../core/journal-format.ts'
import type { ClaimStatements } from '../replica/claim-statements.ts'
import type { ClaimAnswer, CountedHold, CountedUsage, MakerAmounts } from '../replica/usage-claim.ts'
import type { HotStatements } from '../sqlite/hot-statements.ts'
import { type Stored, settleBatch, storeMade, sumOf } from './store-batch.ts'
import { charge } from './unread-batches.ts'

/** For so long it is waited for the record of the request that made an answer. */
const unmadeMs = 86_400_000
const nothing: CountedUsage = { usd: 0, tokens: 0, counters: [] }

/** Counts what PostgreSQL says that this node counts, in the transaction that tells the others so; and forgets what others count. */
export function bookClaims(hot: HotStatements, answers: readonly ClaimAnswer[], now: number, stored: Stored): void {
  const { outbox } = hot
  if (outbox === null) return
  for (const answer of answers) {
    const found = outbox.claims.find(answer.number)
    if (found === null || answer.kind === 'taken') continue
    const { entry, notedAt } = found
    if (answer.kind === 'unmade' && now - Date.parse(notedAt) < unmadeMs) continue
    outbox.claims.drop(answer.number)
    if (answer.kind !== 'mine') continue
    const { batchId, owner, type = 'batch' } = entry
    const { providerId, credentialId } = owner
    const time = new Date(now).toISOString()
    const usage = entry.kind === 'batch-held' ? charge(hot, entry, time, stored) : count(hot, entry, answer, stored)
    outbox.change({ kind: 'counted', batchId, providerId, credentialId, type, usage })
  }
}

/** What other nodes have counted no longer holds anything here. */
export function releaseHolds(hot: HotStatements, counted: readonly CountedHold[], stored: Stored): void {
  for (const { usage, ...place } of counted) {
    // It may have been let go meanwhile.
    if (hot.holds.find(place) === null) continue
    const { counters, ...actual } = usage ?? nothing
    settleBatch(hot, place, { actual, counters }, stored)
  }
}

/** Without a cluster nobody else counts it. */
export function countWaiting(hot: HotStatements, claims: ClaimStatements, time: string, stored: Stored): void {
  for (const entry of claims.takeAll()) {
    if (entry.kind === 'batch-held') charge(hot, entry, time, stored)
    else count(hot, entry, { heldElsewhere: false, maker: null }, stored)
  }
}

function count(
  hot: HotStatements,
  entry: BatchUsageEntry,
  { heldElsewhere, maker }: { heldElsewhere: boolean; maker: MakerAmounts | null },
  stored: Stored,
): CountedUsage {
  const { batchId, counters = [], owner } = entry
  const records = hot.batches.count(entry, maker)
  if (records === null) return nothing
  for (const record of records) storeMade(hot, record, 'claimed', stored)
  const actual = sumOf(records)
  if (!heldElsewhere) settleBatch(hot, { ...owner, batchId }, { actual, counters }, stored)
  return { ...actual, counters }
}
