import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { BodyEntry } from '../../../src/core/journal-format.ts'
import { purge } from '../../../src/store/records/purge.ts'
import { readHead } from '../../../src/store/records/record-head.ts'
import { Outbox } from '../../../src/store/replica/outbox.ts'
import { noteBodies } from '../../../src/store/replica/outbox-bodies.ts'
import type { OutboxStatements } from '../../../src/store/replica/outbox-statements.ts'
import type { OutboxBatch } from '../../../src/store/replica/outbox-types.ts'
import type { HotStatements } from '../../../src/store/sqlite/hot-statements.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

const MiB = 1024 * 1024

async function openOutbox() {
  const { databasePath: path, journalDirectory } = storePaths(temporaryDirectory())
  const { connection } = await openStore({ path })
  const outbox = new Outbox(connection, journalDirectory, {
    ingest: async () => {},
    purge: (question, countBelow) => purge(connection, question, countBelow),
    audience: { ended: null, admitted: false, traffic: null, holds: null, traces: false },
  })
  const write = <Output>(run: (statements: OutboxStatements) => Output) =>
    connection.writeHot((hot) => {
      if (hot.outbox === null) throw new Error('nothing is shipped')
      return run(hot.outbox)
    })
  /** As ingestion does. */
  const capture = (hot: HotStatements, id: string, part: BodyEntry['part'], size: number) => {
    const sealed = Buffer.alloc(size, 7).toString('base64')
    const type = 'application/json'
    const entry: BodyEntry = {
      kind: 'body',
      id,
      part,
      mode: 'full',
      type,
      bytes: 9,
      truncated: false,
      masked: true,
      key: 'k',
      sealed,
    }
    const bytes = hot.bodies.store(entry)
    if (bytes !== null) hot.outbox?.body({ id, part, bytes })
  }
  const end = (hot: HotStatements, id: string) => {
    const text = JSON.stringify(sampleRecord({ id, state: 'settled' }))
    const head = readHead(text, 'settled')
    if (head !== null) hot.writeRecord(head, 'boot-0', text)
  }
  const store = (id: string, ...sizes: number[]) =>
    connection.writeHot((hot) => {
      for (const [place, size] of sizes.entries()) capture(hot, id, place === 0 ? 'request' : 'answer', size)
      end(hot, id)
      return id
    })
  const readAll = async (after = 0, mostBytes = 4 * MiB) => {
    const batches: OutboxBatch[] = []
    for (;;) {
      const from = batches.at(-1)?.sequence ?? after
      const batch = await write((each) => each.read({ after: from, most: 100, mostBytes, node: 'gw-1' }))
      if (batch === null) return batches
      batches.push(batch)
    }
  }
  return { connection, outbox, write, capture, end, store, readAll }
}

const bodiesOf = (batches: readonly OutboxBatch[]) =>
  batches.flatMap(({ bodies }) => bodies.map(({ id, part, sealed }) => [id, part, sealed.length]))

