import fc from 'fast-check'
import { expect, it } from 'vitest'
import { splitRecords } from '../../../src/cluster/records/write-records.ts'
import { newId } from '../../../src/core/ids.ts'
import { readHead } from '../../../src/store/records/record-head.ts'
import { OutboxStatements } from '../../../src/store/replica/outbox-statements.ts'
import type { LabelledChange, ShippedRecords } from '../../../src/store/replica/outbox-types.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { storePaths, temporaryDirectory } from '../../store/support.ts'
import { sampleRecord } from '../../support/sample-record.ts'

/** What they add up to, whatever was gathered together. */
function addUp(sums: readonly LabelledChange[]): Map<string, Map<string, number>> {
  const all = new Map<string, Map<string, number>>()
  for (const { node, label, change } of sums) {
    const { key, tag, latencies, ...amounts } = change
    const [span, start, , ...rest] = key
    const name = JSON.stringify([node, label, span, start, ...rest, tag])
    const sum = all.get(name) ?? new Map<string, number>()
    all.set(name, sum)
    for (const [place, count] of [...Object.entries(amounts), ...latencies])
      sum.set(String(place), (sum.get(String(place)) ?? 0) + count)
  }
  return all
}

it('takes a batch apart into records that bring the same rows and the same sums', async () => {
  const { connection } = await openStore({ path: storePaths(temporaryDirectory()).databasePath })
  const outbox = new OutboxStatements(connection.sqlite)
  const figure = fc.option(fc.nat(1e6))
  const drawn = fc.record({
    model: fc.oneof(fc.constantFrom('gpt', 'a\tb\\N'), fc.string({ unit: 'binary', maxLength: 20 })),
    status: fc.constantFrom(200, 429),
    input: fc.nat(1e9),
    usd: fc.option(fc.double({ min: 0, max: 100, noNaN: true })),
    duration: figure,
    firstByte: figure,
    hour: fc.nat(30),
    tags: fc.dictionary(fc.constantFrom('a', '"\0'), fc.string({ maxLength: 3 }), { maxKeys: 2 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(drawn, { minLength: 1, maxLength: 6 }), async (all) => {
      const ids = await connection.writeHot((hot) =>
        all.map(({ model, status, input, usd, duration, firstByte, hour, tags }) => {
          const time = new Date(Date.parse('2026-11-27T00:30:00Z') + hour * 3_600_000)
          const tokens = { input, output: 1, cache_read: 0, cache_write: 2, reasoning: 3, source: 'reported' as const }
          const record = sampleRecord({
            ...{
              id: newId('req', time.getTime()),
              time: time.toISOString(),
              state: 'settled',
              model,
              status,
              tokens,
              tags,
            },
            ...{ duration_ms: duration, first_byte_ms: firstByte },
            cost: usd === null ? null : { usd, price_version: 'v' },
          })
          const text = JSON.stringify(record)
          const head = readHead(text, 'settled')
          if (head !== null) hot.writeRecord(head, 'boot-0', text)
          outbox.add(record.id)
          return record.id
        }),
      )
      outbox.flush()
      const after = Number(connection.sqlite.prepare('select max(sequence) - 1 from outbox').pluck().get())
      const records = outbox.read({ after, most: 100, mostBytes: 1e9, node: 'gw\\1' })?.records as ShippedRecords
      expect(records.ids.toSorted()).toEqual(ids.toSorted())
      const pieces = splitRecords('gw\\1', records)
      expect(pieces.flatMap((piece) => piece.ids)).toEqual(records.ids)
      const joined = Buffer.concat(pieces.map(({ copied }) => copied)).toString()
      expect(joined).toBe(Buffer.from(records.copied).toString())
      expect(addUp(pieces.flatMap(({ sums }) => sums))).toEqual(addUp(records.sums))
      expect(addUp(pieces.flatMap(({ tags }) => tags))).toEqual(addUp(records.tags))
    }),
    { numRuns: 40 },
  )
})
