import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ListMember, LiveList } from '../../src/gateway/thread/deadlines.ts'

describe('the live list', () => {
  it('holds what a set would, whatever joins and leaves', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 9 })))
    fc.assert(
      fc.property(steps, (taken) => {
        const items: ListMember[] = Array.from({ length: 10 }, () => ({ place: -1 }))
        const list = new LiveList<ListMember>()
        const set = new Set<ListMember>()
        for (const [joins, index] of taken) {
          const item = items[index]!
          if (joins) list.add(item)
          else list.remove(item)
          if (joins) set.add(item)
          else set.delete(item)
          expect(list.size).toBe(set.size)
          expect(new Set(list.all())).toEqual(set)
        }
      }),
    )
  })

  it('lets items leave while one goes through it', () => {
    const items: ListMember[] = [{ place: -1 }, { place: -1 }, { place: -1 }]
    const list = new LiveList<ListMember>()
    for (const item of items) list.add(item)
    for (const item of list.all()) list.remove(item)
    expect(list.size).toBe(0)
  })
})
