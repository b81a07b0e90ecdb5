import { EventEmitter, on } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type AdminClient, createAdminClient } from '../../src/admin/client.ts'
import type { AdminParts, Runtime, UsedNow } from '../../src/admin/handlers/context.ts'
import { startAdminServer } from '../../src/admin/server.ts'
import { openSocketTransport } from '../../src/admin/socket-transport.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import type { Secret } from '../../src/core/secrets/secret.ts'
import { inspectContent } from '../../src/daemon/calls/inspect-content.ts'
import { describeCall, inspectRequest } from '../../src/daemon/calls/inspect-request.ts'
import { readDocuments } from '../../src/manifest/read.ts'
import type { CheckResult, ProviderKind } from '../../src/providers/contract.ts'
import { providerKinds } from '../../src/providers/index.ts'
import { makeKeyring } from '../../src/sealing/keyring.ts'
import { createMachineKey } from '../../src/sealing/machine-key.ts'
import type { StoreClient, StoredSnapshot } from '../../src/store/api.ts'
import type { ConfigurationSnapshot, SnapshotKey } from '../../src/store/configuration/snapshot.ts'
import { addScope, startTestStore, storePaths } from '../store/support.ts'
import { JournalWriter } from '../support/journal-writer.ts'
import { settled } from '../support/sample-record.ts'

export const good: CheckResult = {
  ok: true,
  reason: null,
  message: 'The credential works.',
  models: [{ name: 'gpt-4o-mini', contextTokens: 128_000, outputTokens: null }],
}

/** The control plane with everything real but the data plane, which is played by what the test says. */
export interface TestGateway {
  client: AdminClient
  store: StoreClient
  /** For calls that do not come over the socket. */
  parts: AdminParts
  socketPath: string
  databasePath: string
  /** What the next checks find; a test may look at what they were asked with. */
  checks: {
    result: CheckResult
    /** Of single credentials. */
    results: Map<string, CheckResult>
    asked: { baseUrl: string; credential: string | null }[]
  }
  published: number
  /** Keys whose streams were to be ended. */
  closed: string[]
  /** Providers that a good check brought back. */
  ready: string[]
  faults: unknown[]
  /** What is used of limits, by the names of their counters. */
  used: Map<string, UsedNow>
  /** Says that a request has settled. */
  settle(record: RequestRecord): void
  tailing: () => number
  close(): Promise<void>
}

