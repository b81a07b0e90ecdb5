import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ClusterLink } from '../../src/cluster/link.ts'
import type { ClusterNode } from '../../src/cluster/node.ts'
import type { LimitsStart, ValkeyAddress } from '../../src/cluster/protocol.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { startLimits } from '../../src/daemon/cluster/cluster.ts'
import { sharedCosts } from '../../src/daemon/cluster/shared-costs.ts'
import { SharedLimits } from '../../src/daemon/cluster/shared-limits.ts'
import { purgeNodes } from '../../src/daemon/cluster/shared-purge.ts'
import { SharedRecords } from '../../src/daemon/cluster/shared-records.ts'
import { ClusterTroubles } from '../../src/daemon/cluster/troubles.ts'
import type { Log } from '../../src/daemon/log.ts'
import { BucketClock } from '../../src/policy/limits/bucket-clock.ts'
import { createLimitMemory, type LimitMemory } from '../../src/policy/limits/limit-memory.ts'
import type { StoreClient } from '../../src/store/api.ts'

/** The cluster's thread, which answers each question with what comes next for it; the last answer stands. */
function linkOf(answers: Record<string, unknown[]>) {
  const asked: [string, unknown][] = []
  const ask = async (name: string, input: unknown) => {
    asked.push([name, input])
    const of = answers[name] ?? []
    const answer = of.length > 1 ? of.shift() : of[0]
    if (answer instanceof Error) throw answer
    return answer
  }
  return { link: { ask } as unknown as ClusterLink, asked }
}

const node = (name: string, isAway = false) => ({ name, isAway })
const question = { filter: { limit: 1, project: 'a' }, bodies: false }

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('a purge on all nodes', () => {
  // Between questions it waits by Node's own timers, for a moment each; how long nobody gets on the test says.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('deletes in PostgreSQL slice by slice, from where the one before ended, and then waits for the nodes', async () => {
    const { link, asked } = linkOf({
      purge: [7],
      'purge-slice': [
        { removed: 10, before: 'req_2' },
        { removed: 5, before: null },
      ],
      purged: [
        { removed: 0, missing: [node('a'), node('b')] },
        { removed: 2, missing: [node('b')] },
        { removed: 3, missing: [] },
      ],
    })
    const said = await collect(purgeNodes(link, question))
    expect(said).toEqual([
      { done: false, removed: 10, before: 'req_2', missing: [] },
      { done: false, removed: 15, before: null, missing: ['a', 'b'] },
      { done: false, removed: 17, before: null, missing: ['b'] },
      { done: true, removed: 18, before: null, missing: [] },
    ])
    expect(asked.slice(0, 4)).toEqual([
      ['ship', null],
      ['purge', question],
      ['purge-slice', question],
      ['purge-slice', { ...question, filter: { ...question.filter, before: 'req_2' } }],
    ])
    expect(asked.slice(4).every(([name, input]) => name === 'purged' && JSON.stringify(input) === '{"number":7}')).toBe(
      true,
    )
  })

  it('waits for no node that is away, and names it', async () => {
    const { link } = linkOf({
      ...{ purge: [7], 'purge-slice': [{ removed: 0, before: null }] },
      purged: [{ removed: 4, missing: [node('gone', true)] }],
    })
    expect(await collect(purgeNodes(link, question))).toEqual([
      { done: true, removed: 4, before: null, missing: ['gone'] },
    ])
  })

  it('waits a minute at most for one that gets on with nothing', async () => {
    const { link } = linkOf({
      ...{ purge: [7], 'purge-slice': [{ removed: 0, before: null }] },
      purged: [{ removed: 0, missing: [node('stuck')] }],
    })
    const purging = purgeNodes(link, question)
    expect((await purging.next()).value).toMatchObject({ done: false })
    vi.advanceTimersByTime(59_000)
    expect((await purging.next()).value).toMatchObject({ done: false })
    vi.advanceTimersByTime(2000)
    expect((await purging.next()).value).toMatchObject({ done: true, missing: ['stuck'] })
    expect((await purging.next()).done).toBe(true)
  })

  it('asks for nothing where what this node has could not be brought there', async () => {
    const { link, asked } = linkOf({ ship: [new Error('PostgreSQL was not reached')] })
    await expect(collect(purgeNodes(link, question))).rejects.toThrow('PostgreSQL was not reached')
    expect(asked).toHaveLength(1)
  })
})

