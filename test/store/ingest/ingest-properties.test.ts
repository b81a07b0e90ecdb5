import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { formatSegmentName, type JournalEntry } from '../../../src/core/journal-format.ts'
import type { TrafficTally } from '../../../src/core/traffic-tally.ts'
import { Ingestion } from '../../../src/store/ingest/ingest.ts'
import { listSetAside } from '../../../src/store/ingest/segment-files.ts'
import type { StoreThreadData } from '../../../src/store/protocol.ts'
import type { OpenStore } from '../../../src/store/sqlite/open.ts'
import { StoreDegraded } from '../../../src/store/store-error.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { encodeEntry, encodePayload, JournalWriter } from '../../support/journal-writer.ts'
import { admitted, sampleRecord, settled } from '../../support/sample-record.ts'
import { addScope, ingestJournal, sampleKey, startTestStore, storePaths, temporaryDirectory } from '../support.ts'

const name = { boot: 'live', thread: 0, sequence: 1 }
const start = 1_700_000_000_000

/** Requests one after another and over one another: what each writes, in the order of the journal. */
const journals = fc
  .array(
    fc.record({
      model: fc.string({ unit: 'grapheme' }),
      size: fc.constantFrom(0, 10, 5000),
      settles: fc.boolean(),
      lag: fc.nat(6),
      repeats: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((requests) => {
    const placed: { at: number; entry: JournalEntry }[] = []
    requests.forEach(({ model, size, settles, lag, repeats }, index) => {
      const record = sampleRecord({
        id: newId('req', start + index),
        time: new Date(start + index).toISOString(),
        model,
        provider_request_id: 'ü'.repeat(size),
      })
      placed.push({ at: index, entry: admitted(record) })
      if (settles) placed.push({ at: index + lag + 0.5, entry: settled(record) })
      if (repeats)
        placed.push({
          at: index + 0.2,
          entry: { kind: 'repeated', id: record.id, count: index + 1, lastTime: record.time },
        })
    })
    return placed.sort((left, right) => left.at - right.at).map(({ entry }) => entry)
  })

async function open(data: StoreThreadData): Promise<OpenStore> {
  return await openTestStore(data.databasePath)
}

const writersOf = ({ boot }: StoreThreadData) => ({ boot, running: [], next: 0 })

async function rowsOf({ connection }: OpenStore) {
  // Labels are numbered in the order in which they come.
  const records = await connection.db
    .selectFrom('records')
    .innerJoin('record_labels', 'number', 'label')
    .selectAll()
    .orderBy('id')
    .execute()
  const periods = await connection.db.selectFrom('label_periods').selectAll().execute()
  for (const { id, label } of records)
    expect(periods.some((period) => period.label === label && id.startsWith(period.period))).toBe(true)
  const repeats = await connection.db.selectFrom('repeated_records').selectAll().orderBy('id').execute()
  return { records: records.map(({ label: _, number: __, ...record }) => record), repeats }
}

/** Everything in one pass and one batch: what all other ways must come to. */
async function rowsInOnePass(entries: readonly JournalEntry[]) {
  const data = storePaths(temporaryDirectory())
  const store = await open(data)
  new JournalWriter(data.journalDirectory, name, 1024 * 1024).write(...entries)
  const { connection } = store
  await ingestJournal({ connection, ...data, writers: writersOf(data) })
  const rows = await rowsOf(store)
  await store.close()
  return rows
}

describe('a journal comes to the same rows', () => {
  it('however it is cut into batches and passes', async () => {
    await fc.assert(
      fc.asyncProperty(
        journals,
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat(), { maxLength: 4 }),
        async (entries, most, cuts) => {
          const data = storePaths(temporaryDirectory())
          const store = await open(data)
          const audience = { ended: null, admitted: false, traffic: null, holds: null, traces: false }
          const batch = { bytes: 2048, entries: most }
          const { connection } = store
          const ingestion = new Ingestion({ connection, journalDirectory: data.journalDirectory, audience, batch })
          const writer = new JournalWriter(data.journalDirectory, name, 1024 * 1024)
          const bytes = Buffer.concat(entries.map(encodeEntry))
          const places = [...cuts.map((cut) => cut % bytes.length), bytes.length].sort((left, right) => left - right)
          for (const place of places) {
            // A pass may find an entry that is half written.
            writer.writeBytes(bytes.subarray(writer.offset, place))
            await ingestion.pass(writersOf(data))
          }
          expect(await rowsOf(store)).toEqual(await rowsInOnePass(entries))
          await store.close()
        },
      ),
      { numRuns: 25 },
    )
  })

  it('when the process dies after any write, and begins anew', async () => {
    await fc.assert(
      fc.asyncProperty(journals, fc.nat(30), async (entries, writes) => {
        const data = storePaths(temporaryDirectory())
        new JournalWriter(data.journalDirectory, name, 1024 * 1024).write(...entries)
        const first = await open(data)
        let left = writes
        const write = first.connection.writeHot.bind(first.connection)
        first.connection.writeHot = async (run) => {
          // Half of the deaths come within the transaction, the other half right behind it.
          const dies = left-- <= 0
          if (dies && writes % 2 === 0)
            return await write((hot) => {
              run(hot)
              throw new Death()
            })
          const output = await write(run)
          if (dies) throw new StoreDegraded('SQLITE_IOERR: killed')
          return output
        }
        const batch = { bytes: 2048, entries: 2 }
        const pass = { ...data, writers: writersOf(data), batch }
        await ingestJournal({ connection: first.connection, ...pass }).catch(notDeath)
        await first.close()
        const second = await open(data)
        await ingestJournal({ connection: second.connection, ...pass })
        expect(await rowsOf(second)).toEqual(await rowsInOnePass(entries))
        await second.close()
      }),
      { numRuns: 25 },
    )
  })

  it('when a segment comes twice, under two names', async () => {
    await fc.assert(
      fc.asyncProperty(journals, async (entries) => {
        const records = entries.filter(({ kind }) => kind !== 'repeated')
        const data = storePaths(temporaryDirectory())
        const store = await open(data)
        const { connection } = store
        const writer = new JournalWriter(data.journalDirectory, name, 1024 * 1024)
        writer.write(...records)
        const again = formatSegmentName({ ...name, thread: 7 })
        copyFileSync(writer.path, join(data.journalDirectory, again))
        await ingestJournal({ connection, ...data, writers: writersOf(data) })
        const owners = (rows: Awaited<ReturnType<typeof rowsOf>>) => rows.records.map(({ boot: _, ...row }) => row)
        expect(owners(await rowsOf(store))).toEqual(owners(await rowsInOnePass(records)))
        await store.close()
      }),
      { numRuns: 10 },
    )
  })
})

/** As a fault of the storage, so that ingestion does not look for a culprit among the entries. */
class Death extends Error {
  readonly code = 'SQLITE_IOERR'
}

function notDeath(error: unknown): void {
  if (!String(error).includes('SQLITE_IOERR')) throw error
}

describe('hostile bytes', () => {
  it('with the right checksum stop nobody else, in a dead segment and in a live one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 60 }),
        fc.constantFrom('live', 'dead'),
        async (noise, boot) => {
          const data = storePaths(temporaryDirectory())
          const store = await open(data)
          const { connection } = store
          const [before, after] = [sampleRecord(), sampleRecord()]
          // Framed and begun as the gateway does; what follows is not JSON any more.
          const bad = Buffer.concat([
            Buffer.from('{"kind":"settled","record":{"id":"req_x",'),
            Buffer.from(noise),
            Buffer.from('}}'),
          ])
          const writer = new JournalWriter(data.journalDirectory, { ...name, boot })
          writer.write(settled(before))
          writer.writeBytes(encodePayload(bad))
          writer.write(settled(after))
          await ingestJournal({ connection, ...data, writers: writersOf(data) })
          const { records } = await rowsOf(store)
          expect(records.map(({ id }) => id)).toEqual([before.id, after.id].sort())
          const [aside, ...more] = await listSetAside(data.journalDirectory)
          expect(more).toEqual([])
          const lines = readFileSync(join(data.journalDirectory, 'set-aside', aside ?? ''), 'utf8').split('\n')
          expect(lines).toHaveLength(2)
          expect(Buffer.from(JSON.parse(lines[0] ?? ''), 'base64').equals(bad)).toBe(true)
          await store.close()
        },
      ),
      { numRuns: 20 },
    )
  })

  it('in the part that is not parsed spoil the record itself and no list of others', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    const [bad, good] = [sampleRecord({ losses: ['MARK'] }), sampleRecord()]
    const writer = new JournalWriter(data.journalDirectory, name)
    writer.writeBytes(encodePayload(Buffer.from(JSON.stringify(settled(bad)).replace('"MARK"', '"MARK'))))
    writer.write(settled(good))
    expect(await store.ingest()).toBe(2)
    const listed = await store.records.list({ limit: 10 })
    expect(listed).toContainEqual(good)
    expect(listed.find(({ id }) => id === bad.id)?.policy_signals[0]?.text).toContain('cannot be read')
    expect(await store.records.stats({ limit: 0 }, 'tag')).toHaveLength(1)
  })
})

