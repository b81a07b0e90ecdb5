import { expect, it } from 'vitest'
import { awaitReach, type ReachParts } from '../../src/cluster/reach.ts'
import { isSilent } from '../../src/cluster/standing.ts'

type Member = ReturnType<ReachParts['members']>[number]

const member = (name: string, applied: number, silentMs: number | null): Member => ({
  ...{ id: name, name, version: '0.2.0', applied, heardAt: null, silentMs },
})

/** Who has it, which is told to those that are there after 200 ms, but to the one that is stuck; and how long that was waited for. */
async function ask(members: Member[], more: Partial<ReachParts> = {}) {
  const begun = performance.now()
  const told = () => performance.now() - begun > 200
  const has = ({ name, applied, silentMs }: Member) =>
    applied >= 7 || (told() && name !== 'stuck' && !isSilent({ silentMs }))
  const { reached, missing } = await awaitReach({
    ...{ since: null, members: () => members, listMembers: async () => null, isHeard: () => true },
    ...{ has, mayHave: (one) => !isSilent(one), ...more },
  })
  return { reached, missing: missing.map(({ name }) => name), ms: performance.now() - begun }
}

it('waits for who is there, and not for who has been silent for long', async () => {
  const gone = member('gone', 6, 60_000)
  const known = await ask([member('a', 7, 0), gone])
  expect(known).toMatchObject({ reached: ['a'], missing: ['gone'] })
  expect(known.ms).toBeLessThan(150)
  const some = await ask([member('a', 7, 0), member('b', 6, 500), member('new', 0, null), gone])
  expect(some).toMatchObject({ reached: ['a', 'b', 'new'], missing: ['gone'] })
  expect(some.ms).toBeLessThan(1500)
})

it('waits two seconds for one that is there and does not get it, and for the silent where they may get it too', async () => {
  const stuck = ask([member('a', 7, 0), member('stuck', 6, 500)])
  const any = ask([member('a', 7, 0), member('gone', 6, 60_000)], { mayHave: () => true })
  for (const { ms } of await Promise.all([stuck, any])) expect(ms).toBeGreaterThan(1900)
})
