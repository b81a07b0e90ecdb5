import { expect, it } from 'vitest'
import type { RequestRecord } from '../../../src/core/record.ts'
import { followRecords } from '../../../src/daemon/records/record-feed.ts'
import { StoreBehind } from '../../../src/store/store-error.ts'
import { startTestStore, storePaths, temporaryDirectory } from '../../store/support.ts'
import { JournalWriter } from '../../support/journal-writer.ts'
import { admitted, sampleRecord, settled } from '../../support/sample-record.ts'

it('ends with a word for who reads too slowly, and leaves nothing out before', async () => {
  let tell: (records: RequestRecord[]) => void = () => {}
  let following = true
  const store = {
    onRecords(listener: typeof tell) {
      tell = listener
      return () => {
        following = false
      }
    },
  }
  const rows = followRecords(store, new AbortController().signal, true)
  const batch = (count: number) => Array.from({ length: count }, () => sampleRecord())
  const first = rows.next()
  const [all, more] = [batch(1500), batch(600)]
  // As much as is stored at once is no slowness of the reader's.
  tell(all)
  const read = [(await first).value]
  while (read.length < all.length) read.push((await rows.next()).value)
  expect(read).toEqual(all)
  tell(more)
  tell(more)
  expect((await rows.next()).value).toEqual(more[0])
  tell(more)
  await expect(rows.next()).rejects.toBeInstanceOf(StoreBehind)
  expect(following).toBe(false)
})

it('tells records as they end, and to who asks for it as they begin', async () => {
  const data = storePaths(temporaryDirectory())
  const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 })
  const store = await startTestStore(data)
  const leave = new AbortController()
  const follow = async (allStates: boolean, count: number) => {
    const seen: [string, RequestRecord['state']][] = []
    for await (const { id, state } of followRecords(store, leave.signal, allStates))
      if (seen.push([id, state]) === count) break
    return seen
  }
  const all = follow(true, 3)
  const ended = follow(false, 2)
  const [slow, quick] = [sampleRecord(), sampleRecord()]
  writer.write(admitted(slow))
  await store.ingest()
  // Both of its entries are in one batch: it was never seen under way.
  writer.write(admitted(quick), settled(quick))
  await store.ingest()
  writer.write(settled(slow))
  await store.ingest()
  expect(await all).toEqual([
    [slow.id, 'admitted'],
    [quick.id, 'settled'],
    [slow.id, 'settled'],
  ])
  expect(await ended).toEqual([
    [quick.id, 'settled'],
    [slow.id, 'settled'],
  ])
  leave.abort()
})