describe('costs of the records of all nodes', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('are read once what this node has is there, which is brought once', async () => {
    const { link, asked } = linkOf({ read: [[]] })
    const costs = sharedCosts(link)
    await Promise.all([costs.list({ limit: 1 }), costs.list({ limit: 2 })])
    expect(asked.map(([name]) => name)).toEqual(['ship', 'read', 'read'])
  })

  const left = (name: string, much: number) => ({ ...node(name), isOlder: false, left: much })

  it('are settled when each node that is there has settled its own', async () => {
    const gone = { ...left('gone', 9), isAway: true }
    const { link } = linkOf({ repriced: [[left('a', 3), gone], [gone]] })
    expect(await collect(sharedCosts(link).settle())).toEqual([
      { missing: ['a', 'gone'], outdated: [] },
      { missing: ['gone'], outdated: [] },
    ])
  })

  it('are not waited for where a node knows of no such change', async () => {
    const { link } = linkOf({ repriced: [[{ ...left('old', 3), isOlder: true }]] })
    expect(await collect(sharedCosts(link).settle())).toEqual([{ missing: ['old'], outdated: ['old'] }])
  })

  it('are not waited for where nodes get on with nothing for half a minute', async () => {
    const { link } = linkOf({ repriced: [[left('stuck', 3)]] })
    const settling = sharedCosts(link).settle()
    const stuck = { missing: ['stuck'], outdated: [] }
    expect((await settling.next()).value).toEqual(stuck)
    vi.advanceTimersByTime(29_000)
    expect((await settling.next()).value).toEqual(stuck)
    vi.advanceTimersByTime(2000)
    expect((await settling.next()).done).toBe(true)
  })
})

describe('limits that nodes share', () => {
  const address: ValkeyAddress = {
    ...{ host: 'valkey', port: 6379, user: null, password: null, database: 0, authority: null, plain: false },
  }
  const windows = BucketClock.memory()
  const memory = createLimitMemory(1, { budgets: false, windows })
  const member = { cluster: 'clu_1', id: 'nod_1' }

  function open(given: ValkeyAddress | null = address) {
    const sent: LimitsStart[] = []
    const limits = new SharedLimits({ address: given, without: 'share', send: (start) => void sent.push(start) })
    return { limits, sent }
  }

  it('begin once there is memory for them, and anew as another member', () => {
    const { limits, sent } = open()
    limits.setMember(member)
    expect(sent).toEqual([])
    limits.share(memory, true)
    limits.setMember(null)
    expect(sent.map((start) => [start.member, start.quiet])).toEqual([
      [member, true],
      [null, true],
    ])
  })

  it('begin with nothing used where a gateway that was alone becomes a member, and not where a member was started again', () => {
    const { limits, sent } = open()
    limits.share(memory, false)
    limits.setMember(member)
    limits.setMember(null)
    const again = open()
    again.limits.setMember(member)
    again.limits.share(memory, false)
    expect([...sent, ...again.sent].map((start) => [start.member, start.quiet])).toEqual([
      [null, false],
      [member, true],
      [null, true],
      [member, false],
    ])
  })

  it('are each node’s own where there is no Valkey', () => {
    const { limits, sent } = open(null)
    limits.setMember(member)
    limits.share(memory, true)
    expect([sent, limits.find()]).toEqual([[], null])
  })

  it('say what is wrong to who listens, now and later, until the node is alone', () => {
    const { limits } = open()
    const said: (string | null)[] = []
    limits.report('no route')
    limits.listen((reason) => said.push(reason))
    const since = limits.find()?.since
    expect(Date.parse(since ?? '')).not.toBeNaN()
    limits.report('OOM')
    expect(limits.find()).toMatchObject({ trouble: 'OOM', since })
    limits.setMember(null)
    expect(said).toEqual(['no route', 'Valkey cannot be used: OOM', null])
    expect(limits.find()).toMatchObject({ server: 'valkey:6379', trouble: null, since: null, opening_until: null })
  })

  it('say by when grants begin that wait for all nodes, from when it was first seen, and not while there is a trouble', () => {
    const { limits } = open()
    limits.share(memory, true)
    new BucketClock(windows).publish(7, 0, 10_000, 'opening')
    expect([limits.look(1000), limits.look(5000)]).toEqual([91_000, 91_000])
    limits.report('no route')
    expect(limits.look(5500)).toBeNull()
    limits.report(null)
    expect([limits.look(6000), limits.look(96_000)]).toEqual([96_000, 186_000])
    new BucketClock(windows).publish(8, 0, 10_000)
    expect(limits.look(97_000)).toBeNull()
  })
})

