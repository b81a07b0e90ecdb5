import { describe, expect, it, vi } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import { findAddedBudgets } from '../../../src/daemon/budgets/added-budgets.ts'
import { Budgets } from '../../../src/daemon/budgets/budgets.ts'
import type { Log } from '../../../src/daemon/log.ts'
import { LimitCounters } from '../../../src/policy/limits/limit-counters.ts'
import { createLimitMemory } from '../../../src/policy/limits/limit-memory.ts'
import { findPeriod } from '../../../src/policy/limits/periods.ts'
import type { StoreClient } from '../../../src/store/api.ts'
import type { ConfigurationSnapshot, SnapshotKey, SnapshotPolicy } from '../../../src/store/configuration/snapshot.ts'
import { startTestStore, storePaths, temporaryDirectory } from '../../store/support.ts'
import { encodeEntry, JournalWriter } from '../../support/journal-writer.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { makeConfiguration, makeKey, makeProvider } from '../../support/snapshot.ts'

const places = {
  projects: [{ id: 'prj_a', name: 'default' }],
  environments: [{ id: 'env_a', name: 'production', projectId: 'prj_a' }],
}
const keys = [makeKey({ id: 'key_1', projectId: 'prj_a', environmentId: 'env_a' })]

function policy(parts: Partial<SnapshotPolicy>, ids: string[] = []): SnapshotPolicy {
  return { id: 'pol_1', name: 'team', attachedTo: { workspace: ids.length === 0, ids }, ...parts }
}

const withPolicies = (...policies: SnapshotPolicy[]) => makeConfiguration({ ...places, policies })

function added(before: SnapshotPolicy[], after: SnapshotPolicy[], now: readonly SnapshotKey[] = keys): string[] {
  const found = findAddedBudgets(
    { configuration: withPolicies(...before), keys },
    { configuration: withPolicies(...after), keys: now },
  )
  return found.map(({ counter }) => counter)
}

it('are those that a change made, whatever the change was', () => {
  const budget = policy({ budgetUsdMonth: 5 })
  const month = 'pol_1 workspace usd month'
  expect(added([], [budget])).toEqual([month])
  expect(added([budget], [policy({ budgetUsdMonth: 500, rpm: 3 })])).toEqual([])
  expect(added([policy({ rpm: 3 })], [budget])).toEqual([month])
  expect(added([budget], [policy({ budgetUsdMonth: 5, budgetTokensDay: 9 })])).toEqual(['pol_1 workspace tokens day'])
  expect(added([budget], [policy({ budgetUsdMonth: 5 }, ['prj_a', 'env_a'])])).toEqual([
    'pol_1 env_a usd month',
    'pol_1 prj_a usd month',
  ])
  expect(added([budget], [policy({ budgetUsdMonth: 5, per: 'key' })])).toEqual(['pol_1 key_1 usd month'])
  expect(added([], [policy({ budgetUsdMonth: 5, per: 'user' })])).toEqual([])
  // A key that names the policy since, one that did before, and one that is new.
  const named = policy({ budgetUsdDay: 1 }, ['prj_x'])
  const [key] = keys
  const moved = [{ ...makeKey(), ...key, policyId: 'pol_1' }, makeKey({ id: 'key_2', policyId: 'pol_1' })]
  expect(added([named], [named], moved)).toEqual(['pol_1 key_1 usd day'])
})

it('are all of them in another time zone, but for those of end users', () => {
  const policies = [policy({ budgetUsdDay: 5, rpm: 3 }), { ...policy({ budgetUsdDay: 5, per: 'user' }), id: 'pol_2' }]
  const before = { configuration: withPolicies(...policies), keys }
  const moved = { configuration: { ...before.configuration, timeZone: 'America/Los_Angeles' }, keys }
  expect(findAddedBudgets(before, { ...before, configuration: { ...before.configuration } })).toEqual([])
  expect(findAddedBudgets(before, moved).map(({ counter }) => counter)).toEqual(['pol_1 workspace usd day'])
})

