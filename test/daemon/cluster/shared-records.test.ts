import { expect, it } from 'vitest'
import { SharedRecords } from '../../../src/daemon/cluster/shared-records.ts'
import { startTestStore, storePaths, temporaryDirectory } from '../../store/support.ts'

it('says of a node what the cluster lacks of it, and where nobody knows that', async () => {
  const store = await startTestStore(storePaths(temporaryDirectory()))
  const records = new SharedRecords({ node: 'gw-a', keepMs: 1000, keepBodiesMs: 1000 }, store)
  const now = Date.parse('2026-11-27T14:02:00.000Z')
  expect(records.findSilence(performance.now() + 3_600_000)).toBeNull()
  const waiting = {
    ...{ depth: 3, since: '2026-11-27T14:00:00.000Z', history: false, trouble: 'no route to host' },
    ...{ usage: 0, usageSince: null, isRefused: false },
  }
  expect(records.hear({ ...waiting, since: '2026-11-27T14:01:30.000Z' }, now)).toBeNull()
  // What somebody has to put right is said at once.
  const refused = { trouble: 'permission denied for table records', isRefused: true }
  expect(records.hear({ ...waiting, ...refused, since: '2026-11-27T14:01:59.000Z' }, now)).toBe(
    '3 records wait for PostgreSQL, the oldest since 2026-11-27T14:01:59.000Z: permission denied for table records',
  )
  expect(records.hear({ ...waiting, ...refused, depth: 0, since: null }, now)).toBeNull()
  expect(records.hear(waiting, now)).toBe(
    '3 records wait for PostgreSQL, the oldest since 2026-11-27T14:00:00.000Z: no route to host',
  )
  const usage = { usage: 2, usageSince: '2026-11-27T13:00:00.000Z' }
  expect(records.hear({ ...waiting, ...usage }, now)).toBe(
    '3 records, and the usage of 2 batches or responses wait for PostgreSQL, the oldest since 2026-11-27T14:00:00.000Z: no route to host',
  )
  const counting = { ...waiting, ...usage, depth: 0, since: null }
  expect(records.hear({ ...counting, usage: 1 }, now)).toBe(
    'the usage of 1 batch or response waits to be counted, the oldest since 2026-11-27T13:00:00.000Z: no route to host',
  )
  // Another node is about to count it, or the request that made it has not ended.
  expect(records.hear({ ...counting, trouble: null }, now)).toBeNull()
  expect(records.findSilence()).toBeNull()
  expect(records.findSilence(performance.now() + 31_000)).toBe(
    'what waits for PostgreSQL is not known since 2026-11-27T14:02:00.000Z: PostgreSQL is very slow, or the cluster thread is stuck',
  )
})
