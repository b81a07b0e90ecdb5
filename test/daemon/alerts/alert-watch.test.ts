import { createSecretKey, randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AlertEvent } from '../../../src/core/alert.ts'
import { AlertWatch } from '../../../src/daemon/alerts/alert-watch.ts'
import type { HealthView } from '../../../src/routing/health.ts'
import { makeKeyring } from '../../../src/sealing/keyring.ts'
import type { Alert, StoreClient } from '../../../src/store/api.ts'
import type { Readiness } from '../../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makeProvider } from '../../support/snapshot.ts'
import { Receivers, Store } from './support.ts'

type Runtime = ConstructorParameters<typeof AlertWatch>[0]['runtime']

const hourMs = 3600_000
const keyring = makeKeyring({ keyId: 'a'.repeat(12), key: createSecretKey(randomBytes(32)), source: 'test' })

let store: Store
let receivers: Receivers
let live: HealthView
let readiness: Readiness['state']
let clock: { now: number }
let consoleUrl: string | null
let warnings: string[]
let watch: AlertWatch
let tellTraffic: Parameters<StoreClient['onTraffic']>[0]

beforeEach(() => {
  store = new Store()
  receivers = new Receivers()
  live = { state: 'ready' }
  readiness = 'ready'
  clock = { now: Date.parse('2026-03-10T12:00:00Z') }
  warnings = []
  consoleUrl = null
  watch = open()
})
afterEach(() => watch.stop())

function open(): AlertWatch {
  const runtime: Partial<Runtime> = {
    snapshot: () => {
      const provider = makeProvider('openai', { readiness: { state: readiness, reason: null, since: '' } })
      return { configuration: makeConfiguration({ providers: [provider] }), keys: [] }
    },
    health: () => live,
    // The disk of this machine is its own.
    dataDirectory: '/nowhere',
  }
  const client: Partial<StoreClient> = {
    alerts: store.tables as StoreClient['alerts'],
    onTraffic: (listener) => {
      tellTraffic = listener
      return () => {}
    },
  }
  const nothing = () => {}
  const warn = (message: string, fields?: object) => warnings.push([message, ...Object.values(fields ?? {})].join(': '))
  return new AlertWatch({
    store: client as StoreClient,
    keyring,
    runtime: runtime as Runtime,
    settings: () => ({ gateway: { tls: null }, console: { tls: null, url: consoleUrl } }),
    transport: async () => receivers,
    log: { debug: nothing, info: nothing, warn, error: nothing },
    now: () => clock.now,
  })
}

function addAlert(name: string, change: Partial<Alert> = {}, events: AlertEvent[] = ['provider']): void {
  const id = `alr_${name}`
  const receiver = JSON.stringify({ url: `http://${name}.example/hook`, secret: null })
  const shown = { shownUrl: `http://${name}.example`, format: 'webhook', active: true, createdAt: '' } as const
  store.alerts.push({ ...{ id, name, events, ...shown, sealed: keyring.seal(receiver, `alert:${id}`) }, ...change })
}

const failing = (): HealthView => ({ state: 'cooling-down', until: clock.now + 1, exhausted: false })
/** Another process, on the same store. */
function restart(): void {
  watch.stop()
  watch = open()
  watch.start()
}
/** A look, and what it sends. */
async function look(): Promise<void> {
  await watch.look()
  await watch.sendDue()
}
const types = () => store.deliveries.map(({ alertId, message }) => `${alertId} ${message.type}`)
const states = () => store.deliveries.map(({ state, tries }) => `${state} ${tries}`)

