import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { LimitCall, LimitReply } from '../../../src/cluster/limits/call.ts'
import { LimitDriver } from '../../../src/cluster/limits/driver.ts'
import { timedOut, Valkey } from '../../../src/cluster/valkey.ts'
import type { Limit } from '../../../src/core/policies/policy-limits.ts'
import { BucketClock, sharedTime } from '../../../src/policy/limits/bucket-clock.ts'
import { LimitCounters } from '../../../src/policy/limits/limit-counters.ts'
import { createLimitMemory, type LimitMemory, LimitRows } from '../../../src/policy/limits/limit-memory.ts'
import { nextAnswer, wasRefused } from '../../../src/policy/limits/shared-window.ts'
import { MockValkey } from '../../support/mock-valkey.ts'

const member = { cluster: 'cluster', id: 'one' }

function makeRow(memory: LimitMemory) {
  const rows = new LimitRows(memory)
  const row = rows.make('limit', 15)
  if (row === null) throw new Error('there is no memory for a row')
  return { row, words: rows.words }
}

it('leaves its thread to others while a connection that goes down refuses at once what requests wait for', async () => {
  const memory = createLimitMemory(1, { budgets: false, windows: BucketClock.memory() })
  const { row } = makeRow(memory)
  let calls = 0
  const valkey = {
    run: 'run-a' as string | null,
    // As iovalkey does between a refusal and the end of the connection.
    async evaluate() {
      if (++calls === 1000) valkey.run = null
      throw new Error("Stream isn't writeable and enableOfflineQueue options is false")
    },
  }
  const driver = new LimitDriver({
    ...{ memory, member, newLife: () => 'life', quiet: true, without: 'share', valkey, now: () => performance.now() },
  })
  driver.setMembers(['one', 'two'])
  driver.start()
  driver.want({ row, slots: false, need: 1 })
  await wait(0)
  driver.stop()
  expect(calls).toBe(1)
})

it.each([
  ['nothing', null],
  ['a word', 'OK'],
  ['no rows', [0, 1, 'tag', Date.now(), 1, 'none']],
  ['words for numbers', [0, 1, 'tag', 'noon', 1, [['many', 0, 0, 0]]]],
  ['half of a row', [0, 1, 'tag', Date.now(), 1, [[5]]]],
])(
  'takes a server that answers its script with %s for one that is away, until it answers as it has to',
  async (_, answer) => {
    const mock = await MockValkey.start()
    onTestFinished(() => mock.close())
    mock.answer = () => answer
    const heard: (string | null)[] = []
    const valkey = await Valkey.open(mock.address, (reason) => heard.push(reason))
    onTestFinished(() => valkey.close())
    const memory = createLimitMemory(1, { budgets: false, windows: BucketClock.memory() })
    let granting = 0
    const driver = new LimitDriver({
      ...{ memory, member, newLife: () => 'life', quiet: true, without: 'share', valkey, now: () => performance.now() },
      onGranting: () => granting++,
    })
    driver.setMembers(['one', 'two'])
    driver.start()
    onTestFinished(() => driver.stop())
    await expect.poll(() => heard.at(-1)).toBe('it answered the script of limits with something else')
    expect(granting).toBe(0)
    mock.answer = () => [1, 1, 'tag', Date.now(), 1, []]
    await expect.poll(() => heard.at(-1)).toBeNull()
  },
)

/** A refusal holds for a quarter of a second, and no longer than its bucket: whoever was told asks again. */
function askingAgain(isRefused: () => boolean, want: () => void): () => boolean {
  return () => {
    if (isRefused()) return true
    want()
    return isRefused()
  }
}

it('tells requests at once that a node is cut off which was started without PostgreSQL and knows no other', async () => {
  const windows = BucketClock.memory()
  const memory = createLimitMemory(1, { budgets: false, windows })
  const { words, row } = makeRow(memory)
  const shared = sharedTime()
  let ahead = 0
  const now = () => shared() + ahead
  const valkey = { run: 'run-a', evaluate: () => Promise.reject(new Error('nobody asks')) }
  const driver = new LimitDriver({
    ...{ memory, member, newLife: () => 'life', quiet: true, without: 'share', valkey, now },
  })
  driver.start()
  onTestFinished(() => driver.stop())
  ahead = 20_000
  await wait(100)
  let woken = false
  const want = () => driver.want({ row, slots: false, need: 1 })
  void nextAnswer(words, row, 60_000, want).then(() => {
    woken = true
  })
  await expect.poll(() => woken).toBe(true)
  expect(new BucketClock(windows).apart).toBe('cut off')
  expect(askingAgain(() => wasRefused(words, row, 1, now()), want)()).toBe(true)
})

