import { expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import type { RecordFilter } from '../../../src/store/api.ts'
import { readHead } from '../../../src/store/records/record-head.ts'
import { chooseLabels } from '../../../src/store/records/record-labels.ts'
import { recordWindows } from '../../../src/store/records/record-windows.ts'
import { recordsTable } from '../../../src/store/records/records.ts'
import type { OpenStore } from '../../../src/store/sqlite/open.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

const start = Date.parse('2026-03-01T00:00:00.000Z')
const minutes = 10_000
const failure = { code: 'budget_exceeded', origin: 'provider', message: 'no' } as const

function at(minute: number, change: Partial<RequestRecord> = {}): RequestRecord {
  const time = start + minute * 60_000
  return sampleRecord({ id: newId('req', time), time: new Date(time).toISOString(), ...change })
}

/** A week with a request a minute; on its first day one of everything that is hard to find. */
async function fill(): Promise<OpenStore> {
  const store = await openTestStore(storePaths(temporaryDirectory()).databasePath)
  const records = Array.from({ length: minutes }, (_, index) =>
    at(index, { tags: index % 2000 === 7 ? { team: 'a' } : {} }),
  )
  records.push(at(50.5, { status: 402, error: failure, model: 'once', key: { id: 'key_once', name: 'once' } }))
  records.push(at(60.5, { state: 'interrupted', status: null }))
  records.push(at(70.5, { state: 'admitted', status: null }))
  await store.connection.writeHot((hot) => {
    for (const record of records) {
      const text = JSON.stringify(record)
      const head = readHead(text, 'settled')
      if (head !== null) hot.writeRecord(head, 'live-0', text)
    }
  })
  return store
}

async function countWindows({ connection }: OpenStore, filter: Partial<RecordFilter>): Promise<number> {
  const whole = { limit: 50, ...filter }
  const labels = await chooseLabels(connection.db, whole)
  let count = 0
  for await (const _ of recordWindows(connection.db, whole, labels)) count++
  return count
}

it('goes where labels and outcomes occur, and past all else', async () => {
  const store = await fill()
  expect(await countWindows(store, { tags: { team: 'a' } })).toBe(6)
  const hard: Partial<RecordFilter>[] = [
    { key: 'once' },
    { model: 'once' },
    { error: 'budget_exceeded' },
    { status: '402' },
    { status: '4xx', model: 'once' },
    { errors: true },
    { state: 'interrupted' },
    { state: 'admitted' },
    { id: (await recordsTable(store.connection.db).list({ limit: 1, model: 'once' }))[0]?.id ?? '' },
  ]
  for (const filter of hard) {
    expect([filter, (await countWindows(store, filter)) <= 2]).toEqual([filter, true])
    expect([filter, (await recordsTable(store.connection.db).list({ limit: 50, ...filter })).length]).toEqual([
      filter,
      1,
    ])
  }
  expect(await countWindows(store, { status: '451' })).toBe(0)
  expect(await countWindows(store, { status: '402', until: new Date(start - 3_600_000).toISOString() })).toBe(0)
  await store.close()
})

it('that has no more time says how far it came, and goes on from there', async () => {
  const store = await fill()
  const { search, list } = recordsTable(store.connection.db)
  const filter = { limit: 50, tags: { team: 'a' } }
  const whole = await list(filter)
  expect(whole).toHaveLength(5)
  const found: RequestRecord[] = []
  const reached: string[] = []
  let before: string | null | undefined
  for (let pages = 0; before !== null; pages++) {
    expect(pages).toBeLessThan(20)
    const page = await search({ ...filter, ...(before === undefined ? {} : { before }) }, 0)
    found.push(...page.records)
    if (page.searchedUntil !== null) reached.push(page.searchedUntil)
    expect(page.searchedUntil === null).toBe(page.before === null)
    before = page.before
  }
  expect(found.map(({ id }) => id)).toEqual(whole.map(({ id }) => id))
  expect(reached.length).toBeGreaterThan(3)
  expect(reached.toSorted().reverse()).toEqual(reached)
  // A page that is full is whole, and the next one begins behind its last.
  expect(await search({ ...filter, limit: 2 }, 10_000)).toMatchObject({ searchedUntil: null, before: whole[1]?.id })
  await store.close()
})
