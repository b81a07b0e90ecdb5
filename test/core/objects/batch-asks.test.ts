import { expect, it } from 'vitest'
import { addBatchAsk, type BatchAsk, resumeBatchAsks } from '../../../src/core/objects/batch-input.ts'

const line = { bytes: 10, output: 5 }

it('tells names apart that contain what stands between two of them', () => {
  const asks = new Map<string, BatchAsk>()
  addBatchAsk(asks, { ...line, model: 'a\nb' })
  addBatchAsk(asks, { ...line, model: 'a', others: ['b'] })
  addBatchAsk(asks, { ...line, model: '["a","b"]' })
  addBatchAsk(asks, { ...line, model: '' })
  addBatchAsk(asks, { ...line, model: null })
  expect([...asks.values()].map(({ model, lines }) => [model, lines])).toEqual([
    ['a\nb', 1],
    ['a', 1],
    ['["a","b"]', 1],
    ['', 1],
    [null, 1],
  ])
  const resumed = resumeBatchAsks([...asks.values()])
  addBatchAsk(resumed, { ...line, model: 'b', others: ['a'] })
  expect(resumed.size).toBe(5)
  expect([...resumed.values()][1]).toMatchObject({ model: 'a', others: ['b'], lines: 2 })
})
