import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { noAccountLimits } from '../../../src/core/policies/policy-limits.ts'
import { ReadinessKeeper, type ReadinessPorts } from '../../../src/daemon/health/readiness.ts'
import type { TrafficEvent } from '../../../src/gateway/gateway.ts'
import type { CheckResult } from '../../../src/providers/contract.ts'
import type { Provider } from '../../../src/store/api.ts'

const good: CheckResult = { ok: true, reason: null, message: 'The credential works.', models: [] }
const bad: CheckResult = { ok: false, reason: 'unreachable', message: 'nobody answers', models: [] }
const rejected: CheckResult = { ok: false, reason: 'credential_rejected', message: '401', models: [] }
const failing: TrafficEvent = { type: 'calls-failing', providerId: 'prv_1', trip: 'caller' }
const suspect: TrafficEvent = { type: 'credential-suspect', providerId: 'prv_1', credentialId: null, reason: null }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type State = Provider['readiness']['state']

/** One provider in a store of one row; what checks find, in their order, the last of them from then on. */
function stage(state: State, results: (CheckResult | Promise<CheckResult>)[]) {
  const since = new Date().toISOString()
  const provider: Provider = {
    id: 'prv_1',
    name: 'one',
    kind: 'openai',
    active: true,
    projects: null,
    tags: {},
    activeRevision: 1,
    readiness: { state, reason: null, since },
    models: [],
    limits: noAccountLimits,
    createdAt: since,
    revision: {
      number: 1,
      baseUrl: 'https://api.example/v1',
      headers: {},
      timeouts: {},
      settings: {},
      credentials: [],
      createdAt: since,
      createdBy: 'test',
    },
  }
  const seen = { logged: [] as string[], published: 0, paused: 0, markedReady: 0 }
  /** Thrown by the next call of the store, or by the next publication. */
  const broken: { store?: Error | undefined; publish?: Error | undefined } = {}
  const strike = (part: 'store' | 'publish') => {
    const error = broken[part]
    broken[part] = undefined
    if (error !== undefined) throw error
  }
  const line = (message: string) => void seen.logged.push(message)
  const providers = {
    list: async () => [provider],
    find: async () => {
      strike('store')
      return { ...provider }
    },
    setReadiness: async (_id: string, readiness: Provider['readiness']) => {
      provider.readiness = readiness
    },
  }
  const keeper = new ReadinessKeeper({
    store: { providers } as unknown as ReadinessPorts['store'],
    keyring: {} as ReadinessPorts['keyring'],
    transport: () => Promise.reject(new Error('nothing is sent')),
    log: { debug: line, info: line, warn: line, error: line },
    async publish() {
      seen.published++
      strike('publish')
    },
    markReady: () => void seen.markedReady++,
    pause: () => void seen.paused++,
    coolDown: () => true,
  })
  const check = vi.spyOn(keeper, 'check').mockImplementation(async () => {
    const [next = good] = results.length > 1 ? results.splice(0, 1) : results
    return next
  })
  return { keeper, provider, seen, broken, checks: () => check.mock.calls.length }
}

const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * 60_000)

it('checks what was failing at the start, and again at growing intervals until it answers', async () => {
  const { keeper, provider, checks, seen } = stage('failing', [bad, bad, bad, good])
  await keeper.start()
  await vi.advanceTimersByTimeAsync(0)
  expect(checks()).toBe(1)
  // After 30 s, a minute and two.
  for (const [seconds, count] of [
    [30, 2],
    [59, 2],
    [1, 3],
    [119, 3],
    [1, 4],
  ] as const) {
    await vi.advanceTimersByTimeAsync(seconds * 1000)
    expect([seconds, checks()]).toEqual([seconds, count])
  }
  expect([provider.readiness.state, seen.markedReady]).toEqual(['ready', 1])
  await minutes(30)
  expect(checks()).toBe(4)
})

it('checks again after a check that met a locked database', async () => {
  const { keeper, provider, broken, seen } = stage('failing', [good])
  broken.store = new Error('database is locked')
  await keeper.start()
  await vi.advanceTimersByTimeAsync(0)
  expect([provider.readiness.state, seen.logged]).toEqual(['failing', ['check failed']])
  await minutes(1)
  expect(provider.readiness.state).toBe('ready')
})

it('checks again what could not be published as failing', async () => {
  const { keeper, provider, broken } = stage('ready', [rejected, good])
  broken.publish = new Error('no thread answers')
  await expect(keeper.onTraffic(suspect)).rejects.toThrow('no thread answers')
  expect(provider.readiness.state).toBe('failing')
  await minutes(1)
  expect(provider.readiness.state).toBe('ready')
})

