import { setTimeout as wait } from 'node:timers/promises'
import type { SharedCosts } from '../../admin/handlers/context.ts'
import type { ClusterLink } from '../../cluster/link.ts'
import type { RequestRecord } from '../../core/record.ts'

const askEveryMs = 100
/** Nobody waits longer for nodes that are there and get on with nothing. */
const stallMs = 30_000

/** What the records of all nodes cost, in PostgreSQL at once; each node changes its own database, one that is away when it is back. */
export function sharedCosts(link: ClusterLink): SharedCosts {
  let shipped: Promise<unknown> | null = null
  return {
    async list(filter) {
      // What was answered here before it was asked for is among them.
      shipped ??= link.ask('ship', null)
      await shipped
      return (await link.ask('read', { method: 'list', input: [filter] })) as RequestRecord[]
    },
    reprice: (costs) => link.ask('reprice', costs),
    async *settle() {
      let least = Number.POSITIVE_INFINITY
      let until = 0
      for (;;) {
        const nodes = await link.ask('repriced', null)
        const left = nodes.reduce((sum, node) => sum + node.left, 0)
        if (left < least) until = performance.now() + stallMs
        least = Math.min(least, left)
        const namesOf = (some: typeof nodes) => some.map(({ name }) => name)
        yield { missing: namesOf(nodes), outdated: namesOf(nodes.filter(({ isOlder }) => isOlder)) }
        if (nodes.every(({ isAway, isOlder }) => isAway || isOlder) || performance.now() > until) return
        await wait(askEveryMs)
      }
    },
  }
}