it('are those of keys that name another policy since, and of no other key', () => {
  const named = policy({ budgetUsdDay: 1, rpm: 3 }, ['prj_x'])
  const [key] = keys
  const other = { ...makeKey(), ...key, id: 'key_3', policyId: 'pol_2' }
  const [before, after] = [
    { configuration: withPolicies(named), keys: [...keys, other] },
    { configuration: withPolicies(named), keys: [{ ...makeKey(), ...key, policyId: 'pol_1' }, other] },
  ]
  const counters = (from: typeof before, to: typeof before) => findAddedBudgets(from, to).map(({ counter }) => counter)
  expect(counters(before, after)).toEqual(['pol_1 key_1 usd day'])
  expect(counters(after, { ...after, keys: [...after.keys] })).toEqual([])
  expect(counters(after, { ...after, keys: [...keys, other] })).toEqual([])
})

it('are those that an account at a provider was given', () => {
  const limits = (budgetUsdMonth: number | null) => ({ rpm: 3, tpm: null, budgetUsdMonth })
  const withAccounts = (a: number | null, b: number | null) => ({
    configuration: makeConfiguration({
      providers: [makeProvider('b', { limits: limits(b) }), makeProvider('a', { limits: limits(a) })],
    }),
    keys,
  })
  const scopes = (...[before, after]: Parameters<typeof findAddedBudgets>) =>
    findAddedBudgets(before, after).map(({ scope, kind, period }) => [scope, kind, period].join(' '))
  expect(scopes({ configuration: makeConfiguration(), keys }, withAccounts(7, null))).toEqual(['provider:a usd month'])
  expect(scopes(withAccounts(null, 5), withAccounts(7, 5))).toEqual(['provider:a usd month'])
  expect(scopes(withAccounts(7, 5), withAccounts(70, 5))).toEqual([])
})

const now = Date.now()
const timeZone = 'UTC'
const month = findPeriod('month', timeZone, now)

function record(change: Partial<RequestRecord>, time = now): RequestRecord {
  const key = { id: 'key_1', name: 'ci' }
  return sampleRecord({ id: newId('req', time), time: new Date(time).toISOString(), key, provider: 'a', ...change })
}

it('count what their month has cost already, once, also after the next start', async () => {
  const data = storePaths(temporaryDirectory())
  const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 1 }, 1024 * 1024)
  const spent = [
    record({}),
    record({ key: { id: 'key_2', name: 'other' } }),
    record({}, month.start - 60_000),
    record({ environment: 'staging' }),
    record({ project: 'other', provider: 'b' }),
    // Out of the cache, which budgets do not count.
    record({ provider: null, cost: { usd: 0, price_version: 'cache' } }),
    // Of a thread that died: it may have asked one.
    record({ provider: null, state: 'interrupted' }),
  ]
  writer.writeBytes(Buffer.concat(spent.map((each) => encodeEntry({ kind: 'settled', record: each }))))
  const store = await startTestStore(data)
  await store.projects.insert({ id: 'prj_a', name: 'default', createdAt: '2020-01-01T00:00:00.000Z' })
  await store.projects.insert({ id: 'prj_b', name: 'other', createdAt: '2020-01-01T00:00:00.000Z' })
  const counters = new LimitCounters(createLimitMemory(2), 0)
  let published = { configuration: withPolicies(), keys }
  // Not thrown: what looks at the clock goes on after this test, in those that set it.
  const failures: string[] = []
  const log: Partial<Log> = { error: (text) => void failures.push(text) }
  const add = vi.spyOn(store.spend, 'add')
  const budgets = new Budgets(store, counters, log as Log, null)
  await budgets.open()
  const change = async (configuration: ConfigurationSnapshot) => {
    published = { configuration, keys }
    await budgets.follow(published)
  }
  await change(withPolicies())
  const wide = policy({ budgetUsdMonth: 5, budgetTokensMonth: 1000 })
  const narrow = policy({ id: 'pol_2', budgetUsdMonth: 5 }, ['prj_a', 'env_a', 'key_1'])
  const account = makeProvider('b', { limits: { rpm: null, tpm: null, budgetUsdMonth: 7 } })
  const whole = { ...withPolicies(wide, narrow), providers: [account] }
  await change(whole)
  expect(add).toHaveBeenCalledOnce()
  // Taken away, and given again.
  await change({ ...whole, policies: [wide] })
  await change({ ...whole })
  const expected = [
    ['pol_1 workspace tokens month', month.name, 75],
    ['pol_1 workspace usd month', month.name, 5_000_000],
    ['pol_2 env_a usd month', month.name, 3_000_000],
    ['pol_2 key_1 usd month', month.name, 4_000_000],
    ['pol_2 prj_a usd month', month.name, 4_000_000],
    ['prv_b account usd month', month.name, 1_000_000],
  ]
  expect((await store.spend.list([month.name])).used.toSorted()).toEqual(expected)
  const limits = findAddedBudgets({ configuration: withPolicies(), keys }, published)
  const used = limits.map((limit) => [limit.counter, month.name, counters.budgetUse(limit, { timeZone, now }).used])
  expect(used.toSorted()).toEqual(expected)
  expect(add).toHaveBeenCalledOnce()
  expect(failures).toEqual([])
})

