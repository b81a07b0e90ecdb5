import { expect, it } from 'vitest'
import type { JournalEntry } from '../../src/core/journal-format.ts'
import { RefusalFlood } from '../../src/gateway/refusal-flood.ts'

it('gives the first hundred of a second their own record, and the rest one together', () => {
  const written: JournalEntry[] = []
  const flood = new RefusalFlood(async (entry) => void written.push(entry))
  const own = Array.from({ length: 250 }, (_, index) => index).filter((index) =>
    flood.admits('10.0.0.1', `req_${index}`, 1000 + index),
  )
  expect(own).toEqual(Array.from({ length: 101 }, (_, index) => index))
  expect(flood.admits('10.0.0.2', 'req_other', 1000)).toBe(true)
  flood.flush()
  expect(written).toEqual([{ kind: 'repeated', id: 'req_100', count: 149, lastTime: new Date(1249).toISOString() }])
})

it('starts anew with each second', () => {
  const flood = new RefusalFlood(async () => {})
  for (let index = 0; index < 500; index++) flood.admits('a', `req_${index}`, 0)
  flood.flush()
  expect(flood.admits('a', 'req_next', 0)).toBe(true)
  flood.flush()
})
