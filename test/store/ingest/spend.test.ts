import { expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { spendTable } from '../../../src/store/records/spend.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { JournalWriter } from '../../support/journal-writer.ts'
import { admitted, sampleRecord, settled } from '../../support/sample-record.ts'
import { ingestJournal, storePaths, temporaryDirectory } from '../support.ts'

it('is what settled requests booked and interrupted ones held, each once, wherever its entries fall in a batch', async () => {
  for (const entries of [1, 2, 3, 500]) {
    const data = storePaths(temporaryDirectory())
    const store = await openStore({ path: data.databasePath })
    const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
    const [one, two, three, free] = Array.from({ length: 4 }, (_, index) =>
      sampleRecord({ id: newId('req', 1_700_000_000_000 + index) }),
    ) as [
      ReturnType<typeof sampleRecord>,
      ReturnType<typeof sampleRecord>,
      ReturnType<typeof sampleRecord>,
      ReturnType<typeof sampleRecord>,
    ]
    const hold = [
      ['pol_1 key_1 usd day', '2026-11-23', 500],
      ['pol_1 key_1 usd month', '2026-11', 500],
    ] as const
    const booked = [
      ['pol_1 key_1 usd day', '2026-11-23', 70],
      ['pol_1 key_1 usd month', '2026-11', 70],
    ] as const
    writer.write({ kind: 'admitted', hold, record: { ...one, state: 'admitted' } })
    writer.write({ kind: 'admitted', hold, record: { ...two, state: 'admitted' } })
    // It held more before it was interrupted; and one that has settled holds nothing more, however late that is read.
    const tokens = { input: 40, output: 60, cache_read: 0, cache_write: 0, reasoning: 0, source: 'estimated' } as const
    const more = hold.map(([counter, period]) => [counter, period, 800] as const)
    writer.write({ kind: 'held', id: two.id, hold: more, tokens }, { kind: 'held', id: one.id, hold: more, tokens })
    writer.write(admitted(free), settled(free))
    writer.write({ kind: 'settled', booked, record: one })
    writer.write({ kind: 'settled', booked: [], record: three }, { kind: 'held', id: three.id, hold: more, tokens })
    const ingest = (running: number[]) =>
      ingestJournal({
        connection: store.connection,
        journalDirectory: data.journalDirectory,
        writers: { boot: 'live', running, next: 5 },
        batch: { bytes: 4096, entries },
      })
    const spent = () => spendTable(store.connection.db).list(['2026-11-23', '2026-11'])
    await ingest([0])
    expect((await spent()).used.map(([, , amount]) => amount)).toEqual([70, 70])
    await ingest([0])
    expect((await spent()).used.map(([, , amount]) => amount)).toEqual([70, 70])
    await ingest([])
    await ingest([])
    expect((await spent()).used.toSorted()).toEqual([
      ['pol_1 key_1 usd day', '2026-11-23', 870],
      ['pol_1 key_1 usd month', '2026-11', 870],
    ])
    expect(await store.connection.db.selectFrom('open_holds').selectAll().execute()).toEqual([])
    const costs = await store.connection.db.selectFrom('records').select(['id', 'usd']).orderBy('id').execute()
    expect(costs.find(({ id }) => id === two.id)?.usd).toBe(800e-9)
    const { record_json } = await store.connection.db
      .selectFrom('records')
      .select('record_json')
      .where('id', '=', two.id)
      .executeTakeFirstOrThrow()
    expect(JSON.parse(record_json)).toMatchObject({ state: 'interrupted', tokens })
    await store.close()
  }
})