/** As a data-plane thread does with requests that have ended. Once a test: it is always the same segment. */
export function journal({ databasePath }: TestGateway, ...records: RequestRecord[]): void {
  const place = { boot: 'live', thread: 0, sequence: 1 }
  const writer = new JournalWriter(join(dirname(databasePath), 'journal'), place, 4 * 1024 * 1024)
  writer.write(...records.map(settled))
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'spgw-admin-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** The socket is taken first and opened last, as the daemon does. */
export async function startTestGateway(
  path: string | null = null,
  kinds: readonly ProviderKind[] = providerKinds,
): Promise<TestGateway> {
  const directory = temporaryDirectory()
  const paths = storePaths(directory)
  const socketPath = path ?? join(directory, 'admin.sock')
  const server = await startAdminServer({ socketPath, socketGroup: null, dataDirectory: directory, version: '1.2.3' })
  let closing: Promise<void> | null = null
  const close = () => (closing ??= server.close())
  onTestFinished(close)
  const store = await startTestStore(paths)
  await addScope(store)
  const settled = new EventEmitter()
  const state = {
    published: 0,
    changes: 0,
    snapshot: await store.snapshot(),
    used: new Map<string, UsedNow>(),
  }
  store.onChange(() => state.changes++)
  const checks: TestGateway['checks'] = { result: good, results: new Map(), asked: [] }
  const faults: unknown[] = []
  const closed: string[] = []
  const ready: string[] = []
  const runtime: Runtime = {
    version: '1.2.3',
    startedAt: new Date().toISOString(),
    gatewayUrl: 'http://127.0.0.1:8787',
    consoleUrl: 'http://localhost:8788',
    dataDirectory: directory,
    settingsFile: null,
    async publish() {
      state.snapshot = await store.snapshot()
      state.published++
    },
    closeStreams: (keyId) => void closed.push(keyId),
    markReady: (providerId) => void ready.push(providerId),
    snapshot: () => readModel(state.snapshot),
    ingest: async () => void (await store.ingest()),
    async check(_kind, target, credential: Secret | null) {
      checks.asked.push({ baseUrl: target.baseUrl, credential: credential?.reveal() ?? null })
      return checks.results.get(credential?.reveal() ?? '') ?? checks.result
    },
    async *records(signal) {
      try {
        for await (const [record] of on(settled, 'record', { signal })) yield record as RequestRecord
      } catch (error) {
        if (!signal.aborted) throw error
      }
    },
    changes: () => state.changes,
    onChange: (listener) => store.onChange(listener),
    tryRoute: async () => ({ requestId: 'req_unknown', status: 200, body: '{}' }),
    async *send() {},
    describeCall: async (...asked) => describeCall(...asked),
    inspectContent: async (...asked) => inspectContent(...asked),
    inspect: async (...asked) => inspectRequest(...asked),
    bodiesKeptMs: () => 7 * 86_400_000,
    limitUsage: (limit) => state.used.get(limit.counter) ?? { used: 0, held: 0, holders: 0, resetsAt: null },
    latency: () => null,
    recall: () => null,
    isUsable: () => true,
    prices: () => [],
    health: () => ({ state: 'ready' }),
    targets: () => [],
    shownSince: () => null,
    degraded: () => [],
    status: () => ({
      workers: 2,
      inFlight: 0,
      heldBytes: 0,
      heldLimit: 500_000_000,
      requestsSinceStart: 7,
      traffic: { requestsPerSecond: 1.5, errorShare: 0.01, durationP95Ms: 800, usdPerHour: null },
      degraded: [],
      degradedTimes: new Map(),
      store: null,
      entriesLost: 0,
      longTurns: [],
      traces: null,
    }),
    backup: () => Promise.reject(new Error('nothing here takes backups')),
    departure: { begun: false, begin: async () => {}, undo: async () => {}, finish: async () => 0 },
    cluster: null,
  }
  const keyring = makeKeyring(createMachineKey(join(directory, 'machine.key')))
  const onFault = (error: unknown) => void faults.push(error)
  const parts: AdminParts = {
    ...{ store, keyring, kinds, runtime, onFault },
    readManifest: async ({ documents, variables }) => readDocuments(documents, variables),
    sendAlerts: async () => {},
    onWrite() {},
  }
  server.open(parts)
  return {
    client: connect(socketPath),
    store,
    parts,
    socketPath,
    databasePath: paths.databasePath,
    checks,
    get published() {
      return state.published
    },
    closed,
    used: state.used,
    ready,
    faults,
    settle: (record) => void settled.emit('record', record),
    tailing: () => settled.listenerCount('record'),
    close,
  }
}

export function connect(socketPath: string, waitMs = 0): AdminClient {
  const transport = openSocketTransport(socketPath, { waitMs })
  onTestFinished(() => transport.close())
  return createAdminClient({ transport, version: '1.2.3', surface: 'cli' })
}

/** As the daemon builds it, but for credentials, which nothing here sends. */
function readModel(stored: StoredSnapshot): { configuration: ConfigurationSnapshot; keys: SnapshotKey[] } {
  const nameOf = (rows: { id: string; name: string }[], id: string) => rows.find((row) => row.id === id)?.name ?? id
  return {
    configuration: {
      version: 1,
      timeZone: stored.timeZone,
      providers: stored.providers.map(
        ({ revision, tags: _tags, activeRevision, createdAt: _at, ...provider }, slot) => ({
          ...provider,
          ...revision,
          slot,
          revision: activeRevision,
          credentials: revision.credentials.map(({ id }) => ({ id, value: '' })),
        }),
      ),
      routes: stored.routes,
      policies: stored.policies,
      projects: stored.projects,
      environments: stored.environments,
      defaultProviders: {},
      tokenKey: new Uint8Array(32),
      bodyKey: null,
    },
    keys: stored.keys.map((key) => ({
      ...key,
      hash: key.secrets[0]?.hash ?? '',
      lastFour: key.secrets[0]?.lastFour ?? '',
      project: nameOf(stored.projects, key.projectId),
      environment: nameOf(stored.environments, key.environmentId),
      expiresAt: key.expiresAt === null ? null : Date.parse(key.expiresAt),
      revokedAt: key.revokedAt === null ? null : Date.parse(key.revokedAt),
    })),
  }
}

/** The code, cause and hint of a refusal; fails when nothing is refused. */
export async function refusal(call: Promise<unknown>): Promise<{ code: string; message: string; hint: string }> {
  const error: unknown = await call.then(
    () => new Error('was not refused'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof Error) || !('code' in error) || !('data' in error)) throw error
  const { hint } = error.data as { hint: string }
  return { code: String(error.code), message: error.message, hint }
}
