import { expect, it } from 'vitest'
import { readHead } from '../../../src/store/records/record-head.ts'
import { recordsTable } from '../../../src/store/records/records.ts'
import { scanTotals } from '../../../src/store/records/sum-scan.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

it('sums of more models than anybody has are read some thousand at a time, and come to the same', async () => {
  const store = await openTestStore(storePaths(temporaryDirectory()).databasePath)
  const { db } = store.connection
  const models = 5300
  await store.connection.writeHot((hot) => {
    for (let model = 0; model < models; model++) {
      const text = JSON.stringify(sampleRecord({ model: `model ${model}`, duration_ms: model % 300 }))
      const head = readHead(text, 'settled')
      if (head !== null) hot.writeRecord(head, 'live', text)
    }
  })
  const slices: number[] = []
  const question = { longest: 'ever', by: ['model'], withLatencies: true } as const
  for await (const { rows } of scanTotals(db, { limit: 1 }, question)) slices.push(rows.length)
  expect(Math.max(...slices)).toBeLessThan(models)
  expect(slices.reduce((sum, each) => sum + each, 0)).toBe(models)
  const found = await recordsTable(db).stats({ limit: 1 }, 'model')
  expect(new Set(found.map(({ group }) => group)).size).toBe(models)
  expect(found.find(({ group }) => group === 'model 5250')).toMatchObject({ requests: 1, duration_p50_ms: 150 })
  const [total] = await recordsTable(db).stats({ limit: 1 }, 'total')
  expect(total).toMatchObject({ requests: models, duration_p50_ms: expect.any(Number) })
  // Each slice looks at all sums of its time: what asks for one label has one.
  const ofOne: number[] = []
  for await (const { rows } of scanTotals(db, { limit: 1, model: 'model 5250' }, question)) ofOne.push(rows.length)
  expect(ofOne.filter((count) => count > 0)).toEqual([1])
  expect(ofOne.length).toBeLessThan(slices.length)
  await store.close()
})
