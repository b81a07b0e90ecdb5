import { expect, it } from 'vitest'
import { Membership, type MembershipParts } from '../../src/cluster/membership.ts'
import { StoreMoved } from '../../src/store/store-error.ts'

/** A store whose rows change the first `moves` times between the reading and the entry, and PostgreSQL beside it. */
function partsThatMove(moves: number) {
  const asked: string[] = []
  let left = moves
  const parts = {
    name: 'gw-a',
    publish: async () => void asked.push('published'),
    node: {
      state: null,
      trouble: null,
      link: { ask: async (question: string) => void asked.push(question) },
      stand: () => asked.push('stand'),
      settled: async () => {},
    },
    store: {
      share: () => {},
      async replica({ act }: { act: string }) {
        if (act === 'enter' && left-- > 0) throw new StoreMoved('the configuration was changed in the meantime')
        return { rows: [], digest: '' }
      },
    },
  }
  return { asked, membership: new Membership(parts as unknown as MembershipParts) }
}

it('founds a cluster of a gateway whose configuration changes while it is copied', async () => {
  const { asked, membership } = partsThatMove(2)
  await expect(membership.found()).resolves.toMatch(/^clu_/)
  expect(asked).toEqual(['find', 'found', 'unfound', 'found', 'unfound', 'found', 'stand', 'published'])
})

it('gives up, and leaves nothing in PostgreSQL, where it never stands still', async () => {
  const { asked, membership } = partsThatMove(Number.POSITIVE_INFINITY)
  await expect(membership.found()).rejects.toMatchObject({ name: 'StoreConflict', hint: 'Try again.' })
  expect(asked.at(-1)).toBe('unfound')
  expect(asked).not.toContain('stand')
})