describe('a look', () => {
  it('asks nothing of the gateway where there is no alert, or none that is active', async () => {
    live = failing()
    await look()
    addAlert('off', { active: false })
    await look()
    expect([store.deliveries, receivers.calls]).toEqual([[], []])
  })

  it('reports to each alert what that one is for, once', async () => {
    addAlert('ops')
    addAlert('money', {}, ['budget'])
    addAlert('all', {}, ['provider', 'budget', 'disk'])
    live = failing()
    for (let time = 0; time < 3; time++) await look()
    expect(types()).toEqual(['alr_ops provider.failing', 'alr_all provider.failing'])
    expect(receivers.paths.sort()).toEqual(['http://all.example/hook', 'http://ops.example/hook'])
  })

  it('links the page of the console where that has a public URL', async () => {
    addAlert('ops')
    consoleUrl = 'https://spgw.example'
    live = failing()
    await look()
    expect(store.deliveries[0]?.message.data.url).toBe('https://spgw.example/providers/openai')
  })

  it('reports what still holds to an alert that is added or becomes active later', async () => {
    addAlert('ops')
    addAlert('late', { active: false })
    live = failing()
    await look()
    store.alerts = store.alerts.map((alert) => ({ ...alert, active: true }))
    await look()
    expect(types()).toEqual(['alr_ops provider.failing', 'alr_late provider.failing'])
  })

  it('says that a provider works again to who has heard that it failed', async () => {
    addAlert('ops')
    live = failing()
    await look()
    live = { state: 'ready' }
    addAlert('late')
    await look()
    expect(types()).toEqual(['alr_ops provider.failing', 'alr_ops provider.recovered'])
    live = failing()
    await look()
    expect(types().slice(2)).toEqual(['alr_ops provider.failing', 'alr_late provider.failing'])
  })

  it('says that a provider works again once it answers, and not when its credential was replaced without a check', async () => {
    addAlert('ops')
    readiness = 'failing'
    await look()
    readiness = 'unchecked'
    await look()
    expect(types()).toEqual(['alr_ops provider.failing'])
    readiness = 'failing'
    await look()
    readiness = 'unchecked'
    await look()
    readiness = 'ready'
    await look()
    expect(types()).toEqual(['alr_ops provider.failing', 'alr_ops provider.recovered'])
  })

  it('after a start says that a provider works again only once it has, and reports nothing that still fails twice', async () => {
    addAlert('ops')
    live = failing()
    await look()
    restart()
    live = { state: 'ready' }
    await look()
    live = failing()
    await look()
    expect(types()).toEqual(['alr_ops provider.failing'])
    live = { state: 'ready' }
    await look()
    expect(types().slice(1)).toEqual(['alr_ops provider.recovered'])
    live = failing()
    await look()
    restart()
    live = { state: 'ready' }
    const answered = (outcome: 'answered' | 'failed') => {
      const nothing = { served: [], errors: [], durations: [], firstBytes: [], seconds: [] }
      tellTraffic({ ...nothing, attempts: [{ provider: 'openai', model: 'gpt', outcome, count: 1 }] })
    }
    answered('failed')
    await look()
    expect(types().slice(2)).toEqual(['alr_ops provider.failing'])
    answered('answered')
    await look()
    expect(types().slice(3)).toEqual(['alr_ops provider.recovered'])
  })

  it('after a start reports errors that go on once, and waits to see whether they do', async () => {
    addAlert('ops', {}, ['errors'])
    const second = () => Math.floor(clock.now / 1000)
    const failed = (requests: number) => {
      const tally = { second: second(), requests, errors: requests, failures: requests, usd: null, latencies: [] }
      const nothing = { served: [], errors: [], durations: [], firstBytes: [], attempts: [] }
      tellTraffic({ ...nothing, seconds: [tally] })
    }
    restart()
    failed(30)
    await look()
    restart()
    failed(10)
    await look()
    failed(20)
    await look()
    expect(types()).toEqual(['alr_ops errors.high'])
    expect(store.crossings).toHaveLength(1)
    clock.now += 400_000
    await look()
    expect(store.crossings).toEqual([])
  })

  it('of a store in trouble reports it to the log, and the next one looks as if it had not been', async () => {
    addAlert('ops')
    live = failing()
    store.failures = [new Error('the disk is full')]
    await watch.look()
    expect(warnings).toEqual(['alerts were not checked: the disk is full'])
    await look()
    expect(types()).toEqual(['alr_ops provider.failing'])
  })

  it('is the one that is under way for all who ask meanwhile', async () => {
    addAlert('ops')
    live = failing()
    await Promise.all([watch.look(), watch.look(), watch.look()])
    expect(types()).toEqual(['alr_ops provider.failing'])
  })
})

