import { expect, it } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { findAddedBudgets } from '../../src/daemon/added-budgets.ts'
import { Budgets } from '../../src/daemon/budgets.ts'
import type { Log } from '../../src/daemon/log.ts'
import { LimitCounters } from '../../src/policy/limits/limit-counters.ts'
import { createLimitMemory } from '../../src/policy/limits/limit-memory.ts'
import { findPeriod } from '../../src/policy/limits/periods.ts'
import type { ConfigurationSnapshot, SnapshotKey, SnapshotPolicy } from '../../src/store/configuration/snapshot.ts'
import { startTestStore, storePaths, temporaryDirectory } from '../store/support.ts'
import { encodeEntry, JournalWriter } from '../support/journal-writer.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { makeConfiguration, makeKey, makeProvider } from '../support/snapshot.ts'

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
  const account = { rpm: null, tpm: null, budgetUsdMonth: 7 }
  const [of] = findAddedBudgets(
    { configuration: makeConfiguration({ providers: [makeProvider('a')] }), keys },
    { configuration: makeConfiguration({ providers: [makeProvider('a', { limits: account })] }), keys },
  )
  expect(of).toMatchObject({ scope: 'provider:a', kind: 'usd' })
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
  ]
  writer.writeBytes(Buffer.concat(spent.map((each) => encodeEntry({ kind: 'settled', record: each }))))
  const store = await startTestStore(data)
  await store.projects.insert({ id: 'prj_a', name: 'default', createdAt: '2020-01-01T00:00:00.000Z' })
  const counters = new LimitCounters(createLimitMemory(2), 0)
  let published = { configuration: withPolicies(), keys }
  const log: Partial<Log> = {
    error: (text) => {
      throw new Error(text)
    },
  }
  const budgets = new Budgets(store, counters, log as Log)
  await budgets.open()
  const change = async (configuration: ConfigurationSnapshot) => {
    published = { configuration, keys }
    await budgets.follow(published)
  }
  await change(withPolicies())
  const wide = policy({ budgetUsdMonth: 5, budgetTokensMonth: 1000 })
  const narrow = policy({ id: 'pol_2', budgetUsdMonth: 5 }, ['env_a', 'key_1'])
  await change(withPolicies(wide, narrow))
  // Taken away, and given again.
  await change(withPolicies(wide))
  await change(withPolicies(wide, narrow))
  const expected = [
    ['pol_1 workspace tokens month', month.name, 45],
    ['pol_1 workspace usd month', month.name, 3_000_000],
    ['pol_2 env_a usd month', month.name, 2_000_000],
    ['pol_2 key_1 usd month', month.name, 2_000_000],
  ]
  expect((await store.spend.list([month.name])).used.toSorted()).toEqual(expected)
  const limits = findAddedBudgets({ configuration: withPolicies(), keys }, published)
  const used = limits.map((limit) => [limit.counter, month.name, counters.budgetUse(limit, { timeZone, now }).used])
  expect(used.toSorted()).toEqual(expected)
})
