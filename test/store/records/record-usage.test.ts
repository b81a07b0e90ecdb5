import { expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import { encodeEntry, JournalWriter } from '../../support/journal-writer.ts'
import { admitted, sampleRecord, settled } from '../../support/sample-record.ts'
import { startTestStore, storePaths, temporaryDirectory } from '../support.ts'

const start = Date.parse('2026-03-01T00:00:00.000Z')
const lately = new Date(start + 3_600_000).toISOString()
const since = new Date(start).toISOString()

function at(minutes: number, change: Partial<RequestRecord>): RequestRecord {
  const time = start + minutes * 60_000
  return sampleRecord({ id: newId('req', time), time: new Date(time).toISOString(), ...change })
}

/** Over several windows; a few of everything that counts in its own way. */
function invent(): RequestRecord[] {
  const keys = [{ id: 'key_1', name: 'ci' }, { id: 'key_1', name: 'renamed' }, { id: 'key_2', name: 'ci' }, null]
  return Array.from({ length: 5000 }, (_, index) =>
    at(index / 40 - 1, {
      key: keys[index % 4] ?? null,
      model: index % 5 === 0 ? 'rare' : 'usual',
      cost: index % 3 === 0 ? null : { usd: 0.001, price_version: 'p' },
      ...(index % 7 === 0 ? { tokens: null } : {}),
      ...(index % 11 === 0 ? { state: 'interrupted' as const, status: null } : {}),
    }),
  )
}

it('of keys is what their records add up to, whole and lately, from one reading', async () => {
  const data = storePaths(temporaryDirectory())
  const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 }, 16 * 1024 * 1024)
  // What is under way has its hold in its tokens, and is charged nothing yet.
  const underWay = at(70, { key: { id: 'key_2', name: 'ci' }, status: null, cost: null })
  writer.writeBytes(Buffer.concat([...invent().map(settled), admitted(underWay)].map(encodeEntry)))
  const store = await startTestStore(data)
  await store.ingest()
  const summed = async (from: string, more: { key?: string } = {}) => {
    const rows = await store.records.stats({ limit: 1, since: from, ...more }, 'key')
    return new Map(
      rows.map(({ id, requests, input, output, usd }) => [id, { requests, tokens: input + output, cached: 0, usd }]),
    )
  }
  for (const more of [{}, { key: 'key_1' }, { key: 'ci' }, { key: 'nobody' }]) {
    const rows = await store.records.usage({ limit: 1, since, ...more }, lately)
    expect(new Map(rows.map(({ id, whole }) => [id, whole]))).toEqual(await summed(since, more))
    expect(new Map(rows.map((row) => [row.id, row.lately]))).toEqual(await summed(lately, more))
  }
  expect((await summed(lately)).size).toBe(3)
})
