import { expect, it } from 'vitest'
import type { JournalEntry } from '../../src/core/journal-format.ts'
import { RefusalSampler } from '../../src/gateway/thread/refusal-sampling.ts'

it('gives the first hundred of a second their own record, and the rest one together', () => {
  const written: JournalEntry[] = []
  const flood = new RefusalSampler(async (entry) => void written.push(entry))
  const own = Array.from({ length: 250 }, (_, index) => index).filter(
    (index) => flood.share('10.0.0.1', `req_${index}`, 1000 + index) === null,
  )
  expect(own).toEqual(Array.from({ length: 101 }, (_, index) => index))
  expect(flood.share('10.0.0.2', 'req_other', 1000)).toBeNull()
  const announced = { kind: 'repeated', id: 'req_100', count: 1, lastTime: new Date(2101).toISOString() }
  expect(written).toEqual([announced])
  flood.flush()
  expect(written).toEqual([announced, { ...announced, count: 148, lastTime: new Date(1249).toISOString() }])
})

it('answers none that shares a record before that stands in the journal', async () => {
  const journaled = Promise.withResolvers<void>()
  const flood = new RefusalSampler(() => journaled.promise)
  for (let index = 0; index < 101; index++) expect(flood.share('a', `req_${index}`, 0)).toBeNull()
  const answered: number[] = []
  const shares = [0, 1].map((index) => flood.share('a', `req_shared${index}`, 0)?.then(() => answered.push(index)))
  await Promise.resolve()
  expect(answered).toEqual([])
  journaled.resolve()
  await Promise.all(shares)
  expect(answered).toEqual([0, 1])
  flood.flush()
})

it('starts anew with each second', () => {
  const flood = new RefusalSampler(async () => {})
  for (let index = 0; index < 500; index++) void flood.share('a', `req_${index}`, 0)
  flood.flush()
  expect(flood.share('a', 'req_next', 0)).toBeNull()
  flood.flush()
})