describe('a start', () => {
  /** Within some turns of the event loop; nobody grants anything. */
  async function isOver(trouble: string | null): Promise<boolean> {
    const troubles = new ClusterTroubles({ isolationMs: null, valkey: null }, null, {
      node: () => ({ state: null, trouble: null, isOut: false, apart: null }),
      hasKeys: () => true,
    })
    troubles.notePostgres(trouble)
    const link: Partial<ClusterLink> = { ask: () => new Promise(() => {}) }
    const limits: Partial<SharedLimits> = { find: () => ({}) as ReturnType<SharedLimits['find']>, share() {} }
    const store = { ingest: async () => {}, records: { list: async () => [] } }
    let over = false
    void startLimits({
      ...{ node: { link } as ClusterNode, limits: limits as SharedLimits, cut: troubles.cut },
      ...{ store: store as object as StoreClient, memory: {} as LimitMemory, log: {} as Log },
    }).then(() => {
      over = true
    })
    for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve))
    return over
  }

  it('waits for limits to be granted, and not where PostgreSQL is known to be away', async () => {
    expect([await isOver(null), await isOver('no route')]).toEqual([false, true])
  })
})

describe('records of all nodes as they end', () => {
  function open() {
    const listeners = new Set<(records: RequestRecord[]) => void>()
    const follows: boolean[] = []
    const store: Partial<StoreClient> = {
      onRecords(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      readRecords() {},
    }
    const link: Partial<ClusterLink> = { follow: (wanted) => void follows.push(wanted) }
    const shared = new SharedRecords({ node: 'gw-a', keepMs: 1, keepBodiesMs: 1 }, store as StoreClient)
    const end = (id: string) => {
      for (const listener of listeners) listener([{ id } as RequestRecord])
    }
    return { shared, follows, link: link as ClusterLink, end, listeners }
  }

  it('are asked for while somebody follows, and no longer', () => {
    const { shared, follows, link, listeners } = open()
    shared.read(link, { out: () => null, onApart() {} })
    const stops = [shared.onRecords(() => {}), shared.onRecords(() => {})]
    for (const stop of stops) stop()
    expect([follows, listeners.size]).toEqual([[false, true, false], 0])
  })

  it('name the node where there are others, and come from them', () => {
    const { shared, link, end } = open()
    const seen: unknown[] = []
    shared.onRecords((records) => seen.push(...records))
    end('req_1')
    shared.read(link, { out: () => null, onApart() {} })
    end('req_2')
    shared.hearEnded([{ id: 'req_3', node: 'gw-b' } as RequestRecord])
    expect(seen).toEqual([{ id: 'req_1' }, { id: 'req_2', node: 'gw-a' }, { id: 'req_3', node: 'gw-b' }])
  })
})
