import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { AddressForm } from '../../src/addresses/recorded-address.ts'
import type { JournalEntry } from '../../src/core/journal-format.ts'
import type { TimeLimits } from '../../src/core/lane.ts'
import type { BatchInput } from '../../src/core/objects/batch-input.ts'
import { type AccountLimits, noAccountLimits } from '../../src/core/policies/policy-limits.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { mintGatewayKey } from '../../src/core/secrets/gateway-key.ts'
import { attachShared, createSharedMemory, type Shared } from '../../src/daemon/health/memory.ts'
import type { FromThread, ServerCertificate, ThreadStart, ToThread } from '../../src/gateway/thread/messages.ts'
import { needsPatterns } from '../../src/gateway/thread/pattern-engine.ts'
import { heldBytes, requestsInFlight } from '../../src/policy/counters.ts'
import type { LimitCounters } from '../../src/policy/limits/limit-counters.ts'
import type { HealthView } from '../../src/routing/health.ts'
import type {
  ConfigurationSnapshot,
  SnapshotKey,
  SnapshotPolicy,
  SnapshotRoute,
} from '../../src/store/configuration/snapshot.ts'
import { JournalReader } from './journal-reader.ts'
import { makeConfiguration, makeRoute, makeTarget } from './snapshot.ts'
import { patternScript, threadModule } from './thread-module.ts'

export type ConfigurationChange =
  | Partial<ConfigurationSnapshot>
  | ((now: ConfigurationSnapshot) => Partial<ConfigurationSnapshot>)

export interface DataPlane {
  baseUrl: string
  key: string
  /** Of a second key, `key_2`; there is one where the options ask for it. */
  otherKey: string
  inFlight(): number
  /** What all threads share, as the control plane sees it. */
  shared: Shared
  /** What counts in limits, as other threads see it. */
  limits: LimitCounters
  /** Bytes of large bodies. */
  held(): number
  /** Of a provider, by its place among the providers; of a model there, as a key would meet it. */
  health(slot: number, credentials?: number, model?: string, keyId?: string): HealthView
  /** What was found of a provider is forgotten, as after a good check. */
  heal(slot: number): void
  /** The provider has failed so often, and so long ago, that one request may probe. */
  failLongAgo(slot: number): void
  tell(message: ToThread, transfer?: readonly MessagePort[]): void
  /** A new snapshot; what is not named stays. */
  configure(change: ConfigurationChange): void
  /** The next message of the type. */
  hear(type: FromThread['type']): Promise<FromThread>
  /** Every object that is asked for from now on is the one key's, at that provider: the first where none is named. */
  ownAll(provider?: string, input?: BatchInput): void
  /** Nobody owns any object. */
  ownNothing(): void
  /** Resolves when new connections see the certificate. */
  change(certificate: ServerCertificate): Promise<void>
  /** Of the one key; null removes it. Resolves when the thread has the change. */
  changeKey(change: Partial<SnapshotKey> | null): Promise<void>
  /** The settled record of a request, once it stands in the journal. */
  record(id: string | null): Promise<RequestRecord>
  /** All settled records, in the order written. */
  records(): RequestRecord[]
  /** All that stands in the journal, in the order written. */
  entries(): JournalEntry[]
  /** The record that was settled last. */
  newest(): RequestRecord | null
  /** As at the gateway's end; the records can still be read. */
  drain(limitMs: number): Promise<void>
  stop(): Promise<void>
}

export interface DataPlaneOptions {
  /** One provider a name, which is its kind's unless it has one of its own; the model `NAME-model` goes to it. */
  providers: {
    kind: string
    name?: string
    baseUrl: string
    credentials?: string[]
    headers?: Record<string, string>
    settings?: Record<string, string | boolean>
    /** Of its account. */
    limits?: Partial<AccountLimits>
  }[]
  /** Of the one key; epoch milliseconds. */
  revokedAt?: number | null
  policies?: SnapshotPolicy[]
  /** Whether there is a second key beside it. */
  twoKeys?: boolean
  /** More routes; a provider's id is `prv_NAME`. */
  routes?: SnapshotRoute[]
  keepAliveMs?: number
  timeouts?: Partial<TimeLimits>
  trustedProxies?: string[]
  bodyLimit?: number
  uploadLimit?: number
  translateLimit?: number
  heldLimit?: number
  webrtc?: boolean
  traces?: boolean
  clientAddress?: AddressForm
  /** Default: plain HTTP. */
  certificate?: ServerCertificate | null
  /** Calls that name no model and no object go to the provider of their lane. */
  defaults?: boolean
  /** False: it is not known yet what budgets have spent. */
  seeded?: boolean
  /** A module that runs the thread in its own way. */
  thread?: URL
}