it('checks again although another check was in progress when its time came', async () => {
  const slow = Promise.withResolvers<CheckResult>()
  const { keeper, provider, checks } = stage('ready', [slow.promise, rejected, good])
  const verified = keeper.onTraffic(failing)
  await vi.advanceTimersByTimeAsync(0)
  await keeper.onTraffic(suspect)
  expect([provider.readiness.state, checks()]).toEqual(['failing', 2])
  await vi.advanceTimersByTimeAsync(31_000)
  expect(checks()).toBe(2)
  slow.resolve(bad)
  await verified
  await minutes(1)
  expect(provider.readiness.state).toBe('ready')
})

it('starts one check, and no more for ten seconds, however often calls fail', async () => {
  const { keeper, checks, seen } = stage('ready', [bad])
  await Promise.all([failing, failing, failing].map((event) => keeper.onTraffic(event)))
  expect([checks(), seen.paused]).toEqual([1, 1])
  await vi.advanceTimersByTimeAsync(9999)
  await keeper.onTraffic(failing)
  expect(checks()).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  await keeper.onTraffic(failing)
  expect(checks()).toBe(2)
})

it.each<[string, State, TrafficEvent, CheckResult, State, number]>([
  [
    'an answer of one that was never checked',
    'unchecked',
    { type: 'provider-answered', providerId: 'prv_1' },
    bad,
    'ready',
    0,
  ],
  [
    'an answer of one that is failing',
    'failing',
    { type: 'provider-answered', providerId: 'prv_1' },
    bad,
    'failing',
    0,
  ],
  ['failing calls where the check passes', 'unchecked', failing, good, 'ready', 0],
  ['failing calls where the check fails, too', 'ready', failing, bad, 'ready', 1],
  ['failing calls where the credential is rejected', 'ready', failing, rejected, 'failing', 0],
  ['failing calls of one that is failing', 'failing', failing, good, 'failing', 0],
  ['a rejected credential that passes its check', 'ready', suspect, good, 'ready', 0],
  ['a rejected credential where nobody answers', 'ready', suspect, bad, 'ready', 1],
  ['a rejected credential that is rejected again', 'ready', suspect, rejected, 'failing', 0],
  [
    'a used-up account',
    'ready',
    { type: 'quota-exhausted', providerId: 'prv_1', credentialId: null, reason: 'no credit' },
    good,
    'failing',
    0,
  ],
])('takes %s for what it is', async (_what, before, event, result, after, paused) => {
  const { keeper, provider, seen } = stage(before, [result])
  await keeper.onTraffic(event)
  expect([provider.readiness.state, seen.paused]).toEqual([after, paused])
})

it('checks nothing any more once it is stopped', async () => {
  const slow = Promise.withResolvers<CheckResult>()
  const { keeper, checks } = stage('failing', [slow.promise, good])
  await keeper.start()
  await vi.advanceTimersByTimeAsync(0)
  keeper.stop()
  slow.resolve(bad)
  await minutes(30)
  expect(checks()).toBe(1)
})

it.each<[string, State, TrafficEvent, CheckResult]>([
  ['a rejected credential', 'ready', suspect, rejected],
  ['failing calls', 'ready', failing, rejected],
  ['failing calls, answered well', 'unchecked', failing, good],
])(
  'says nothing of a provider that was changed while its check was under way: %s',
  async (_what, before, event, result) => {
    const slow = Promise.withResolvers<CheckResult>()
    const { keeper, provider, seen } = stage(before, [slow.promise])
    const handled = keeper.onTraffic(event)
    await vi.advanceTimersByTimeAsync(0)
    provider.revision = { ...provider.revision, number: 2 }
    slow.resolve(result)
    await handled
    expect([provider.readiness.state, seen.paused]).toEqual([before, 0])
  },
)

it('checks again what was changed while it was checked after a failure', async () => {
  const slow = Promise.withResolvers<CheckResult>()
  const { keeper, provider, seen, checks } = stage('failing', [slow.promise, good])
  await keeper.start()
  await vi.advanceTimersByTimeAsync(0)
  provider.revision = { ...provider.revision, number: 2 }
  slow.resolve(good)
  await vi.advanceTimersByTimeAsync(0)
  expect([provider.readiness.state, seen.markedReady]).toEqual(['failing', 0])
  await minutes(1)
  expect([provider.readiness.state, checks()]).toEqual(['ready', 2])
})

it('leaves a provider failing whose account was used up while a check passed', async () => {
  const slow = Promise.withResolvers<CheckResult>()
  const { keeper, provider } = stage('unchecked', [slow.promise])
  const verified = keeper.onTraffic(failing)
  await vi.advanceTimersByTimeAsync(0)
  await keeper.onTraffic({ type: 'quota-exhausted', providerId: 'prv_1', credentialId: null, reason: 'no credit' })
  slow.resolve(good)
  await verified
  expect(provider.readiness).toMatchObject({ state: 'failing', code: 'quota_exhausted' })
})