const alone = {
  ...{ name: 'gw-a', records: 'local' as const, cluster: (): string | null => 'clu_1', reportSpent: vi.fn() },
  status: async () => Promise.reject(new Error('nobody needs it')),
}

describe('of nodes that share their records', () => {
  /** What records say by node; of `gw-x`, which has left, only all of them together. */
  const usd = new Map([
    ['gw-a', 0.003],
    ['gw-b', 0.002],
    ['gw-x', 0.001],
  ])
  const members = ['gw-b', 'gw-a'].map((name) => ({
    name,
    sequence: 1,
    clockAheadMs: null,
    draining: false,
    heardAt: null,
    version: '',
  }))

  it.each([
    ['gw-a', 'also what a node has spent that has left', 4_000_000],
    ['gw-b', 'what it has spent itself', 2_000_000],
  ])('count at %s %s, and say so to the others', async (name, _, amount) => {
    const read = ({ node }: { node?: string }) =>
      [...usd].flatMap(([of, dollars]) =>
        node === undefined || node === of ? [{ id: 'key_1', whole: { usd: dollars, tokens: 0 } }] : [],
      )
    const store = {
      ingest: async () => {},
      spend: { add: vi.fn(async () => {}) },
      records: { usage: async (filter: { node?: string }) => read(filter) },
    }
    const counters = new LimitCounters(createLimitMemory(2, { budgets: true, windows: null }), 0)
    counters.seed([])
    const error = vi.fn()
    const log: Partial<Log> = { error }
    const reportSpent = vi.fn()
    const node = {
      ...{ name, records: 'shared' as const, cluster: () => 'clu_1', reportSpent },
      status: async () => ({
        ...{ cluster: 'clu_1', node: name, postgres: '', trouble: null, sequence: 1, pending: 0 },
        nodes: members.map((member) => ({ ...member, state: 'present' as const })),
      }),
    }
    const budgets = new Budgets(store as unknown as StoreClient, counters, log as Log, node)
    await budgets.follow({ configuration: withPolicies(), keys })
    await budgets.follow({ configuration: withPolicies(), keys: [...keys] })
    await budgets.follow({ configuration: withPolicies(policy({ budgetUsdMonth: 5 })), keys })
    expect(error).not.toHaveBeenCalled()
    const counter = 'pol_1 workspace usd month'
    expect(store.spend.add).toHaveBeenCalledExactlyOnceWith([[counter, month.name, amount]])
    expect(counters.spentHere(counter, month.name)).toBe(amount)
    expect(reportSpent).toHaveBeenCalledExactlyOnceWith([{ counter, period: month, amount }])
  })
})

it('count nothing where a gateway joins a cluster that has them: the other nodes have counted it', async () => {
  const counters = new LimitCounters(createLimitMemory(2), 0)
  const store: Partial<StoreClient> = {
    ingest: async () => {
      throw new Error('the records were asked')
    },
  }
  const error = vi.fn()
  let cluster: string | null = null
  const log: Partial<Log> = { error }
  const budgets = new Budgets(store as StoreClient, counters, log as Log, { ...alone, cluster: () => cluster })
  const [none, month] = [withPolicies(), withPolicies(policy({ budgetUsdMonth: 5 }))]
  await budgets.follow({ configuration: none, keys })
  cluster = 'clu_1'
  await budgets.follow({ configuration: month, keys })
  expect(error).not.toHaveBeenCalled()
  // One that is added later is looked for.
  await budgets.follow({ configuration: withPolicies(policy({ budgetUsdDay: 5 })), keys })
  expect(error).toHaveBeenCalledOnce()
})

