import { describe, expect, it, onTestFinished } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { BodyEntry, JournalEntry } from '../../../src/core/journal-format.ts'
import { mintBodyKey } from '../../../src/sealing/body-seal.ts'
import type { FoundBodies } from '../../../src/store/api.ts'
import { removeOld, removeOverBodies } from '../../../src/store/records/retention.ts'
import { callTable } from '../../../src/store/tables.ts'
import { bodyEntry } from '../../support/captured.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { JournalWriter } from '../../support/journal-writer.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { ingestJournal, storePaths, temporaryDirectory } from '../support.ts'

const key = { id: 'k', key: mintBodyKey() }
const dead = { boot: 'next', running: [], next: 0 }
const dayMs = 86_400_000

async function open(...entries: JournalEntry[]) {
  const paths = storePaths(temporaryDirectory())
  const store = await openTestStore(paths.databasePath)
  onTestFinished(() => store.close())
  const { connection } = store
  const { journalDirectory } = paths
  const writer = new JournalWriter(journalDirectory, { boot: 'live', thread: 0, sequence: 0 }, 8 * 1024 * 1024)
  writer.write(...entries)
  const find = async (id: string) => {
    const found = await callTable(connection, { table: 'bodies', method: 'find', input: [id], audit: null })
    return (found as FoundBodies).bodies
  }
  const ingest = () => ingestJournal({ connection, journalDirectory, writers: dead })
  return { connection, journalDirectory, find, ingest }
}

describe('bodies in the journal', () => {
  it('are stored once however often they are read, beside a record or without one', async () => {
    const record = sampleRecord()
    const request = bodyEntry(key, record.id, 'request', 'asked')
    const answer = bodyEntry(key, record.id, 'answer', 'told')
    const alone = bodyEntry(key, newId('req'), 'request', 'never settled')
    const { find, ingest, journalDirectory } = await open(request, answer, { kind: 'settled', record }, alone)
    await ingest()
    // A journal that was put back after a crash is read again.
    new JournalWriter(journalDirectory, { boot: 'live', thread: 0, sequence: 1 }).write(request, {
      ...answer,
      bytes: 1,
    })
    await ingest()
    expect(await find(record.id)).toMatchObject([
      { part: 'request', bytes: 5, keyId: 'k' },
      { part: 'answer', bytes: 4 },
    ])
    expect(await find(alone.id)).toHaveLength(1)
  })

  it('that are not understood keep no record waiting', async () => {
    const record = sampleRecord()
    const good = bodyEntry(key, record.id, 'request', 'asked')
    const bad = [{ part: 'other' }, { mode: 'none' }, { bytes: 1.5 }, { sealed: 7 }].map(
      (change) => ({ ...good, ...change }) as unknown as BodyEntry,
    )
    const { find, ingest } = await open(...bad, good, { kind: 'settled', record })
    expect(await ingest()).toBe(1)
    expect(await find(record.id)).toHaveLength(1)
  })

  it('may be as large as a segment allows', async () => {
    const id = newId('req')
    const sealed = Buffer.alloc(2 * 1024 * 1024, 1).toString('base64')
    const { find, ingest } = await open({ ...bodyEntry(key, id, 'answer', ''), sealed })
    await ingest()
    expect(await find(id)).toMatchObject([{ sealed: Buffer.alloc(2 * 1024 * 1024, 1) }])
  })

  it('are removed when their time is over, and with their records at the latest', async () => {
    const now = Date.now()
    const records = [0, 1, 5, 20].map((days) => {
      const at = now - days * dayMs
      return sampleRecord({ id: newId('req', at), time: new Date(at).toISOString() })
    })
    const entries = records.flatMap((record): JournalEntry[] => [
      bodyEntry(key, record.id, 'request', 'x'),
      bodyEntry(key, record.id, 'answer', 'y'),
      { kind: 'settled', record },
    ])
    const many = Array.from({ length: 120 }, () => bodyEntry(key, newId('req', now - 9 * dayMs), 'request', 'z'))
    const { connection, find, ingest } = await open(...entries, ...many)
    await ingest()
    const left = async () => Promise.all(records.map(async ({ id }) => (await find(id)).length))
    await removeOld(connection, now, { recordsMs: 10 * dayMs, bodiesMs: 3 * dayMs })
    expect(await left()).toEqual([2, 2, 0, 0])
    for (const { id } of many) expect(await find(id)).toEqual([])
    await removeOld(connection, now, { recordsMs: dayMs / 2, bodiesMs: 3 * dayMs })
    expect(await left()).toEqual([2, 0, 0, 0])
  })

  it('are read and kept until policies say, and their records longer', async () => {
    const now = Date.now()
    const [over, on, settings] = [0, 1, 2].map(() => sampleRecord())
    const entries = [over, on, settings].flatMap((record, place): JournalEntry[] => {
      const until = [now - 1, now + dayMs, undefined][place]
      const change = until === undefined ? {} : { until }
      return [
        bodyEntry(key, record!.id, 'request', 'x', change),
        bodyEntry(key, record!.id, 'answer', 'y', change),
        { kind: 'settled', record: record! },
      ]
    })
    const many = Array.from({ length: 120 }, () => bodyEntry(key, newId('req'), 'request', 'z', { until: now - 5 }))
    const { connection, find, ingest } = await open(...entries, ...many)
    await ingest()
    const count = () => connection.read((db) => db.selectFrom('bodies').select('id').execute())
    expect(await count()).toHaveLength(126)
    expect(await find(over!.id)).toEqual([])
    await removeOverBodies(connection, now)
    expect(await count()).toHaveLength(4)
    for (const { id } of [on!, settings!]) expect(await find(id)).toHaveLength(2)
    const records = await connection.read((db) => db.selectFrom('records').select('id').execute())
    expect(records).toHaveLength(3)
    await removeOverBodies(connection, now + 2 * dayMs)
    expect(await count()).toHaveLength(2)
  })
})
