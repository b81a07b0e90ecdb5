import { expect, it } from 'vitest'
import { SharedCell } from '../../../src/cluster/limits/shared-cell.ts'
import type { Limit } from '../../../src/core/policies/policy-limits.ts'
import { BucketClock } from '../../../src/policy/limits/bucket-clock.ts'
import { LimitCounters, type LimitWant } from '../../../src/policy/limits/limit-counters.ts'
import { createLimitMemory, LimitRows } from '../../../src/policy/limits/limit-memory.ts'
import { sharedCounting } from '../../../src/policy/limits/shared-window.ts'

const bucket = 170_000_003
const one = { requests: 1, tokens: 10 }

function open(kind: Limit['kind'], most = 10) {
  const windows = BucketClock.memory()
  const memory = createLimitMemory(2, { budgets: false, windows })
  const clock = new BucketClock(windows)
  const time = { now: 5000 }
  const wants: LimitWant[] = []
  const counters = new LimitCounters(
    memory,
    0,
    () => time.now,
    () => {},
    (want) => wants.push(want),
  )
  const limit: Limit = {
    ...{ counter: `pol_1 key_1 ${kind} minute`, policy: 'few', scope: 'key:p/e/n', kind, period: null },
    ...{ limit: most, warns: false, perUser: false },
  }
  clock.publish(bucket, 0, 10_000)
  const refused = counters.admit([limit], null, one)
  if (!('want' in refused) || refused.want === null) throw new Error('nothing was given yet')
  const cell = new SharedCell(new LimitRows(memory), refused.want.row, kind === 'concurrency')
  return {
    counters,
    limit,
    cell,
    clock,
    time,
    wants,
    want: refused.want,
    admit: () => counters.admit([limit], null, one),
  }
}

const passes = (taken: object) => 'taken' in taken

it('takes what this node was given for the bucket, and says what is left on all nodes', () => {
  const { admit, cell, counters, want } = open('requests')
  expect(want).toMatchObject({ slots: false, need: 1 })
  cell.put(bucket, 2)
  cell.answer(5, 0, 0)
  expect([passes(admit()), passes(admit()), passes(admit())]).toEqual([true, true, false])
  expect(cell.limit()).toBe(10)
  cell.put(bucket, 1)
  const hold = admit()
  if (!('taken' in hold)) throw new Error('one was given')
  expect(counters.figures(hold).requests).toEqual({ limit: 10, left: 5, resetMs: 65_000 })
})

it('is all free again when the present bucket no longer counts', () => {
  const { admit, cell, counters, limit } = open('requests')
  cell.put(bucket, 5)
  cell.answer(0, 0, 0)
  admit()
  expect(counters.freeIn(limit, 10)).toBe(65_000)
  // Of some of it the next bucket may have room, or one that an answer named.
  expect(counters.freeIn(limit, 1)).toBe(5000)
  cell.answer(0, 0, 7000)
  expect([counters.freeIn(limit, 1), counters.freeIn(limit, 10)]).toEqual([2000, 65_000])
})

it('lets a client try again when an answer named, also where it needs the whole limit', () => {
  const { admit, cell, counters, limit } = open('requests', 1)
  cell.put(bucket, 1)
  admit()
  cell.answer(0, 6000, 7000)
  expect(admit()).toMatchObject({ apart: 'held', waitMs: 2000 })
  expect(counters.freeIn(limit, 1)).toBe(65_000)
})

it('takes nothing in another bucket, or where it is not certain in which it is', () => {
  const { admit, cell, clock, time } = open('requests')
  cell.put(bucket, 5)
  time.now = 10_001
  expect(passes(admit())).toBe(false)
  clock.publish(bucket + 1, 10_002, 20_000)
  expect(passes(admit())).toBe(false)
  time.now = 10_003
  expect(passes(admit())).toBe(false)
  expect(cell.takeBack()).toBe(5)
  cell.put(bucket + 1, 1)
  expect(passes(admit())).toBe(true)
})

it('gives back tokens that were not used, in their bucket or as a correction of it', () => {
  const { admit, cell, counters, clock, time } = open('tokens', 100)
  cell.put(bucket, 20)
  const [first, second] = [admit(), admit()]
  if (!('taken' in first) || !('taken' in second)) throw new Error('20 were given')
  counters.correctTokens(first, 4)
  expect(cell.free()).toBe(6)
  counters.correctTokens(first, 9)
  expect([cell.free(), cell.corrected(bucket)]).toEqual([6, 5])
  expect(cell.takeBack()).toBe(6)
  clock.publish(bucket + 1, 10_000, 20_000)
  time.now = 11_000
  cell.put(bucket + 1, 1)
  counters.correctTokens(second, 3)
  expect([cell.free(), cell.corrected(bucket), cell.corrected(bucket + 1)]).toEqual([1, -2, 0])
})

it('puts requests at once back at their end, also those of a thread that died', () => {
  const { admit, cell, counters, want } = open('concurrency', 3)
  expect(want.slots).toBe(true)
  cell.put(bucket, 2)
  const hold = admit()
  expect([passes(hold), passes(admit()), passes(admit())]).toEqual([true, true, false])
  if ('taken' in hold) counters.release(hold)
  expect(cell.free()).toBe(1)
  counters.reverseThread(0)
  expect(cell.free()).toBe(2)
  expect(cell.adopt()).toBe(0)
})