/** A store whose journal cannot be ingested so many times. */
function sickStore(faults: number) {
  const used: [string, string, number][] = [['pol_1 workspace usd month', month.name, 5_000_000]]
  const added: unknown[] = []
  const listed: string[][] = []
  const store = {
    ingest: async () => {
      if (faults-- > 0) throw new Error('the disk is gone')
    },
    workspace: { get: async () => ({ timeZone }) },
    spend: {
      list: async (names: string[]) => {
        listed.push(names)
        return { used, held: [], open: [] }
      },
      add: async (rows: unknown[]) => void added.push(...rows),
    },
    records: { usage: async () => [{ id: 'key_1', whole: { usd: 0.007, tokens: 0 } }] },
  }
  const reports: string[] = []
  const counters = new LimitCounters(createLimitMemory(2), 0)
  const log: Partial<Log> = { error: (text, fields) => void reports.push(`${text}: ${fields?.reason}`) }
  const budgets = new Budgets(store as unknown as StoreClient, counters, log as Log, null, 1)
  return { budgets, counters, added, listed, reports }
}

const budget = policy({ budgetUsdMonth: 5 })
const published = (...policies: SnapshotPolicy[]) => ({ configuration: withPolicies(...policies), keys })

it('are read again until what earlier processes spent is known, and changes wait for that', async () => {
  const { budgets, counters, added: written, reports } = sickStore(2)
  const opening = budgets.open()
  await budgets.follow(published())
  // Nobody who changes a policy waits for a store that is away.
  await budgets.follow(published(budget))
  expect(written).toEqual([])
  await opening
  const fault = 'what budgets have used cannot be read, so they let nothing pass: Error: the disk is gone'
  expect(reports).toEqual([fault, fault])
  await budgets.follow(published(budget, policy({ id: 'pol_2', budgetUsdMonth: 5 })))
  // Of the seven thousandths that its records say, five were counted before.
  expect(written).toEqual([
    ['pol_1 workspace usd month', month.name, 2_000_000],
    ['pol_2 workspace usd month', month.name, 7_000_000],
  ])
  const [limit] = findAddedBudgets(published(), published(budget))
  expect(limit && counters.budgetUse(limit, { timeZone, now }).used).toBe(7_000_000)
})

it('count from now on where the records cannot be read, which is said, and holds up no later change', async () => {
  const sick = sickStore(1)
  await sick.budgets.follow(published())
  await sick.budgets.follow(published(budget))
  expect(sick.reports).toEqual([
    'a budget that was added counts only what is spent from now on: Error: the disk is gone',
  ])
  await sick.budgets.follow(published(budget, policy({ id: 'pol_2', budgetUsdMonth: 5 })))
  expect(sick.added).toEqual([['pol_2 workspace usd month', month.name, 7_000_000]])
})

it('count again what the store has of now where the clock was set, and only there', async () => {
  const { budgets, counters } = sickStore(0)
  const [limit] = findAddedBudgets(published(), published(budget))
  const used = (at = now) => limit && counters.budgetUse(limit, { timeZone, now: at }).used
  await budgets.open()
  const steady = performance.now()
  await budgets.look(Date.now() + 1000, steady + 1000)
  expect(used()).toBe(5_000_000)
  // A clock that is ahead by two months takes the place of this one.
  const ahead = Date.UTC(2027, 0, 15)
  const { name } = findPeriod(
    'month',
    timeZone,
    Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth() + 2, 15),
  )
  counters.addUsed([limit?.counter ?? '', name, 1])
  expect(used()).toBe(0)
  await budgets.look(Date.now() + 2000, steady + 2000)
  expect(used()).toBe(0)
  await budgets.look(ahead, steady + 3000)
  expect(used()).toBe(5_000_000)
})

it('of a node go by the clock of its cluster, whatever its own is set to', async () => {
  const { budgets, counters, listed } = sickStore(0)
  await budgets.open()
  expect(listed).toHaveLength(1)
  await budgets.look()
  expect(listed).toHaveLength(1)
  // Its own was set back by 62 days.
  const ahead = 62 * 86_400_000
  counters.budgetParts.rows.clockAhead = ahead
  const [day, of] = (['day', 'month'] as const).map((each) => findPeriod(each, timeZone, Date.now() + ahead).name)
  await budgets.look()
  expect(listed.slice(1)).toEqual([[day, of]])
})