describe('what was reported long ago', () => {
  it('is forgotten once an hour, but for what still holds', async () => {
    addAlert('ops')
    live = failing()
    await look()
    clock.now += hourMs
    await look()
    clock.now += 1
    await look()
    expect(store.forgotten).toEqual([
      { time: '2026-01-07T12:00:00.000Z', kept: ['provider prv_openai'] },
      { time: '2026-01-07T13:00:00.001Z', kept: ['provider prv_openai'] },
    ])
  })

  it('is forgotten also after the clock was wrong by years', async () => {
    addAlert('ops')
    clock.now += 10 * 365 * 24 * hourMs
    await look()
    clock.now -= 10 * 365 * 24 * hourMs
    await look()
    expect(store.forgotten.map(({ time }) => time.slice(0, 4))).toEqual(['2036', '2026'])
  })
})

describe('a delivery', () => {
  it('is tried again under the same id, later and later, until it arrives', async () => {
    addAlert('ops')
    live = failing()
    receivers.status = 503
    await look()
    expect(states()).toEqual(['pending 1'])
    clock.now += 4999
    await look()
    expect(receivers.calls).toHaveLength(1)
    clock.now += 1
    await look()
    receivers.status = 204
    clock.now += 60_000
    await look()
    await look()
    const ids = receivers.calls.map(({ request }) => request.headers[request.headers.indexOf('webhook-id') + 1])
    expect(ids).toEqual(Array(3).fill(store.deliveries[0]?.id))
    expect(states()).toEqual(['delivered 3'])
    expect(watch.counts).toEqual({ delivered: 1, retried: 2, failed: 0 })
    expect(warnings[0]).toMatch(/^an alert was not delivered: ops: msg_\w+: it answered 503$/)
  })

  it('fails after eight tries, and is left alone', async () => {
    addAlert('ops')
    live = failing()
    receivers.status = 500
    for (let time = 0; time < 10; time++) {
      await look()
      clock.now += 24 * hourMs
    }
    expect(states()).toEqual(['failed 8'])
    expect(watch.counts).toEqual({ delivered: 0, retried: 7, failed: 1 })
  })

  it('of which two looks know at once is sent once', async () => {
    addAlert('ops')
    live = failing()
    receivers.status = null
    await watch.look()
    await receivers.called(1)
    const others = [watch.sendDue(), watch.sendDue()]
    receivers.answer(0, 200)
    await Promise.all(others)
    await watch.sendDue()
    expect([receivers.calls.length, states()]).toEqual([1, ['delivered 1']])
  })

  it('waits for the one before it to the same receiver, and for none to another', async () => {
    addAlert('slow')
    addAlert('ops')
    live = failing()
    receivers.status = null
    await watch.look()
    await receivers.called(2)
    live = { state: 'ready' }
    await watch.look()
    receivers.answer(receivers.paths.indexOf('http://ops.example/hook'), 200)
    await receivers.called(3)
    expect(receivers.paths.sort()).toEqual([...Array(2).fill('http://ops.example/hook'), 'http://slow.example/hook'])
  })

  it('that is answered after the end is left for the next start', async () => {
    addAlert('ops')
    live = failing()
    receivers.status = null
    await watch.look()
    await receivers.called(1)
    watch.stop()
    const sent = watch.sendDue()
    receivers.answer(0, 200)
    await sent
    expect(states()).toEqual(['pending 0'])
    watch = open()
    receivers.status = 200
    await watch.sendDue()
    expect(states()).toEqual(['delivered 1'])
  })

  it('whose receiver cannot be decrypted is a try that failed, and keeps no other back', async () => {
    addAlert('moved', { sealed: keyring.seal('{}', 'alert:alr_other') })
    addAlert('ops')
    live = failing()
    await look()
    expect(states()).toEqual(['pending 1', 'delivered 1'])
    expect(store.deliveries[0]).toMatchObject({ status: null, reason: expect.stringMatching(/./) })
  })

  it('whose alert was removed meanwhile is sent nowhere', async () => {
    addAlert('ops')
    live = failing()
    receivers.status = 500
    await look()
    store.alerts = []
    clock.now += hourMs
    await watch.sendDue()
    expect([receivers.calls.length, states()]).toEqual([1, ['pending 1']])
  })
})

it('looks every five seconds from its start to its end', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const looked = vi.spyOn(watch, 'look')
    watch.start()
    watch.start()
    vi.advanceTimersByTime(15_000)
    expect(looked).toHaveBeenCalledTimes(3)
    watch.stop()
    vi.advanceTimersByTime(15_000)
    expect(looked).toHaveBeenCalledTimes(3)
  } finally {
    vi.useRealTimers()
  }
})
