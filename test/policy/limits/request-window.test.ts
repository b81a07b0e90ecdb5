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
