import { setImmediate as nextTurn } from 'node:timers/promises'
import { usdOfNano } from '../../core/cost/money.ts'
import type { BatchHeldEntry } from '../../core/journal-format.ts'
import { kindOfCounter } from '../../core/policies/policy-limits.ts'
import type { CountedUsage } from '../replica/usage-claim.ts'
import type { Connection } from '../sqlite/connection.ts'
import type { HotStatements } from '../sqlite/hot-statements.ts'
import { type Audience, storeAndNotify } from './ingest.ts'
import { type Stored, settleBatch, storeMade } from './store-batch.ts'

const dayMs = 86_400_000
const unreadMs = 30 * dayMs
/** The longest that a provider takes for a batch, and an hour: its end counts from here where nobody has asked for it. */
const longestBatchMs = 25 * 3_600_000

/** Batches that ended 30 days ago, and whose results nobody has read since, are charged what they hold. */
export async function chargeUnread(connection: Connection, now: number, audience: Audience): Promise<void> {
  const at = (moment: number) => new Date(moment).toISOString()
  const due = { ended: at(now - unreadMs), created: at(now - unreadMs - longestBatchMs) }
  for (;;) {
    const { settledHolds } = await storeAndNotify(connection, audience, (hot, stored) => {
      // Another node may have counted it, and this one not have heard of it.
      for (const held of hot.holds.due(due))
        if (hot.outbox?.claims.note(held) !== true) charge(hot, held, at(now), stored)
    })
    if (settledHolds.length === 0) return
    await nextTurn()
  }
}

/** A batch whose results nobody has read is charged what it held. */
export function charge(hot: HotStatements, held: BatchHeldEntry, time: string, stored: Stored): CountedUsage {
  const inUsd = held.hold.find(([counter]) => kindOfCounter(counter) === 'usd')
  // Each step of it has held of the same budgets.
  const usd = held.hold.reduce((sum, [counter, , amount]) => sum + (counter === inUsd?.[0] ? amount : 0), 0)
  const record = hot.batches.charge(held, { time, usd: inUsd === undefined ? null : usdOfNano(BigInt(usd)) })
  if (record !== null) storeMade(hot, record, 'unread', stored)
  const { input, output } = held.tokens
  const actual = record === null ? { usd: 0, tokens: 0 } : { usd, tokens: input + output }
  settleBatch(hot, { ...held.owner, ...held }, { actual, counters: [] }, stored)
  return { ...actual, counters: [] }
}