const limits = { connect: 5000, firstByte: 10_000, betweenChunks: 10_000, total: 30_000 }

/** One data-plane thread alone, fed with a snapshot by hand: for what a whole gateway cannot be told to do quickly. */
export async function startDataPlane({
  providers,
  routes = [],
  policies = [],
  revokedAt = null,
  twoKeys = false,
  keepAliveMs = 15_000,
  timeouts = {},
  trustedProxies = [],
  bodyLimit = 100_000_000,
  uploadLimit = 2_000_000_000,
  translateLimit = 32_000_000,
  heldLimit = 2_000_000_000,
  webrtc = false,
  traces = false,
  clientAddress = 'full',
  certificate = null,
  seeded = true,
  defaults = false,
  thread = threadModule('gateway-thread'),
}: DataPlaneOptions): Promise<DataPlane> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'spgw-data-plane-'))
  const memory = createSharedMemory(1)
  if (seeded) attachShared(memory).limits.seed([])
  const settings = {
    host: '127.0.0.1',
    port: 0,
    url: null,
    reusePort: true,
    bodyLimit,
    uploadLimit,
    translateLimit,
    heldLimit,
    proxies: { http: null, https: null, except: '' },
    timeouts: { ...limits, ...timeouts },
    keepAliveMs,
    trustedProxies,
    corsOrigins: ['https://app.example'],
    clientAddress,
    webrtc,
    traces,
    leaving: false,
  }
  const worker = new Worker(thread, {
    workerData: {
      settings,
      certificate,
      journal: { directory, boot: 'test', thread: 0 },
      healthMemory: memory.health,
      routingMemory: memory.routing,
      counterMemory: memory.counters,
      counterLayout: memory.layout,
      limitMemory: memory.limits,
      liveness: memory.liveness,
      column: 0,
    } satisfies ThreadStart,
  })
  const tell = (message: ToThread, transfer: readonly MessagePort[] = []) => worker.postMessage(message, transfer)
  const hear = (type: FromThread['type']) =>
    new Promise<FromThread>((resolve, reject) => {
      const listen = (message: FromThread) => {
        if (message.type !== type) return
        worker.off('message', listen).off('error', reject)
        resolve(message)
      }
      worker.once('error', reject)
      worker.on('message', listen)
    })
  await hear('started')
  const key = mintGatewayKey()
  const snapshot = snapshotOf(providers, routes)
  const defaultProviders: ConfigurationSnapshot['defaultProviders'] = defaults ? { env_1: defaultsOf(providers) } : {}
  let configured = { ...snapshot, policies, defaultProviders }
  const configure = (change: ConfigurationChange) => {
    const changed = typeof change === 'function' ? change(configured) : change
    configured = { ...configured, ...changed, version: configured.version + 1 } as typeof configured
    tell({
      type: 'configuration',
      snapshot: configured,
      patternScript: needsPatterns(configured) ? patternScript() : null,
    })
  }
  configure({})
  let keysVersion = 1
  const otherKey = mintGatewayKey()
  const second = twoKeys ? [{ ...keyRow(otherKey, null), id: 'key_2', name: 'second' }] : []
  const upsert = [keyRow(key, revokedAt), ...second]
  tell({ type: 'keys', delta: { full: true, version: keysVersion, upsert, remove: [] } })
  const listening = hear('listening')
  tell({ type: 'listen' })
  const message = await listening
  const port = message.type === 'listening' ? message.port : 0
  let index: Worker | null = null
  let drained: Promise<unknown> | null = null
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const drain = async (limitMs: number) => {
    if (drained === null) {
      drained = Promise.race([hear('drained'), ended])
      tell({ type: 'drain', limitMs })
    }
    await drained
  }
  const stop = async () => {
    await drain(0)
    await index?.terminate()
    await worker.terminate()
    fs.rmSync(directory, { recursive: true, force: true })
  }
  const journal = new JournalReader(directory)
  const settled = () => journal.read().settled
  const record = async (id: string | null) => {
    for (;;) {
      const found = settled().findLast((one) => one.id === id)
      if (found !== undefined) return found
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const shared = attachShared(memory)
  const { counters, health, limits: limitCounters } = shared
  return {
    baseUrl: `${certificate === null ? 'http' : 'https'}://127.0.0.1:${port}`,
    key,
    otherKey,
    shared,
    limits: limitCounters,
    inFlight: () => counters.read(requestsInFlight),
    held: () => counters.read(heldBytes),
    health: (slot, credentials, model, keyId) => {
      const target = model === undefined ? null : { slot, model, pattern: null }
      return health.view(slot, Date.now(), credentials, target, keyId ?? null)
    },
    heal: (slot) => health.markReady(slot),
    failLongAgo: (slot) => {
      const target = { slot, model: '', pattern: null }
      const cut = { provider: 'failure', target: 'failure', cause: 2 } as const
      for (let time = 0; time < 5; time++) {
        const then = Date.now() - 3_600_000
        const entry = health.enter(target, null, then)
        if (entry !== null) health.record(entry, target, cut, null, then)
      }
    },
    tell,
    configure,
    hear,
    ownAll: (provider = providers[0]?.kind ?? '', input) => {
      void index?.terminate()
      index = attachIndex(worker, `prv_${provider}`, input)
    },
    ownNothing: () => {
      index = attachIndex(worker, null)
    },
    change: async (next) => {
      const done = hear('has-settings')
      tell({ type: 'settings', version: 1, settings, certificate: next })
      await done
    },
    changeKey: async (change) => {
      const done = hear('has')
      const row = keyRow(key, revokedAt)
      const what =
        change === null ? { upsert: [], remove: [row.hash] } : { upsert: [{ ...row, ...change }], remove: [] }
      tell({ type: 'keys', delta: { full: false, version: ++keysVersion, ...what } })
      await done
    },
    record,
    records: () => [...settled()],
    entries: () => journal.entries(),
    newest: () => settled().at(-1) ?? null,
    drain,
    stop,
  }
}

/** In a thread of its own, since a request waits for the index no longer than a second. */
function attachIndex(worker: Worker, providerId: string | null, input: BatchInput | null = null): Worker {
  const { port1, port2 } = new MessageChannel()
  const index = new Worker(
    `const { workerData: { port, place, input } } = require('node:worker_threads')
    port.on('message', ({ id, kind, names, scope }) => {
      const asked = place.providerId === null ? [] : Object.entries(JSON.parse(names ?? '{}'))
      const objects = asked.flatMap(([type, ids]) => ids.map((id) => ({ type, id, ...scope, ...place })))
      if (kind === 'input') return port.postMessage({ id, kind, input, adopted: false })
      const held = { model: 'openai-model', owner: scope, tokens: { input: 10, output: 20 } }
      if (kind === 'work') return port.postMessage({ id, kind, held: JSON.stringify(held) })
      port.postMessage(kind === 'find' ? { id, kind: 'found', objects } : { id, kind, places: [{ ...place, count: 1 }] })
    })`,
    {
      eval: true,
      workerData: {
        port: port1,
        input,
        place: { providerId, credentialId: 'cre_0', keyId: 'key_1', requestId: null, createdAt: '' },
      },
      transferList: [port1],
    },
  )
  index.unref()
  worker.postMessage({ type: 'objects', port: port2 } satisfies ToThread, [port2])
  return index
}

/** By lane, as an environment has them. */
function defaultsOf(providers: DataPlaneOptions['providers']): Record<string, string> {
  return Object.fromEntries(providers.map(({ kind, name = kind }) => [kind, `prv_${name}`]))
}

function snapshotOf(providers: DataPlaneOptions['providers'], more: SnapshotRoute[]) {
  const scope = { projectId: 'prj_1', project: 'default' }
  return makeConfiguration({
    providers: providers.map(
      (
        { kind, name = kind, baseUrl, credentials = ['provider-credential'], headers = {}, settings = {}, limits = {} },
        slot,
      ) => ({
        id: `prv_${name}`,
        name,
        kind,
        slot,
        revision: 1,
        active: true,
        readiness: { state: 'ready' as const, reason: null, since: null },
        baseUrl,
        credentials: credentials.map((value, place) => ({ id: `cre_${place}`, value })),
        headers,
        timeouts: {},
        projects: null,
        models: [],
        settings,
        limits: { ...noAccountLimits, ...limits },
      }),
    ),
    routes: [
      ...providers.map(({ kind, name = kind }) => makeRoute(`${name}-model`, [makeTarget(name)], { retries: 0 })),
      ...more,
    ].map((route) => ({ ...route, ...scope })),
  })
}

function keyRow(key: string, revokedAt: number | null) {
  return {
    hash: createHash('sha256').update(key).digest('base64'),
    id: 'key_1',
    name: 'test',
    lastFour: key.slice(-4),
    projectId: 'prj_1',
    project: 'default',
    environmentId: 'env_1',
    environment: 'production',
    policyId: null,
    tags: { team: 'a' },
    expiresAt: null,
    revokedAt,
  }
}