describe('a request that waits, of a limit that nodes share, when the server', () => {
  /** A driver that was granted limits, and whose next calls fail like this. */
  async function askFailing(fail: (valkey: { run: string | null }) => Error) {
    const windows = BucketClock.memory()
    const memory = createLimitMemory(1, { budgets: false, windows })
    const { words, row } = makeRow(memory)
    const now = sharedTime()
    const granted: LimitReply = { code: 'ok', epoch: 1, tag: 'tag', time: 0, open: true, rows: [] }
    let failing = false
    const valkey = {
      run: 'run-a' as string | null,
      evaluate: (async () => {
        if (failing) throw fail(valkey)
        return { ...granted, time: Date.now() }
      }) as Valkey['evaluate'],
    }
    const driver = new LimitDriver({
      ...{ memory, member, newLife: () => 'life', quiet: true, without: 'share', valkey, now },
    })
    const clock = new BucketClock(windows)
    driver.setMembers(['one', 'two'])
    driver.start()
    onTestFinished(() => driver.stop())
    await expect.poll(() => clock.bucketAt(now()) !== null && clock.apart === null).toBe(true)
    failing = true
    const want = () => driver.want({ row, slots: false, need: 1 })
    const isRefused = () => wasRefused(words, row, 1, now())
    const state = { woken: false, driver, clock, isRefused: askingAgain(isRefused, want), answer: () => {} }
    state.answer = () => {
      failing = false
    }
    void nextAnswer(words, row, 60_000, want).then(() => {
      state.woken = true
    })
    return state
  }

  it.each([
    ['refuses its script', () => new Error('OOM command not allowed when used memory > maxmemory')],
    [
      'is lost',
      (valkey: { run: string | null }) => {
        valkey.run = null
        return new Error(timedOut)
      },
    ],
  ])('%s, is told at once, and that this node is cut off', async (_, fail) => {
    const state = await askFailing(fail)
    await expect.poll(() => state.woken).toBe(true)
    expect(state.clock.apart).toBe('cut off')
    await expect.poll(state.isRefused).toBe(true)
  })

  it('counts this node no more, is told at once', async () => {
    const state = await askFailing(() => new Error(timedOut))
    state.driver.setMembers([])
    await expect.poll(() => state.woken).toBe(true)
    expect(state.clock.apart).toBe('cut off')
    await expect.poll(state.isRefused).toBe(true)
  })

  it('is late once, waits for its answer to the next call', async () => {
    const state = await askFailing(() => new Error(timedOut))
    await wait(150)
    expect([state.woken, state.clock.apart]).toEqual([false, null])
    state.answer()
    await expect.poll(() => state.woken).toBe(true)
    expect(state.clock.apart).toBeNull()
  })
})

it('counts nothing as used of a limit that nobody uses any more', async () => {
  let passed = 0
  const own = sharedTime()
  const now = () => own() + passed
  const windows = BucketClock.memory()
  const memory = createLimitMemory(1, { budgets: false, windows })
  const evaluate = async (_: unknown, __: unknown, input: string): Promise<LimitReply> => {
    const { rows } = JSON.parse(input) as LimitCall
    const given = rows.map(([, , want = 0, , share = 0]) => ({
      given: want,
      share: Math.max(share, 0),
      room: 5,
      frees: 0,
    }))
    return { code: 'ok', epoch: 1, tag: 'tag', time: Date.now() + passed, open: true, rows: given }
  }
  const valkey = { run: 'run-a', evaluate: evaluate as Valkey['evaluate'] }
  const driver = new LimitDriver({ memory, member, newLife: () => 'life', quiet: true, without: 'share', valkey, now })
  const counters = new LimitCounters(memory, 0, now, undefined, (want) => driver.want(want))
  const limit: Limit = {
    ...{ counter: 'pol_1 key_1 requests minute', policy: 'few', scope: 'key:p/e/n', kind: 'requests', period: null },
    ...{ limit: 15, warns: false, perUser: false },
  }
  driver.setMembers(['one', 'two'])
  driver.start()
  onTestFinished(() => driver.stop())
  const use = async () => {
    const taken = counters.admit([limit], null, { requests: 1, tokens: 0 })
    if ('want' in taken && taken.want !== null) await counters.askOthers(taken.want, 1000)
    return 'taken' in taken
  }
  await expect.poll(use).toBe(true)
  expect(counters.used(limit)).toBeGreaterThanOrEqual(10)
  const useLater = () => {
    passed += 2000
    return counters.used(limit)
  }
  await expect.poll(useLater, { timeout: 15_000 }).toBe(0)
  await expect.poll(use).toBe(true)
  expect(counters.used(limit)).toBeGreaterThanOrEqual(10)
  driver.stop()
  expect(counters.used(limit)).toBe(0)
})
