import { expect, it } from 'vitest'
import { RowStream } from '../../tui/row-stream.ts'

it('shows how a request ended that was in progress when the list was read', () => {
  const stream = new RowStream()
  stream.begin()
  stream.seed([
    { id: 'req_2', state: 'admitted' },
    { id: 'req_1', state: 'settled' },
  ])
  stream.addRow({ id: 'req_2', state: 'settled' })
  expect(stream.rows).toEqual([
    { id: 'req_2', state: 'settled' },
    { id: 'req_1', state: 'settled' },
  ])
})

it('shows how a request ended that was read in progress while the list was held', () => {
  const stream = new RowStream()
  stream.begin()
  stream.seed([{ id: 'req_1', state: 'settled' }])
  stream.held = true
  stream.begin()
  stream.seed([
    { id: 'req_2', state: 'admitted' },
    { id: 'req_1', state: 'settled' },
  ])
  stream.addRow({ id: 'req_2', state: 'settled' })
  expect([stream.rows.length, stream.waiting]).toEqual([1, 1])
  stream.release()
  expect(stream.rows).toEqual([
    { id: 'req_2', state: 'settled' },
    { id: 'req_1', state: 'settled' },
  ])
})

it('keeps of what comes while it is held the last thousands, and counts the rest', () => {
  const stream = new RowStream()
  stream.held = true
  for (let number = 1; number <= 5000; number++) stream.addRow({ number })
  expect([stream.rows.length, stream.waiting]).toEqual([0, 5000])
  stream.release()
  expect([stream.rows[0], stream.rows.length, stream.kept]).toEqual([{ number: 5000 }, 2000, 2000])
  expect([stream.held, stream.waiting]).toEqual([false, 0])
})

it('shows those that its filter takes, of those that came before it too, and begins anew without any', () => {
  const stream = new RowStream()
  for (const model of ['a', 'b', 'a']) stream.addRow({ model })
  expect(stream.rows).toHaveLength(3)
  stream.addRow({ model: 'c' })
  expect(stream.rows[0]).toEqual({ model: 'c' })
  stream.setFilter((row) => Reflect.get(Object(row), 'model') === 'a')
  stream.addRow({ model: 'b' })
  expect([stream.rows, stream.kept]).toEqual([[{ model: 'a' }, { model: 'a' }], 5])
  stream.held = true
  stream.addRow({ model: 'a' })
  stream.clear()
  expect([stream.rows, stream.kept, stream.waiting]).toEqual([[], 0, 0])
})

it('shows what is no object as it came', () => {
  const stream = new RowStream()
  stream.begin()
  stream.seed([null, 'old', { id: 7 }])
  for (const row of [null, 'new', undefined]) stream.addRow(row)
  expect(stream.rows).toEqual([undefined, 'new', null, null, 'old', { id: 7 }])
})
