import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { watchedBudgets } from '../../src/daemon/budgets/watched-budgets.ts'
import { isQuiet } from '../../src/daemon/cluster/is-quiet.ts'
import { departureOf } from '../../src/daemon/departure.ts'
import { openCredentials, whyShut } from '../../src/daemon/open-credentials.ts'
import { ingestSoon } from '../../src/daemon/records/ingest-soon.ts'
import { makeKeyring } from '../../src/sealing/keyring.ts'
import { machineKeyOf } from '../../src/sealing/machine-key.ts'
import type { Provider, RecordFilter, StoreClient } from '../../src/store/api.ts'
import { StoreDegraded } from '../../src/store/store-error.ts'
import { makeConfiguration, makePolicy } from '../support/snapshot.ts'

describe('the newest records', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  const store = (ingest: StoreClient['ingest']) => ({ ingest }) as Partial<StoreClient> as StoreClient

  it('are waited for, and nothing is left behind', async () => {
    await ingestSoon(
      store(async () => 0),
      () => [],
    )
    expect(vi.getTimerCount()).toBe(0)
  })

  it('are said not to be there where the store takes long, with what it says of itself', async () => {
    const never = store(() => new Promise(() => {}))
    const degraded = { part: 'store', reason: 'the disk is full', since: '' } as const
    const [plain, known] = [ingestSoon(never, () => []), ingestSoon(never, () => [degraded])]
    const refused = [
      expect(plain).rejects.toThrow('the newest records are not stored yet: the store is behind the traffic'),
      expect(known).rejects.toThrow('the newest records are not stored yet: the disk is full'),
      expect(plain).rejects.toBeInstanceOf(StoreDegraded),
    ]
    await vi.advanceTimersByTimeAsync(20_000)
    await Promise.all(refused)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('fail as the store does', async () => {
    await expect(
      ingestSoon(
        store(() => Promise.reject(new Error('locked'))),
        () => [],
      ),
    ).rejects.toThrow('locked')
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a start', () => {
  it('is quiet where earlier runs used nothing that may still count, which is looked for once all of it is stored', async () => {
    const done: string[] = []
    let filter: RecordFilter | null = null
    let found: unknown[] = []
    const store = {
      ingest: async () => void done.push('ingest'),
      records: {
        list: async (given: RecordFilter) => {
          done.push('list')
          filter = given
          return found
        },
      },
    } as object as StoreClient
    expect(await isQuiet(store)).toBe(true)
    found = [{}]
    expect(await isQuiet(store)).toBe(false)
    expect(done).toEqual(['ingest', 'list', 'ingest', 'list'])
    const { since = '', limit } = filter ?? { limit: 0 }
    expect(Date.now() - Date.parse(since)).toBeGreaterThanOrEqual(70_000)
    expect(limit).toBe(1)
  })
})

describe('credentials of a provider', () => {
  const keyring = makeKeyring(machineKeyOf(randomBytes(32), 'test'))
  const other = makeKeyring(machineKeyOf(randomBytes(32), 'other'))
  const sealed = (by: typeof keyring, id: string, provider = 'prv_1') => ({
    ...{ id, lastFour: '', sealed: by.seal(`sk-${id}`, `credential:${provider}:${id}`) },
  })
  const provider = (...credentials: object[]) =>
    ({ id: 'prv_1', revision: { headers: {}, credentials } }) as object as Provider
  const opened = (of: Provider) => openCredentials(of, keyring).map(({ id, credential }) => [id, credential.reveal()])

  it('are those that open; one that does not keeps no other from being used', () => {
    const [a, broken, c] = [sealed(keyring, 'a'), sealed(other, 'b'), sealed(keyring, 'c')]
    expect(opened(provider(a, broken, c))).toEqual([
      ['a', 'sk-a'],
      ['c', 'sk-c'],
    ])
    expect(whyShut(provider(a, broken), keyring)).toBe(null)
    expect(whyShut(provider(broken), keyring)).toContain('its stored credential cannot be decrypted')
    expect(whyShut(provider(), keyring)).toBe(null)
  })

  it('do not open as those of another provider, or in the place of another', () => {
    const moved = sealed(keyring, 'a', 'prv_2')
    const renamed = { ...sealed(keyring, 'a'), id: 'b' }
    expect(opened(provider(moved, renamed))).toEqual([])
  })
})

it('budgets that people look at are those of a period', () => {
  const policy = makePolicy('spend', { budgetUsdMonth: 10, budgetTokensDay: 5, rpm: 60, concurrency: 2 })
  const configuration = makeConfiguration({ policies: [policy] })
  const counters = watchedBudgets({ configuration, keys: [] })
  expect(counters).toHaveLength(2)
  expect(new Set(counters).size).toBe(2)
  expect(watchedBudgets({ configuration: makeConfiguration(), keys: [] })).toEqual([])
})

it('a departure is begun and undone on every thread, and known from there', async () => {
  const workers = {
    leaving: false,
    async setLeaving(leaving: boolean) {
      this.leaving = leaving
    },
  }
  const departure = departureOf(workers, { read: () => 0 }, () => 0)
  expect(departure.begun).toBe(false)
  await departure.begin()
  expect(departure.begun).toBe(true)
  await departure.undo()
  expect(departure.begun).toBe(false)
  expect(await departure.finish()).toBe(0)
})
