import fc from 'fast-check'
import { expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import { readHead } from '../../../src/store/records/record-head.ts'
import { repriceRecords } from '../../../src/store/records/reprice.ts'
import { Outbox } from '../../../src/store/replica/outbox.ts'
import { OutboxStatements } from '../../../src/store/replica/outbox-statements.ts'
import type { BatchWanted, OutboxBatch } from '../../../src/store/replica/outbox-types.ts'
import type { HotStatements } from '../../../src/store/sqlite/hot-statements.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

async function openOutbox() {
  const { databasePath: path, journalDirectory } = storePaths(temporaryDirectory())
  const { connection } = await openStore({ path })
  const outbox = new Outbox(connection, journalDirectory, {
    ingest: async () => {},
    purge: async () => ({ removed: 0, before: null }),
    audience: { ended: null, admitted: false, traffic: null, holds: null, traces: false },
  })
  await outbox.begin('nod_1')
  const wanted = (after: number): BatchWanted => ({ after, most: 2000, mostBytes: 4e6, node: 'gw-1' })
  return {
    connection,
    read: (after: number) => connection.readHot((hot) => hot.outbox?.read(wanted(after)) ?? null),
    /** As after a restart: nothing is known but what stands there. */
    readBack: (after: number) => new OutboxStatements(connection.sqlite).read(wanted(after)),
  }
}

function store(hot: HotStatements, record: RequestRecord): void {
  const text = JSON.stringify(record)
  const head = readHead(text, record.state === 'admitted' ? 'admitted' : 'settled')
  if (head !== null) hot.writeRecord(head, 'boot-0', text)
}

const textOf = (batch: OutboxBatch | null) => Buffer.from(batch?.records.copied ?? []).toString()

it('ships what was just stored as it was stored, without reading it back', async () => {
  const { connection, read, readBack } = await openOutbox()
  await read(0)
  const records = [sampleRecord(), sampleRecord({ model: 'm\t\\ ü' })]
  for (const record of records) await connection.writeHot((hot) => store(hot, record))
  connection.sqlite.exec(`update records set record_json = '{"read":"back"}'`)
  const batch = await read(0)
  expect(batch?.records.ids).toEqual(records.map(({ id }) => id))
  expect(textOf(batch)).not.toContain('back')
  // What PostgreSQL did not take is asked for again, and is no longer at hand.
  expect(textOf(await read(0))).toContain('back')
  expect(textOf(readBack(0))).toContain('back')
})

it('lets go of it while nobody asks: what PostgreSQL does not take must not fill the memory', async () => {
  const { connection, read } = await openOutbox()
  await read(0)
  const large = sampleRecord({ tags: { text: 'x'.repeat(1024 * 1024) } })
  for (let count = 0; count < 6; count++) {
    await connection.writeHot((hot) => store(hot, { ...large, id: newId('req') }))
  }
  connection.sqlite.exec(`update records set record_json = '{"read":"back"}'`)
  expect(textOf(await read(0)).match(/back/g)).toHaveLength(6)
})

type Step = { act: string; which: number; count: number }

/** What may happen to records between two batches; `which`: of those that there are. */
const steps = fc.array(
  fc.record({
    act: fc.constantFrom(
      'store',
      'store',
      'admit',
      'settle',
      'replace',
      'repeat',
      'remove',
      'reprice',
      'undo',
      'ship',
      'ask',
    ),
    which: fc.nat(50),
    count: fc.integer({ min: 1, max: 3 }),
  }),
  { maxLength: 25 },
)

it('ships in any order of events what would be read back', async () => {
  const { connection, read, readBack } = await openOutbox()
  let after = 0
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const known: RequestRecord[] = []
      const run = async ({ act, which, count }: Step) => {
        const found = known[which % Math.max(1, known.length)]
        const write = (each: (hot: HotStatements) => void) => connection.writeHot(each)
        if (act === 'store' || act === 'admit') {
          const state = act === 'admit' ? 'admitted' : 'settled'
          const tags: RequestRecord['tags'] = which % 2 === 0 ? {} : { team: `${which % 4}` }
          const fresh = Array.from({ length: count }, () => sampleRecord({ state, model: `m-${which % 3}`, tags }))
          known.push(...fresh)
          await write((hot) => {
            for (const record of fresh) store(hot, record)
          })
        } else if (act === 'undo') {
          const undone = write((hot) => {
            store(hot, sampleRecord())
            throw new Error('undone')
          })
          await expect(undone).rejects.toThrow('undone')
        } else if (act === 'ship' || act === 'ask') {
          const [wanted, batch] = [readBack(after), await read(after)]
          expect(describeBatch(batch)).toEqual(describeBatch(wanted))
          if (act === 'ship') after = batch?.sequence ?? after
        } else if (found !== undefined) {
          if (act === 'settle') await write((hot) => store(hot, { ...found, state: 'settled' }))
          if (act === 'replace') await write((hot) => store(hot, { ...found, state: 'settled', status: 500 + count }))
          if (act === 'repeat') await write((hot) => hot.addRepeat(found.id, count, '2026-11-28T00:00:00.000Z'))
          if (act === 'remove') await write((hot) => void hot.removal.removeRecords([found.id]))
          const cost = { usd: count, price_version: 'v' }
          if (act === 'reprice')
            await connection.write((db) => repriceRecords(db, [{ id: found.id, cost, attempt: null }]))
        }
      }
      for (const step of [...plan, { act: 'ship', which: 0, count: 1 }, { act: 'ship', which: 0, count: 1 }])
        await run(step)
    }),
    { numRuns: 100 },
  )
})

function describeBatch(batch: OutboxBatch | null) {
  if (batch === null) return null
  const { records, ...rest } = batch
  const lines = textOf(batch).split('\n').toSorted()
  const [sums, tags] = [records.sums, records.tags].map((changes) =>
    changes
      .map((sum) =>
        JSON.stringify({ ...sum, change: { ...sum.change, latencies: [...sum.change.latencies].toSorted() } }),
      )
      .toSorted(),
  )
  return { ...rest, ids: records.ids.toSorted(), lines, sums, tags }
}