it('asks the cluster thread once, and not for what was refused just now', async () => {
  const { counters, cell, wants, want, time, limit } = open('requests')
  const asked = counters.askOthers(want, 60_000)
  expect(wants).toEqual([want])
  cell.answer(0, time.now + 250, 0)
  await asked
  expect(counters.findWant([limit], one)).toBeNull()
  time.now += 251
  expect(counters.findWant([limit], one)).toEqual(want)
  cell.answer(0, time.now + 250, 0)
  expect(counters.findWant([limit], one)).toBeNull()
})

it('says when there is room for what was refused, and where that is not known, when the next bucket begins', () => {
  const { admit, cell, time } = open('requests')
  const waits = () => {
    const refused = admit()
    return 'taken' in refused ? null : refused.waitMs
  }
  cell.answer(0, time.now + 250, 0)
  expect(waits()).toBe(5000)
  cell.answer(0, time.now + 250, time.now + 42_000)
  expect(waits()).toBe(42_000)
  time.now += 42_000
  cell.answer(0, time.now + 250, time.now)
  expect(waits()).toBe(250)
})

it.each(['requests', 'concurrency'] as const)(
  'calls %s used up only where the others have said so just now',
  (kind) => {
    const { admit, cell, time, clock } = open(kind)
    const said = () => {
      const refused = admit()
      return 'taken' in refused ? 'it passed' : [refused.apart, refused.waitMs]
    }
    expect(said()).toEqual(['unheard', 1000])
    // Another request was told that there is not as much as it needs.
    cell.answer(4, time.now + 250, 0)
    expect(said()).toEqual(['unheard', 1000])
    cell.answer(0, time.now + 250, time.now + 7000)
    expect(said()).toEqual(['held', kind === 'requests' ? 7000 : 1000])
    time.now += 251
    expect(said()).toEqual(['unheard', 1000])
    clock.publish(bucket, 0, 10_000, 'cut off')
    expect(said()).toMatchObject(['cut off', expect.any(Number)])
  },
)

it('says of what it refuses why this node could be granted nothing, until it can', () => {
  const { admit, clock, cell } = open('requests')
  const why = () => {
    const refused = admit()
    return 'taken' in refused ? 'it passed' : refused.apart
  }
  cell.answer(0, Number.MAX_SAFE_INTEGER, 0)
  for (const apart of ['cut off', 'opening', null] as const) {
    clock.publish(bucket, 0, 10_000, apart)
    expect(why()).toBe(apart ?? 'held')
  }
  // What it has in hand passes, whoever is cut off.
  clock.publish(bucket, 0, 10_000, 'cut off')
  cell.put(bucket, 1)
  expect([why(), why()]).toEqual(['it passed', 'cut off'])
})

it('forgets what an answer turns out to be less where a later minute has begun', () => {
  const { admit, cell, counters, clock, time } = open('tokens', 100)
  const at = (later: number) => {
    time.now = 5000 + later * 10_000
    clock.publish(bucket + later, later * 10_000, (later + 1) * 10_000)
  }
  cell.put(bucket, 10)
  const old = admit()
  at(8)
  cell.put(bucket + 8, 10)
  const young = admit()
  if (!('taken' in old) || !('taken' in young)) throw new Error('10 were given for each')
  counters.correctTokens(young, 13)
  expect(cell.corrected(bucket + 8)).toBe(3)
  counters.correctTokens(old, 2)
  expect([cell.corrected(bucket), cell.corrected(bucket + 8)]).toEqual([0, 3])
  // The other way round the older one leaves the window.
  at(16)
  counters.correctTokens(young, 20)
  expect([cell.corrected(bucket + 8), cell.corrected(bucket + 16)]).toEqual([0, 7])
})

it('lets nothing pass of a limit that is now 0, whatever this node still has in hand', () => {
  const { counters, limit, cell, time } = open('concurrency', 3)
  cell.put(bucket, 2)
  const none = { ...limit, limit: 0 }
  expect(counters.admit([none], null, one)).toMatchObject({ used: 0, waitMs: null })
  expect([cell.limit(), cell.free()]).toEqual([0, 2])
  time.now += 1
  expect(passes(counters.admit([limit], null, one))).toBe(true)
})

it('says how much of a limit is used on all nodes: nothing of one that nobody has used', () => {
  const { counters, limit, cell, admit } = open('requests')
  cell.answer(10, 0, 0)
  expect(counters.used(limit)).toBe(0)
  cell.put(bucket, 4)
  cell.answer(3, 0, 0)
  expect(counters.used(limit)).toBe(3)
  expect(passes(admit())).toBe(true)
  expect(counters.used(limit)).toBe(4)
})

it('tells of requests at once how many there were before the one that it lets pass', () => {
  const windows = BucketClock.memory()
  const rows = new LimitRows(createLimitMemory(1, { budgets: false, windows }))
  const counting = sharedCounting(new BucketClock(windows))
  const row = rows.make('slots', counting.slotSize) ?? 0
  const cell = new SharedCell(rows, row, true)
  cell.put(bucket, 2)
  cell.answer(1, 0, 0)
  const take = () => counting.takeSlot(rows.words, row, 5)
  expect([take(), take(), take()]).toEqual([
    { isTaken: true, used: 2 },
    { isTaken: true, used: 3 },
    { isTaken: false, used: 4 },
  ])
  expect(counting.usedSlots(rows.words, row)).toBe(4)
})
