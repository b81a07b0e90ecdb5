import { expect, it } from 'vitest'
import { bucketMs, type LimitCall, type LimitReply } from '../../../src/cluster/limits/call.ts'
import { ServerClock } from '../../../src/cluster/limits/server-clock.ts'
import { SharedWindows, type WithoutServer } from '../../../src/cluster/limits/windows.ts'
import { MemoryCell } from '../../support/limits/memory-cell.ts'

const start = 1_000_000_000_000
const known = { epoch: 3, tag: 'run-a:1', open: true, code: 'ok' } as const

function open(without: WithoutServer = 'share') {
  const windows = new SharedWindows({ node: 'one', newLife: () => 'life', quiet: true, without, now: 0 })
  windows.setMembers(['one', 'two', 'three'])
  const cell = new MemoryCell(60)
  windows.add({ id: 'limit', slots: false }, cell)
  const call = (now: number): LimitCall => {
    const next = windows.nextCall(now, 'run-a')
    if (next === null) throw new Error('there is something to say')
    return next
  }
  const answer = (number: number, now: number, more: Partial<LimitReply> = {}) =>
    windows.accept(number, { ...known, time: start + now, rows: [], ...more }, now)
  return { windows, cell, call, answer }
}

it('uses a grant only of the reply to its latest call', () => {
  const { windows, cell, call, answer } = open()
  answer(call(0).number, 1, { code: 'new' })
  cell.wanted = [1]
  const late = call(10)
  const latest = call(300)
  answer(late.number, 310, { rows: [{ given: 5, share: 2, room: 50, frees: 0 }] })
  expect(cell.free()).toBe(0)
  answer(latest.number, 311, { rows: [{ given: 4, share: 2, room: 50, frees: 0 }] })
  expect(cell.free()).toBe(6)
  expect(windows.bucket).toBe(start / bucketMs)
})

it('waits for what its earlier run may have been granted, and not where that run counted for itself', () => {
  const windows = new SharedWindows({ node: 'one', newLife: () => 'life', quiet: false, without: 'share', now: 0 })
  windows.setMembers(['one'])
  expect(windows.nextCall(0, 'run-a')).toMatchObject({ known: false })
  windows.setMembers(['one'], true)
  expect(windows.nextCall(10, 'run-a')).toMatchObject({ known: true })
  windows.setMembers(['one', 'two'])
  expect(windows.nextCall(20, 'run-a')).toMatchObject({ known: true })
})

it('may use its share when it is cut off, and an even part from the seventh bucket of its absence', () => {
  const { windows, cell, call, answer } = open()
  answer(call(0).number, 1, { code: 'new' })
  cell.wanted = [1]
  answer(call(10).number, 11, { rows: [{ given: 0, share: 2, room: 50, frees: 0 }] })
  const free: number[] = []
  // Both clocks may drift, so that a bucket is entered a little later.
  for (let now = 100; now < 80_000; now += bucketMs) {
    windows.tick(now)
    free.push(cell.free())
  }
  expect(free).toEqual([2, 2, 2, 2, 2, 2, 2, 20])
})

it.each([
  ['refuse', 0],
  ['local', 60],
] as const)('goes by cluster.limits_without_valkey: %s while it is cut off', (without, most) => {
  const { windows, cell, call, answer } = open(without)
  answer(call(0).number, 1, { code: 'new' })
  cell.wanted = [1]
  answer(call(10).number, 11, { rows: [{ given: 0, share: 2, room: 50, frees: 0 }] })
  windows.tick(10_100)
  expect(cell.free()).toBe(most)
})

it('knows no bucket while the time of the server may lie in either of two', () => {
  const clock = new ServerClock(0)
  clock.change(start + 9900, 0, 40)
  expect(clock.bucket(50)).toBe(start / bucketMs)
  expect(clock.bucket(120)).toBeNull()
  expect(clock.bucket(145)).toBe(start / bucketMs + 1)
})

it('does not follow a clock that was set', () => {
  const clock = new ServerClock(0)
  clock.change(start, 0, 1)
  expect(clock.hear(start + 1000, 999, 1001)).toBe(true)
  expect(clock.hear(start + 3_600_000, 2000, 2001)).toBe(false)
})