describe('a record', () => {
  it.each([
    ['of megabytes', 'x'.repeat(3_000_000)],
    ['of megabytes that are no ASCII', '日本'.repeat(500_000)],
    ['with every kind of character', '\u0000\u007f\u00ff\u0100\u2028\ud83d\ude00\ud800"\\\n'],
  ])('%s is stored as it is', async (_what, message) => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    const error = { code: 'provider_error' as const, origin: 'provider' as const, message }
    const records = [sampleRecord({ error }), sampleRecord({ model: message.slice(0, 500) }), sampleRecord()]
    const bytes = Buffer.concat(records.flatMap((record) => [admitted(record), settled(record)]).map(encodeEntry))
    writeFileSync(join(data.journalDirectory, formatSegmentName(name)), Buffer.concat([bytes, Buffer.alloc(64)]))
    // On a busy machine the store itself may have come first.
    await store.ingest()
    for (const record of records) expect(await store.records.get(record.id)).toEqual(record)
  })
})

describe('what is told of a batch', () => {
  it('is told once, when it is committed', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await open(data)
    const { connection } = store
    const records = Array.from({ length: 5 }, (_, index) => sampleRecord({ id: newId('req', start + index) }))
    new JournalWriter(data.journalDirectory, name).write(
      ...records.flatMap((record) => [admitted(record), settled(record)]),
    )
    let fails = true
    const write = connection.writeHot.bind(connection)
    connection.writeHot = async (run) =>
      await write((hot) => {
        const output = run(hot)
        if (fails) throw new Death()
        return output
      })
    const ended: string[] = []
    const tallies: TrafficTally[] = []
    const audience = {
      ended: (some: string[]) => ended.push(...some),
      admitted: false,
      traffic: (tally: TrafficTally) => tallies.push(tally),
      holds: null,
      traces: false,
    }
    const ingestion = new Ingestion({ connection, journalDirectory: data.journalDirectory, audience })
    await expect(ingestion.pass(writersOf(data))).rejects.toThrow('SQLITE_IOERR')
    expect([ended, tallies]).toEqual([[], []])
    fails = false
    await ingestion.pass(writersOf(data))
    expect(ended.map((text) => JSON.parse(text).id)).toEqual(records.map(({ id }) => id))
    expect(tallies.map(({ served }) => served.map(({ count }) => count))).toEqual([[5]])
    await ingestion.pass(writersOf(data))
    expect(tallies).toHaveLength(1)
    await store.close()
  })

  it('reaches who counts traffic without a copy of any record, and who follows with all that ended', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    const tally = Promise.withResolvers<TrafficTally>()
    const followed = Promise.withResolvers<string[]>()
    store.onTraffic(tally.resolve)
    store.onRecords((records) => followed.resolve(records.map(({ id }) => id)))
    const [ended, running] = [sampleRecord({ duration_ms: 70 }), sampleRecord()]
    new JournalWriter(data.journalDirectory, name).write(admitted(running), settled(ended))
    await store.ingest()
    expect(await tally.promise).toMatchObject({
      served: [{ lane: 'openai', status: '2xx', provider: 'openai', count: 1, tokens: { input: 10, output: 5 } }],
      durations: [{ lane: 'openai', sum: 0.07 }],
    })
    expect(await followed.promise).toEqual([ended.id])
  })
})

describe('keys', () => {
  it('know when they were last used, whatever order their requests come in', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    const { project, environment } = await addScope(store)
    const key = await store.keys.insert(sampleKey({ projectId: project.id, environmentId: environment.id }))
    const at = (minute: number) =>
      settled(
        sampleRecord({ key: { id: key.id, name: key.name }, time: new Date(start + minute * 60_000).toISOString() }),
      )
    const writer = new JournalWriter(data.journalDirectory, name)
    for (const minute of [2, 5, 3]) {
      writer.write(at(minute))
      await store.ingest()
    }
    writer.write(at(1), at(4))
    await store.ingest()
    expect((await store.keys.find(key.id, null, null))?.lastUsedAt).toBe(new Date(start + 5 * 60_000).toISOString())
  })
})