describe('captured bodies in the outbox', () => {
  it('come with the record of their request, or before it, as they are sealed', async () => {
    const { outbox, connection, capture, store, readAll, write } = await openOutbox()
    await outbox.begin('nod_1')
    const running = newId('req')
    await connection.writeHot((hot) => capture(hot, running, 'request', 10))
    const ended = await store(newId('req'), 20, 30)
    const [batch, ...more] = await readAll()
    expect(more).toEqual([])
    expect(bodiesOf([batch as OutboxBatch])).toEqual([
      [running, 'request', 10],
      [ended, 'request', 20],
      [ended, 'answer', 30],
    ])
    expect(batch?.bodies[0]).toMatchObject({ mode: 'full', key_id: 'k', bytes: 9, truncated: 0, masked: 1 })
    expect(batch?.records.ids).toEqual([ended])
    // A journal that is read twice brings nothing again.
    await connection.writeHot((hot) => capture(hot, running, 'request', 10))
    expect(
      await write((each) => each.read({ after: batch?.sequence ?? 0, most: 9, mostBytes: 9, node: 'gw-1' })),
    ).toBeNull()
  })

  it('are shipped a few at a time, none later than its record, and one that is huge alone', async () => {
    const { outbox, connection, capture, end, readAll } = await openOutbox()
    await outbox.begin('nod_1')
    const ids = Array.from({ length: 9 }, () => newId('req')).sort()
    await connection.writeHot((hot) => {
      for (const id of ids) end(hot, id)
      for (const [place, id] of ids.entries()) capture(hot, id, 'request', place === 4 ? 6 * MiB : 0.6 * MiB)
    })
    const batches = await readAll()
    expect(bodiesOf(batches)).toHaveLength(9)
    for (const { bodies } of batches)
      expect(bodies.reduce((sum, { sealed }) => sum + sealed.length, 0)).toBeLessThanOrEqual(4 * MiB + 6 * MiB)
    // Nothing is read behind what is too much already.
    const upTo = batches.findIndex(({ bodies }) => bodies.some(({ id }) => id === ids[4]))
    expect(batches[upTo]?.bodies.at(-1)?.id).toBe(ids[4])
    expect(batches.map(({ records }) => records.ids.length)).toEqual([...batches.slice(1).map(() => 0), 9])
  })

  it('are not shipped once they are deleted, nor with a transaction that is undone', async () => {
    const { outbox, connection, capture, store, readAll } = await openOutbox()
    await outbox.begin('nod_1')
    const [gone, kept] = [await store(newId('req'), 5), await store(newId('req'), 6)]
    await connection.writeHot((hot) => hot.removal.removeBodies([gone]))
    const undone = connection.writeHot((hot) => {
      capture(hot, newId('req'), 'request', 7)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(bodiesOf(await readAll())).toEqual([[kept, 'request', 6]])
  })

  it('stand where nothing is shared in no outbox', async () => {
    const { connection, store } = await openOutbox()
    await store(newId('req'), 5, 6)
    expect(connection.sqlite.prepare('select count(*) from outbox').pluck().get()).toBe(0)
  })
})

describe('bodies from before they were shared', () => {
  it('come with their records, newest first, and of large ones few at a time', async () => {
    const { outbox, store, readAll, write } = await openOutbox()
    const ids = [1000, 2000, 3000, 4000].map((time) => newId('req', time))
    for (const id of ids) await store(id, id === ids[1] ? 3 * MiB : 1.5 * MiB)
    await outbox.begin('nod_1')
    const [begun] = await readAll()
    const pages: (readonly unknown[])[] = []
    for (let after = begun?.sequence ?? 0; await write((each) => each.addHistory()); ) {
      const batches = await readAll(after)
      after = batches.at(-1)?.sequence ?? after
      pages.push([bodiesOf(batches).map(([id]) => id), batches.flatMap(({ records }) => records.ids)])
    }
    const [oldest, older, newer, newest] = ids
    expect(pages).toEqual([
      [
        [newest, newer],
        [newest, newer],
      ],
      [[older], [older]],
      [[oldest], [oldest]],
    ])
  })

  it('come on a member of an earlier version without their records, which are there, and it says how far it is', async () => {
    const { outbox, connection, store, readAll } = await openOutbox()
    const ids = [1000, 2000, 3000].map((time) => newId('req', time))
    for (const id of ids) await store(id, 2 * MiB, 1 * MiB)
    await outbox.begin('nod_1')
    // As the migration leaves it.
    connection.sqlite.exec("delete from outbox; update outbox_state set history = null, body_history = '~'")
    const said: unknown[] = []
    for (let after = 0; ; ) {
      const [history, more] = [await connection.writeHot((hot) => hot.outbox?.addBodyHistory()), await readAll(after)]
      if (history !== true) break
      after = more.at(-1)?.sequence ?? after
      said.push(...more.flatMap(({ changes }) => changes))
      expect(more.flatMap(({ records }) => records.ids)).toEqual([])
    }
    expect(said).toEqual([
      ...ids.toReversed().map((id) => ({ kind: 'bodies-from', id })),
      { kind: 'bodies-from', id: '' },
    ])
  })

  it('are counted where they are purged before PostgreSQL has them', async () => {
    const { outbox, connection, store } = await openOutbox()
    await store(newId('req', 1000), 5, 5)
    await outbox.begin('nod_1')
    const unnoted = () => connection.readHot((hot) => hot.outbox?.unnoted)
    expect(await unnoted()).toBe('~')
    connection.sqlite.exec('update outbox_state set history = null')
    expect(await unnoted()).toBe('')
    const bodiesHere = () => Number(connection.sqlite.prepare('select count(*) from bodies').pluck().get())
    const filter = { until: '2100-01-01T00:00:00.000Z', limit: 1 }
    for (const countBelow of ['', '~']) {
      await store(newId('req', 2000), 5, 5)
      const before = bodiesHere()
      expect(await purge(connection, { bodies: true, filter }, countBelow)).toEqual({
        ...{ removed: countBelow === '' ? 0 : before, before: null },
      })
      expect([before > 0, bodiesHere()]).toEqual([true, 0])
    }
  })
})

it('notes no more of bodies in one row than a MiB, or one', () => {
  const body = (id: string, bytes: number) => ({ id, part: 'request' as const, bytes })
  const noted = noteBodies([
    body('a', 400_000),
    body('b', 600_000),
    body('c', 100_000),
    body('d', 5 * MiB),
    body('e', 1),
  ])
  expect(noted.map((text) => JSON.parse(text).map(([id]: string[]) => id))).toEqual([['a', 'b'], ['c'], ['d'], ['e']])
  expect(noteBodies([])).toEqual([])
})
