import { setTimeout as wait } from 'node:timers/promises'
import type { PurgeProgress } from '../../admin/handlers/context.ts'
import type { ClusterLink } from '../../cluster/link.ts'
import type { PurgeQuestion } from '../../store/api.ts'

const askEveryMs = 100
/** A node that is there and deletes much goes on; nobody waits for it longer than this after another has finished. */
const stallMs = 60_000

/**
 * Deletes on all nodes, and in PostgreSQL at once. Nodes that are away delete theirs when they are back, also where whoever asked has
 * gone. Throws `StoreReadOnly` where PostgreSQL was not reached.
 */
export async function* purgeNodes(link: ClusterLink, question: PurgeQuestion): AsyncGenerator<PurgeProgress> {
  await link.ask('ship', null)
  const number = await link.ask('purge', question)
  let removed = 0
  let { filter } = question
  for (;;) {
    const { before, removed: some } = await link.ask('purge-slice', { ...question, filter })
    removed += some
    if (before === null) break
    filter = { ...filter, before }
    yield { done: false, removed, before, missing: [] }
  }
  let left = Number.POSITIVE_INFINITY
  let until = 0
  for (;;) {
    const purged = await link.ask('purged', { number })
    const missing = purged.missing.map(({ name }) => name)
    if (missing.length < left) until = performance.now() + stallMs
    left = missing.length
    const progress = { removed: removed + purged.removed, before: null, missing }
    const done = purged.missing.every(({ isAway }) => isAway) || performance.now() > until
    yield { done, ...progress }
    if (done) return
    await wait(askEveryMs)
  }
}
