import { cpSync, existsSync, mkdirSync, readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { Writers } from '../../../src/core/journal-format.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import { listSetAside } from '../../../src/store/ingest/segment-files.ts'
import type { StoreThreadData } from '../../../src/store/protocol.ts'
import { recordsTable } from '../../../src/store/records/records.ts'
import { StoreSession } from '../../../src/store/session.ts'
import { migrations } from '../../../src/store/sqlite/migrations/index.ts'
import { type OpenStore, openStore } from '../../../src/store/sqlite/open.ts'
import { encodeEntry, encodePayload, JournalWriter } from '../../support/journal-writer.ts'
import { admitted, sampleRecord, settled } from '../../support/sample-record.ts'
import {
  addScope,
  afterEachBatch,
  ingestJournal,
  sampleKey,
  startTestStore,
  storePaths,
  temporaryDirectory,
} from '../support.ts'

const all = { limit: 1000 }

async function open(data: StoreThreadData): Promise<OpenStore> {
  return await openStore({ path: data.databasePath })
}

interface Pass {
  entries?: number
  writers?: Writers
}

async function ingest(
  store: OpenStore,
  data: StoreThreadData,
  { entries = 500, writers = allOf(data) }: Pass = {},
): Promise<RequestRecord[]> {
  const pushed: RequestRecord[] = []
  const batch = { bytes: 4096, entries }
  const { connection } = store
  const { journalDirectory } = data
  await ingestJournal({
    connection,
    journalDirectory,
    writers,
    batch,
    onRecords: (records) => pushed.push(...records),
  })
  return pushed
}

/** As long as nothing is known of its threads, all of a boot are alive. */
function allOf({ boot }: StoreThreadData): Writers {
  return { boot, running: [], next: 0 }
}

async function stored(store: OpenStore): Promise<RequestRecord[]> {
  return await recordsTable(store.connection.db).list(all)
}

function samples(count: number): RequestRecord[] {
  return Array.from({ length: count }, (_, index) => sampleRecord({ id: newId('req', 1_700_000_000_000 + index) }))
}

describe('ingestion', () => {
  it('takes an admitted record, then its settled one, and never goes back', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
    const record = sampleRecord()
    writer.write(admitted(record))
    // Only what has ended is told.
    expect(await ingest(store, data)).toEqual([])
    expect((await stored(store)).map((each) => each.state)).toEqual(['admitted'])
    writer.write(settled(record))
    expect(await ingest(store, data)).toEqual([record])
    writer.write(admitted(record))
    expect(await ingest(store, data)).toEqual([])
    expect(await stored(store)).toEqual([record])
    await store.close()
  })

  it('is exactly once wherever it is broken off', async () => {
    const data = storePaths(temporaryDirectory())
    const records = samples(7)
    const shared = records[0]?.id ?? ''
    const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
    for (const record of records) {
      writer.write(admitted(record), settled(record), { kind: 'repeated', id: shared, count: 1, lastTime: record.time })
    }
    // The state on disk after every single batch is a state that a crash may leave: each must end in the same.
    const first = await open(data)
    const directories: string[] = []
    let { connection } = first
    afterEachBatch(connection, () => {
      const copy = temporaryDirectory()
      for (const suffix of ['', '-wal', '-shm']) cpSync(`${data.databasePath}${suffix}`, join(copy, `spgw.db${suffix}`))
      cpSync(data.journalDirectory, join(copy, 'journal'), { recursive: true })
      directories.push(copy)
    })
    const snapshotted = ingestJournal({
      connection,
      ...data,
      writers: allOf(data),
      batch: { bytes: 4096, entries: 2 },
    })
    expect(await snapshotted).toBeGreaterThanOrEqual(records.length)
    expect(directories.length).toBeGreaterThan(5)
    await first.close()
    for (const directory of directories) {
      const copy = storePaths(directory)
      const store = await open(copy)
      connection = store.connection
      await ingest(store, copy, { entries: 3 })
      expect((await stored(store)).map((record) => record.id)).toEqual(records.map((record) => record.id).reverse())
      const repeated = await connection.db.selectFrom('repeated_records').selectAll().execute()
      expect(repeated).toMatchObject([{ id: shared, count: 7 }])
      await store.close()
    }
  })

  it('changes nothing when a whole segment is read again', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
    const records = samples(3)
    for (const record of records) writer.write(admitted(record), settled(record))
    await ingest(store, data)
    await store.connection.write((db) => db.deleteFrom('journal_segments').execute())
    await ingest(store, data)
    expect(await stored(store)).toEqual(records.reverse())
    await store.close()
  })

  it('waits at a torn tail of a live segment, and reads on when it is whole', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
    const [first, second] = samples(2)
    if (!first || !second) throw new Error('two samples')
    writer.write(settled(first))
    const bytes = encodeEntry(settled(second))
    const begun = writer.offset
    writer.writeBytes(bytes.subarray(0, bytes.length - 3))
    expect(await ingest(store, data)).toEqual([first])
    expect(existsSync(writer.path)).toBe(true)
    writer.offset = begun
    writer.writeBytes(bytes)
    expect(await ingest(store, data)).toEqual([second])
    await store.close()
  })

  it('puts an entry of a live segment aside that is whole and not understood, and reads on behind it', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
    const [first, second] = samples(2)
    if (!first || !second) throw new Error('two samples')
    writer.write(settled(first))
    for (const odd of ['{"kind":"of-another-version"}', '{"kind":"objects","made":[{"id":"constructor/x"}]}'])
      writer.writeBytes(encodePayload(Buffer.from(odd)))
    writer.write(settled(second))
    expect(await ingest(store, data)).toEqual([first, second])
    expect(existsSync(writer.path)).toBe(true)
    expect(await listSetAside(data.journalDirectory)).toHaveLength(1)
    await store.close()
  })

  it('deletes a full live segment once the next one is begun, and not when it is only made', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const first = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 9 })
    const second = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 10 })
    new JournalWriter(data.journalDirectory, { boot: 'live', thread: 1, sequence: 11 }).write(settled(sampleRecord()))
    first.write(settled(sampleRecord()))
    await ingest(store, data)
    expect(existsSync(first.path)).toBe(true)
    first.write(settled(sampleRecord()))
    second.write(settled(sampleRecord()))
    await ingest(store, data)
    expect(existsSync(first.path)).toBe(false)
    expect(existsSync(second.path)).toBe(true)
    expect(await stored(store)).toHaveLength(4)
    const offsets = await store.connection.db.selectFrom('journal_segments').select('name').orderBy('name').execute()
    expect(offsets.map((row) => row.name)).not.toContain(first.file)
    await store.close()
  })

  it('closes out dead boots: reads, deletes, and marks what never settled', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const [settledLater, unsettled, alive] = samples(3)
    if (!settledLater || !unsettled || !alive) throw new Error('three samples')
    new JournalWriter(data.journalDirectory, { boot: 'dead', thread: 0, sequence: 1 }).write(
      admitted(settledLater),
      admitted(unsettled),
    )
    new JournalWriter(data.journalDirectory, { boot: 'dead', thread: 0, sequence: 2 }).write(settled(settledLater))
    const live = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
    live.write(admitted(alive))
    await ingest(store, data)
    expect((await stored(store)).map((record) => record.state)).toEqual(['admitted', 'interrupted', 'settled'])
    expect(readdirSync(data.journalDirectory)).toEqual([live.file])
    await ingest(store, data)
    const [, interrupted] = await stored(store)
    expect((await stored(store)).map((record) => record.state)).toEqual(['admitted', 'interrupted', 'settled'])
    expect(interrupted?.tokens).toEqual(unsettled.tokens)
    expect(interrupted?.policy_signals.at(-1)).toMatchObject({ rule: 'interrupted', data: { input: 10, output: 5 } })
    await store.close()
  })

  it('settles what a dead thread of this boot left, and nothing of the living or of those to come', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const [left, settledLater, alive, toCome] = samples(4)
    if (!left || !settledLater || !alive || !toCome) throw new Error('four samples')
    const thread = (number: number, sequence = 1) =>
      new JournalWriter(data.journalDirectory, { boot: 'live', thread: number, sequence })
    thread(1).write(admitted(left), admitted(settledLater))
    thread(1, 2).write(settled(settledLater))
    const living = [thread(0), thread(3)]
    living[0]?.write(admitted(alive))
    living[1]?.write(admitted(toCome))
    await ingest(store, data)
    expect((await stored(store)).map(({ state }) => state)).toEqual(['admitted', 'admitted', 'settled', 'admitted'])
    const writers = { boot: 'live', running: [0], next: 3 }
    const pushed = await ingest(store, data, { writers })
    expect(pushed.map(({ id, state }) => [id, state])).toEqual([[left.id, 'interrupted']])
    expect((await stored(store)).map(({ state }) => state)).toEqual(['admitted', 'admitted', 'settled', 'interrupted'])
    expect(readdirSync(data.journalDirectory).sort()).toEqual(living.map(({ file }) => file).sort())
    expect(await ingest(store, data, { writers })).toEqual([])
    await store.close()
  })

  it('reads all of a dead thread before it interrupts anything of it', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const records = samples(3)
    const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
    writer.write(...records.map(admitted))
    await ingest(store, data)
    writer.write(...records.slice(1).map(settled))
    await ingest(store, data, { entries: 1, writers: { boot: 'live', running: [], next: 1 } })
    expect((await stored(store)).map(({ state }) => state)).toEqual(['settled', 'settled', 'interrupted'])
    await store.close()
  })

  it.each([
    ['a torn tail', (bytes: Buffer) => bytes.subarray(0, bytes.length - 3)],
    ['a flipped byte', (bytes: Buffer) => Buffer.from(bytes).fill(1, bytes.length - 2, bytes.length - 1)],
    ['a length beyond the file', (bytes: Buffer) => Buffer.from(bytes).fill(0xff, 0, 4)],
  ])('sets a dead segment aside for %s, and keeps what stands before and behind', async (_name, damage) => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const records = samples(3)
    const writer = new JournalWriter(data.journalDirectory, { boot: 'dead', thread: 0, sequence: 1 })
    writer.write(...records.slice(0, 2).map(settled))
    writer.writeBytes(damage(encodeEntry(settled(sampleRecord()))))
    writer.write(...records.slice(2).map(settled))
    await ingest(store, data)
    expect(await stored(store)).toEqual([...records].reverse())
    expect(await listSetAside(data.journalDirectory)).toEqual([writer.file])
    expect(existsSync(writer.path)).toBe(false)
    await ingest(store, data)
    expect(await stored(store)).toHaveLength(3)
    await store.close()
  })

  it('takes a file cut between two entries as whole, and one entry larger than a window', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const writer = new JournalWriter(data.journalDirectory, { boot: 'dead', thread: 0, sequence: 1 })
    const large = sampleRecord({ model: 'm'.repeat(20_000) })
    writer.write(settled(large))
    truncateSync(writer.path, writer.offset)
    expect(await ingest(store, data)).toEqual([large])
    expect(readdirSync(data.journalDirectory)).toEqual([])
    await store.close()
  })

  it('forgets the offset of a segment that is gone', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    await store.connection.write((db) =>
      db.insertInto('journal_segments').values({ name: 'x', bytes_read: 1 }).execute(),
    )
    await ingest(store, data)
    expect(await store.connection.db.selectFrom('journal_segments').selectAll().execute()).toEqual([])
    await store.close()
  })

  it('lets an unreadable segment keep nobody waiting', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const record = sampleRecord()
    mkdirSync(join(data.journalDirectory, 'dead-0-00000001.journal'))
    new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 }).write(settled(record))
    await expect(ingest(store, data)).rejects.toThrow('EISDIR')
    expect(await stored(store)).toEqual([record])
    await store.close()
  })
})

