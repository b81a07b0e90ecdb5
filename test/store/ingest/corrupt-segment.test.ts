import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import { listSetAside } from '../../../src/store/ingest/segment-files.ts'
import { findNextEntry } from '../../../src/store/ingest/segment-resync.ts'
import { recordsTable } from '../../../src/store/records/records.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { encodeEntry, encodePayload } from '../../support/journal-writer.ts'
import { sampleRecord, settled } from '../../support/sample-record.ts'
import { anyText, ingestJournal, storePaths, temporaryDirectory } from '../support.ts'

const segment = 'dead-0-00000001.journal'

interface Laid {
  records: RequestRecord[]
  bytes: Buffer
  /** Where each entry begins; behind the last one, where the zeros do. */
  starts: number[]
}

function lay(count: number): Laid {
  const records = Array.from({ length: count }, (_, index) =>
    sampleRecord({ id: newId('req', 1_700_000_000_000 + index) }),
  )
  const entries = records.map((record) => encodeEntry(settled(record)))
  const starts = [0]
  for (const { length } of entries) starts.push((starts.at(-1) ?? 0) + length)
  return { records, starts, bytes: Buffer.concat([...entries, Buffer.alloc(4096)]) }
}

/** What the next start makes of a segment with these bytes, twice over. */
async function readAtStart(bytes: Buffer) {
  const data = storePaths(temporaryDirectory())
  writeFileSync(join(data.journalDirectory, segment), bytes)
  const store = await openStore({ path: data.databasePath })
  const writers = { boot: 'live', running: [], next: 0 }
  const pass = () =>
    ingestJournal({
      connection: store.connection,
      journalDirectory: data.journalDirectory,
      writers,
      batch: { bytes: 2048, entries: 3 },
      onRecords: () => {},
    })
  const changed = await pass()
  expect(await pass()).toBe(0)
  const stored = await recordsTable(store.connection.db).list({ limit: 1000 })
  const offsets = await store.connection.db.selectFrom('journal_segments').selectAll().execute()
  const aside = await listSetAside(data.journalDirectory)
  const kept = aside.map((file) => readFileSync(join(data.journalDirectory, 'set-aside', file)))
  expect(existsSync(join(data.journalDirectory, segment))).toBe(false)
  expect(offsets).toEqual([])
  await store.close()
  return { changed, ids: stored.map(({ id }) => id).sort(), aside, kept }
}

const idsBut = ({ records }: Laid, ...lost: number[]) =>
  records
    .filter((_, index) => !lost.includes(index))
    .map(({ id }) => id)
    .sort()

