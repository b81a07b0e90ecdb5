import { beforeEach, expect, it } from 'vitest'
import type { Runtime, RuntimeStatus } from '../../src/admin/handlers/context.ts'
import { readGatewayState } from '../../src/daemon/console-state.ts'
import { startTestGateway } from '../admin/gateway.ts'

const none = { delivered: 0, retried: 0, failed: 0 }

const health = {
  degraded: null,
  databaseBytes: 10,
  removalHeldUntil: null,
  databaseMostBytes: null,
  journalBytes: 20,
  diskFreeBytes: 30,
  schemaVersion: '1',
  setAside: ['a.journal'],
  cache: { answers: 0, bytes: 0, hits: 0, misses: 0 },
  storedAt: null,
}

let runtime: Runtime
beforeEach(async () => {
  const gateway = await startTestGateway()
  const add = { kind: 'demo', tags: {} }
  await gateway.client.providers.add({ name: 'ours', ...add })
  await gateway.client.providers.add({ name: 'resting', ...add, inactive: true })
  await gateway.client.routes.add({ model: 'any-*', targets: ['ours'] })
  await gateway.client.routes.add({ model: 'ours-1', targets: ['ours'] })
  const { id } = await gateway.client.keys.create({ name: 'ci' })
  await gateway.client.keys.create({ name: 'live' })
  await gateway.client.keys.revoke({ key: id })
  runtime = gateway.parts.runtime
})

it('tells what there is', async () => {
  expect(readGatewayState(runtime, none)).toMatchObject({
    providers: [
      { name: 'ours', kind: 'demo', state: 'ready' },
      { name: 'resting', state: 'inactive' },
    ],
    routes: 2,
    keys: 1,
    databaseBytes: null,
  })
})

it('puts what traffic found before what the check found', async () => {
  const state = async (live: ReturnType<Runtime['health']>) => {
    const found = readGatewayState({ ...runtime, health: () => live }, none)
    return found.providers[0]?.state
  }
  expect(await state({ state: 'open', until: 1 })).toBe('failing')
  expect(await state({ state: 'half-open' })).toBe('recovering')
})

it('says what is degraded and how often, and what the store said last', () => {
  const since = '2026-01-02T03:04:05.000Z'
  const status = (): RuntimeStatus => ({
    ...runtime.status(),
    degraded: [{ part: 'store', reason: 'the disk is full', since }],
    degradedTimes: new Map([['store', 3]]),
    store: health,
    entriesLost: 4,
    longTurns: [],
    traces: null,
  })
  expect(readGatewayState({ ...runtime, status }, none)).toMatchObject({
    parts: [
      { part: 'journal', degraded: false, times: 0 },
      { part: 'store', degraded: true, times: 3 },
      { part: 'thread', degraded: false, times: 0 },
      { part: 'configuration', degraded: false, times: 0 },
      { part: 'backup', degraded: false, times: 0 },
      { part: 'postgres', degraded: false, times: 0 },
      { part: 'valkey', degraded: false, times: 0 },
      { part: 'outbox', degraded: false, times: 0 },
      { part: 'records', degraded: false, times: 0 },
      { part: 'isolated', degraded: false, times: 0 },
      { part: 'membership', degraded: false, times: 0 },
    ],
    databaseBytes: 10,
    journalBytes: 20,
    recordLagMs: null,
    setAside: ['a.journal'],
    entriesLost: 4,
    longTurns: [],
    traces: null,
  })
})

it('tells what is used of budgets, by where they apply', async () => {
  const { client, used, parts } = await startTestGateway()
  const budgets = { budgetUsdMonth: 200, budgetTokensDay: 1000, rpm: 5 }
  const policy = await client.policies.add({ name: 'team', ...budgets, attach: ['project:default', 'workspace'] })
  await client.policies.add({ name: 'users', budgetUsdDay: 1, per: 'user', attach: ['workspace'] })
  used.set(`${policy.id} workspace usd month`, { used: 42.1e9, held: 0.02e9, holders: 0, resetsAt: 60_000 })
  const team = { policy: 'team', used: 0, held: 0 }
  const dollars = { ...team, kind: 'usd', period: 'month', limit: 200 }
  const tokens = { ...team, kind: 'tokens', period: 'day', limit: 1000 }
  expect(readGatewayState(parts.runtime, none).budgets).toEqual([
    { ...dollars, scope: 'project:default' },
    { ...tokens, scope: 'project:default' },
    { ...dollars, scope: 'workspace', used: 42.1, held: 0.02 },
    { ...tokens, scope: 'workspace' },
  ])
  // The one nearest to its end comes first.
  const { budgets: shown } = await client.status({})
  expect(shown.map(({ scope, used }) => [scope, used])).toEqual([
    ['workspace', 42.1],
    ['project:default', 0],
    ['project:default', 0],
    ['workspace', 0],
  ])
})