describe('ingestion by the thread', () => {
  it('goes on by itself, pushes what it finds, and touches keys', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    const { project, environment } = await addScope(store)
    const key = await store.keys.insert(sampleKey({ projectId: project.id, environmentId: environment.id }))
    const pushed = Promise.withResolvers<RequestRecord[]>()
    const stop = store.onRecords((records) => pushed.resolve(records))
    const record = sampleRecord({ key: { id: key.id, name: key.name } })
    new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 }).write(settled(record))
    expect(await pushed.promise).toEqual([record])
    stop()
    expect(await store.records.get(record.id)).toEqual(record)
    expect((await store.keys.find(key.id, null, null))?.lastUsedAt).toBe(record.time)
  })

  it('has everything in that was journaled before the call, however many ask at once', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 }, 1024 * 1024)
    for (let round = 0; round < 5; round++) {
      const record = sampleRecord()
      writer.write(settled(record))
      const passes = [store.ingest(), store.ingest(), store.ingest()]
      await passes[round % passes.length]
      expect(await store.records.get(record.id)).toEqual(record)
      await Promise.all(passes)
    }
  })

  it('begins a new pass for whoever asks while one runs', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const first = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
    const second = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 1, sequence: 1 })
    const [early, behind, late] = samples(3)
    if (!early || !behind || !late) throw new Error('three samples')
    first.write(settled(early))
    second.write(settled(behind))
    let asked: Promise<number>[] = []
    // When the second thread's segment comes in, the pass is past the first one's end.
    const session = new StoreSession(store, data)
    session.audience.ended = ([record]) => {
      if (!record?.includes(behind.id)) return
      first.write(settled(late))
      asked = [session.ingest(), session.ingest()]
    }
    expect(await session.ingest()).toBe(2)
    expect(await Promise.all(asked)).toEqual([1, 1])
    expect(await stored(store)).toEqual([late, behind, early])
    await session.close()
  })

  it('reports what was set aside', async () => {
    const data = storePaths(temporaryDirectory())
    const writer = new JournalWriter(data.journalDirectory, { boot: 'dead', thread: 0, sequence: 1 })
    writer.writeBytes(Buffer.from('no entry'))
    const store = await startTestStore(data)
    await store.ingest()
    expect(await store.health()).toMatchObject({
      degraded: null,
      setAside: [writer.file],
      schemaVersion: Object.keys(migrations).at(-1),
    })
  })
})

describe('an entry that the database refuses', () => {
  it('is set aside, and stands in the way of no other', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const [before, poison, after] = samples(3) as [RequestRecord, RequestRecord, RequestRecord]
    const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
    const tokens = { input: 0.5, output: 1, cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' as const }
    writer.write(settled(before), settled({ ...poison, tokens }), settled(after))
    expect((await ingest(store, data)).map(({ id }) => id)).toEqual([before.id, after.id])
    expect(await listSetAside(data.journalDirectory)).toEqual([`${writer.file}-${writer.offset}.jsonl`])
    expect(await ingest(store, data)).toEqual([])
    writer.write(settled(poison))
    expect(await ingest(store, data)).toEqual([poison])
    await store.close()
  })
})