describe('a corrupt segment at the next start', () => {
  const damages: [string, (laid: Laid) => Buffer, number[]][] = [
    ['a flipped byte in the middle', ({ bytes, starts }) => flip(bytes, (starts[4] ?? 0) + 100), [4]],
    ['a flipped byte in a checksum', ({ bytes, starts }) => flip(bytes, (starts[0] ?? 0) + 5), [0]],
    [
      'a length beyond the file',
      ({ bytes, starts }) => overwrite(bytes, starts[3], Buffer.from('ffffff7f', 'hex')),
      [3],
    ],
    [
      'a length that is too short',
      ({ bytes, starts }) => overwrite(bytes, starts[3], Buffer.from('10000000', 'hex')),
      [3],
    ],
    ['a hole of zeros', ({ bytes, starts }) => hole(bytes, starts[2], starts[3]), [2]],
    ['a hole of zeros over three', ({ bytes, starts }) => hole(bytes, starts[2], (starts[4] ?? 0) + 20), [2, 3, 4]],
    ['a cut tail', ({ bytes, starts }) => bytes.subarray(0, (starts[9] ?? 0) + 30), [9]],
    [
      'two places at once',
      ({ bytes, starts }) => flip(flip(bytes, (starts[1] ?? 0) + 60), (starts[7] ?? 0) + 60),
      [1, 7],
    ],
  ]

  it.each(damages)('with %s loses what was hit and no more, and is kept', async (_what, damage, lost) => {
    const laid = lay(10)
    const bytes = damage(laid)
    const { ids, aside, kept, changed } = await readAtStart(bytes)
    expect(ids).toEqual(idsBut(laid, ...lost))
    expect(changed).toBe(ids.length)
    expect(aside).toEqual([segment])
    expect(kept).toEqual([bytes])
  })

  it.each([
    ['nonsense', '{"kind":"?"}', '{"kind":"?"}'],
    ['a record without a record', '{"kind":"settled","record":null}', '{"kind":"settled","record":null}'],
    ['no JSON', '{{{{', '"e3t7ew=="'],
  ])('with a whole entry that is %s loses nothing, and the entry is kept', async (_what, payload, line) => {
    const laid = lay(10)
    const { ids, aside, kept } = await readAtStart(
      insert(laid.bytes, laid.starts[5], encodePayload(Buffer.from(payload))),
    )
    expect(ids).toEqual(idsBut(laid))
    expect(aside).toEqual([expect.stringMatching(/^dead-0-00000001\.journal-\d+\.jsonl$/)])
    expect(kept.map(String)).toEqual([`${line}\n`])
  })

  it('that is whole is not kept', async () => {
    const laid = lay(10)
    expect(await readAtStart(laid.bytes)).toMatchObject({ ids: idsBut(laid), aside: [] })
  })

  it('with any bytes overwritten loses the entries that they touch at most', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 3000 }), async (seed, noise) => {
        const laid = lay(8)
        const end = laid.starts.at(-1) ?? 0
        const at = seed % end
        const { ids } = await readAtStart(overwrite(laid.bytes, at, Buffer.from(noise)))
        const touched = laid.records
          .map((_, index) => index)
          .filter((index) => (laid.starts[index + 1] ?? 0) > at && (laid.starts[index] ?? 0) < at + noise.length)
        for (const id of idsBut(laid, ...touched)) expect(ids).toContain(id)
      }),
      { numRuns: 25 },
    )
  })
})

describe('the next entry', () => {
  it('is never found within a true one, whatever its texts hold', async () => {
    const directory = temporaryDirectory()
    await fc.assert(
      fc.asyncProperty(anyText(), async (text) => {
        // As if a client had sent a whole entry as its user agent.
        const forged = encodeEntry(settled(sampleRecord())).toString('latin1')
        const model = text + forged
        const path = join(directory, 'segment')
        writeFileSync(path, Buffer.concat([encodeEntry(settled(sampleRecord({ model }))), Buffer.alloc(64)]))
        expect(findIn(path)).toBeNull()
      }),
      { numRuns: 50 },
    )
  })

  it('is found where it lies over the border of two windows', async () => {
    const path = join(temporaryDirectory(), 'segment')
    const entry = encodeEntry(settled(sampleRecord()))
    for (const shift of [-9, -8, -4, -1, 0, 1, 2]) {
      const place = 1024 * 1024 + 1 + shift
      writeFileSync(path, Buffer.concat([Buffer.alloc(place), entry]))
      expect(findIn(path), String(shift)).toBe(place)
    }
  })
})

function findIn(path: string): number | null {
  const file = openSync(path, 'r')
  try {
    return findNextEntry(file, 0)
  } finally {
    closeSync(file)
  }
}

function overwrite(bytes: Buffer, at: number | undefined, noise: Buffer): Buffer {
  const changed = Buffer.from(bytes)
  noise.copy(changed, at ?? 0)
  return changed
}

function flip(bytes: Buffer, at: number): Buffer {
  return overwrite(bytes, at, Buffer.from([(bytes[at] ?? 0) ^ 0x10]))
}

function hole(bytes: Buffer, from: number | undefined, to: number | undefined): Buffer {
  return overwrite(bytes, from, Buffer.alloc((to ?? 0) - (from ?? 0)))
}

function insert(bytes: Buffer, at: number | undefined, more: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)])
}
