import { afterEach, expect, it, vi } from 'vitest'
import { createLimitMemory, LimitRows } from '../../../src/policy/limits/limit-memory.ts'
import { requestWindow } from '../../../src/policy/limits/request-window.ts'

const rows = new LimitRows(createLimitMemory(1))
const book = (row: number, amount: number, epoch: number) => requestWindow.take(rows, row, amount, 500, epoch)
const makeRow = (name: string): number => {
  const row = rows.make(name, requestWindow.size)
  if (row === null) throw new Error('There is no memory for a row.')
  return row
}
afterEach(() => vi.restoreAllMocks())

it('counts what others booked while a thread was held up with an earlier moment', () => {
  const row = makeRow('held up')
  book(row, 1, 50)
  const load = Atomics.load
  // Between its look at how far the row is emptied, and the emptying, a thread of the next two seconds books.
  vi.spyOn(Atomics, 'load').mockImplementationOnce((...place) => {
    const found = load(...place)
    book(row, 10, 52)
    return found
  })
  book(row, 1, 51)
  vi.restoreAllMocks()
  expect(requestWindow.used(rows, row, 52)).toBe(12)
})

it.each([31, 2000, 2016, 2017, 2047, 2048, 4000, 4095, 4096, 9000])(
  'counts nothing of a row that has rested for %d buckets',
  (rest) => {
    const row = makeRow(`rested ${rest}`)
    for (let epoch = 70; epoch <= 100; epoch++) book(row, 3, epoch)
    expect(requestWindow.used(rows, row, 100)).toBe(93)
    expect(requestWindow.used(rows, row, 100 + rest)).toBe(0)
    expect(book(row, 500, 100 + rest)).toBe(0)
  },
)

/** The buckets of a machine that has just started, of those at which the bits of a number begin anew, and of one that runs for years. */
it.each([0, 2030, 4080, 8170, 1_000_000_000])(
  'counts those of the last minute at bucket %d as at any other',
  (begin) => {
    const row = makeRow(`minute ${begin}`)
    const bucketMs = 2000
    for (let age = 1; age <= 31; age++) book(row, age, begin + age)
    const last = begin + 31
    expect(requestWindow.used(rows, row, last)).toBe((31 * 32) / 2)
    // The oldest bucket lives for one more.
    const waits = [1, 2, 3, 4].map((missing) => requestWindow.wait(rows, row, missing, last * bucketMs))
    expect(waits).toEqual([bucketMs, 2 * bucketMs, 2 * bucketMs, 3 * bucketMs])
    expect(requestWindow.wait(rows, row, 1000, last * bucketMs + 500)).toBe(31 * bucketMs - 500)
    expect(requestWindow.used(rows, row, last + 1)).toBe((31 * 32) / 2 - 1)
    expect(requestWindow.used(rows, row, last + 2)).toBe((31 * 32) / 2 - 3)
  },
)

it('gives back what was taken for nothing, from its own bucket and never more than is there', () => {
  const row = makeRow('given back')
  book(row, 5, 100)
  book(row, 4, 101)
  requestWindow.correct(rows, row, { amount: 3, epoch: 100 }, 0, 101)
  expect(requestWindow.used(rows, row, 101)).toBe(6)
  requestWindow.correct(rows, row, { amount: 9, epoch: 101 }, 0, 101)
  expect(requestWindow.used(rows, row, 101)).toBe(2)
  // That bucket is gone, and another has its place.
  book(row, 7, 132)
  requestWindow.correct(rows, row, { amount: 4, epoch: 101 }, 0, 132)
  expect(requestWindow.used(rows, row, 132)).toBe(7)
})

it('refuses what goes beyond the limit with how much is missing, and counts nothing of it', () => {
  const row = makeRow('refused')
  expect(book(row, 499, 100)).toBe(1)
  expect(book(row, 4, 100)).toBe(-3)
  expect(requestWindow.used(rows, row, 100)).toBe(499)
  expect(book(row, 1, 100)).toBe(0)
  expect(requestWindow.used(rows, row, 100)).toBe(500)
  expect(book(row, 1, 130)).toBe(-1)
  expect(requestWindow.used(rows, row, 131)).toBe(0)
})

it('counts each limit for itself, though they lie side by side', () => {
  const memory = createLimitMemory(1)
  const beside = new LimitRows(memory)
  const made = ['left', 'right'].map((name) => beside.make(name, requestWindow.size) ?? 0)
  for (const [index, row] of made.toReversed().entries())
    for (let epoch = 70; epoch <= 100; epoch++) requestWindow.take(beside, row, index + 1, 500, epoch)
  const found = ['left', 'right'].map((name) => new LimitRows(memory).find(name))
  expect(found).toEqual(made)
  expect(made.map((row) => requestWindow.used(beside, row, 100))).toEqual([62, 31])
})