it('keeps a limit whose call is on its way, so that what the answer grants is stated by the node that uses it', () => {
  const { windows, cell, call, answer } = open()
  answer(call(0).number, 1, { code: 'new' })
  cell.wanted = [1]
  const late = call(9_000)
  // Whoever waited is gone when the next bucket begins, and the limit is asked for anew.
  cell.wanted = []
  windows.tick(10_100)
  if (windows.find('limit') === undefined) windows.add({ id: 'limit', slots: false }, cell)
  answer(late.number, 10_200, { time: start + 10_150, rows: [{ given: 6, share: 0, room: 50, frees: 0 }] })
  const bucket = start / bucketMs + 1
  expect(windows.bucket).toBe(bucket)
  expect(cell.take(bucket, 4)).toBe(true)
  // Another server knows only what it is told.
  answer(call(11_400).number, 11_401, { code: 'new', epoch: 4 })
  expect(call(11_450).rows[0]?.slice(6)).toEqual([0, 0, 0, 0, 0, 0, 4])
})

it('says that it holds nothing where nobody has heard what was granted', () => {
  const { windows, cell, call, answer } = open()
  answer(call(0).number, 1, { code: 'new' })
  answer(call(5).number, 6, { rows: [{ given: 0, share: 0, room: 60, frees: 0 }] })
  windows.add({ id: 'limit', slots: false }, cell)
  cell.wanted = [1]
  expect(call(10).rows).toHaveLength(1)
  cell.wanted = []
  windows.tick(10_100)
  const [row] = call(10_110).rows
  expect(row?.[4]).toBe(-1)
})

it('asks for no more of a limit once nobody uses it, and gives back what it has within two minutes', () => {
  const { windows, cell, call, answer } = open()
  answer(call(0).number, 1, { code: 'new' })
  cell.wanted = [1, 1, 1, 1]
  for (let now = 50; now < 120_000 && windows.find('limit') !== undefined; now += 50) {
    windows.tick(now)
    const next = windows.nextCall(now, 'run-a')
    if (next === null) continue
    const rows = next.rows.map(([, , want = 0, , share = 0]) => ({
      given: want,
      share: Math.max(0, share),
      room: 50,
      frees: 0,
    }))
    answer(next.number, now + 1, { rows })
    if (cell.wanted.length > 0) expect(cell.take(windows.bucket, 4)).toBe(true)
    cell.wanted = []
  }
  expect(windows.find('limit')).toBeUndefined()
  expect(cell.free()).toBe(0)
})

it('knows when there is room for what was refused', () => {
  const { windows, cell, call, answer } = open()
  answer(call(0).number, 1, { code: 'new' })
  cell.wanted = [1]
  answer(call(10).number, 11, { rows: [{ given: 0, share: 0, room: 0, frees: 5 }] })
  // Of the server's clock it is known that it is one to two milliseconds behind that.
  expect(windows.find('limit')?.freesAt).toBeGreaterThanOrEqual(5 * bucketMs)
  expect(windows.find('limit')?.freesAt).toBeLessThan(5 * bucketMs + 50)
  cell.wanted = [1]
  answer(call(300).number, 301, { rows: [{ given: 1, share: 0, room: 0, frees: 0 }] })
  expect(windows.find('limit')?.freesAt).toBe(0)
})

it('says why nothing can be granted: it knows no nodes, not all have spoken, or the server is away', () => {
  const { windows, call, answer } = open()
  windows.setMembers([])
  expect(windows.apart).toBe('cut off')
  windows.setMembers(['one', 'two', 'three'])
  // One that was started while the server is away.
  expect(windows.apart).toBe('cut off')
  answer(call(0).number, 1, { code: 'new' })
  answer(call(10).number, 11, { open: false })
  expect(windows.apart).toBe('opening')
  answer(call(300).number, 301)
  expect(windows.apart).toBeNull()
  windows.tick(10_100)
  expect(windows.apart).toBe('cut off')
})

it('is closed where nothing may pass without the server, and not only cut off', () => {
  const { windows, call, answer } = open('refuse')
  // One that was started while the server is away.
  expect([windows.apart, windows.ofLost]).toEqual(['closed', 'closed'])
  answer(call(0).number, 1, { code: 'new' })
  answer(call(10).number, 11)
  expect(windows.apart).toBeNull()
  windows.tick(10_100)
  expect(windows.apart).toBe('closed')
  expect(['share', 'local'].map((without) => open(without as 'share' | 'local').windows.ofLost)).toEqual([
    'cut off',
    'cut off',
  ])
})

it('is not cut off where it has the whole of each limit', () => {
  const { windows } = open('local')
  windows.tick(10_100)
  expect(windows.isAbsent()).toBe(true)
  expect(windows.apart).toBeNull()
})
