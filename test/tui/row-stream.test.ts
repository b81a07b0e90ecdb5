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
