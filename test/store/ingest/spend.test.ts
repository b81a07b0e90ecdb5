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
    writer.write(admitted(free), settled(free))
    writer.write({ kind: 'settled', booked, record: one })
    writer.write({ kind: 'settled', booked: [], record: three })
    const ingest = (running: number[]) =>
      ingestJournal({
        connection: store.connection,
        journalDirectory: data.journalDirectory,
        writers: { boot: 'live', running, next: 5 },
        batch: { bytes: 4096, entries },
      })
    const spent = () => spendTable(store.connection.db).list(['2026-11-23', '2026-11'])
    await ingest([0])
    expect((await spent()).map(([, , amount]) => amount)).toEqual([70, 70])
    await ingest([0])
    expect((await spent()).map(([, , amount]) => amount)).toEqual([70, 70])
    await ingest([])
    await ingest([])
    expect((await spent()).toSorted()).toEqual([
      ['pol_1 key_1 usd day', '2026-11-23', 570],
      ['pol_1 key_1 usd month', '2026-11', 570],
    ])
    expect(await store.connection.db.selectFrom('open_holds').selectAll().execute()).toEqual([])
    const costs = await store.connection.db.selectFrom('records').select(['id', 'usd']).orderBy('id').execute()
    expect(costs.find(({ id }) => id === two.id)?.usd).toBe(500e-9)
    await store.close()
  }
})
