import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { onTestFinished } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { SettledHold, Writers } from '../../src/core/journal-format.ts'
import { noAccountLimits } from '../../src/core/policies/policy-limits.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import type { Key, Policy, Provider, ProviderRevision, Route, StoreClient } from '../../src/store/api.ts'
import { startStore } from '../../src/store/client.ts'
import { Ingestion } from '../../src/store/ingest/ingest.ts'
import type { BatchLimits } from '../../src/store/ingest/segment-reader.ts'
import type { StoreThreadData } from '../../src/store/protocol.ts'
import type { Connection } from '../../src/store/sqlite/connection.ts'
import { placeEmptyDatabase } from '../support/empty-database.ts'
import { threadModule } from '../support/thread-module.ts'

export const now = '2026-01-02T03:04:05.000Z'

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'spgw-store-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function storePaths(directory: string, boot = 'live'): StoreThreadData {
  const journalDirectory = join(directory, 'journal')
  mkdirSync(journalDirectory, { recursive: true })
  return { databasePath: join(directory, 'spgw.db'), journalDirectory, boot }
}

/** The real thread on real files. Closed when the test is over. */
export async function startTestStore(data: StoreThreadData): Promise<StoreClient> {
  if (!existsSync(data.databasePath)) await placeEmptyDatabase(data.databasePath)
  const store = await startStore(() => new Worker(threadModule('store-thread'), { workerData: data }))
  onTestFinished(() => store.close())
  return store
}

export async function addScope(store: StoreClient) {
  const project = await store.projects.insert({ id: newId('prj'), name: 'default', createdAt: now })
  const environment = await store.environments.insert({
    id: newId('env'),
    projectId: project.id,
    name: 'production',
    defaultProviders: {},
    createdAt: now,
  })
  return { project, environment }
}

export function sampleRevision(change: Partial<ProviderRevision> = {}): ProviderRevision {
  return {
    number: 1,
    baseUrl: 'https://api.openai.com/v1',
    headers: { 'x-team': 'a' },
    timeouts: { total: 1000 },
    settings: {},
    credentials: [{ id: 'cre_1', sealed: 'sp1.x', lastFour: 'abcd', addedAt: now }],
    createdAt: now,
    createdBy: 'local owner',
    ...change,
  }
}

export function sampleProvider(change: Partial<Provider> = {}): Provider {
  const revision = sampleRevision()
  return {
    id: newId('prv'),
    name: 'openai',
    kind: 'openai',
    active: true,
    projects: null,
    tags: {},
    activeRevision: 1,
    readiness: { state: 'unchecked', reason: null, since: null },
    models: [],
    limits: noAccountLimits,
    createdAt: now,
    revision,
    ...change,
  }
}

export function sampleRoute(projectId: string, providerId: string, change: Partial<Route> = {}): Route {
  return {
    id: newId('rte'),
    projectId,
    environmentId: null,
    model: 'gpt-4o-mini',
    enabled: true,
    strategy: 'priority',
    targets: [{ providerId, upstreamModel: null, weight: 1, priority: 0, format: null }],
    retries: 1,
    fallbackOn: [],
    timeouts: {},
    strict: false,
    echoModel: false,
    sticky: false,
    hedge: null,
    shadow: null,
    reasoningText: true,
    fetchMedia: false,
    cacheMs: null,
    keepResponsesMs: null,
    createdAt: now,
    ...change,
  }
}

export function sampleKey(scope: { projectId: string; environmentId: string }, change: Partial<Key> = {}): Key {
  const id = newId('key')
  return {
    id,
    name: 'ci',
    ...scope,
    policyId: null,
    tags: { team: 'a' },
    createdAt: now,
    createdBy: 'local owner',
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    secrets: [{ hash: `hash of ${id}`, lastFour: 'wxyz', expiresAt: null }],
    ...change,
  }
}

export function samplePolicy(change: Partial<Policy> = {}): Policy {
  return {
    id: newId('pol'),
    name: 'small',
    attachedTo: { workspace: false, ids: [] },
    allowModels: ['gpt-*'],
    denyModels: [],
    lanes: ['openai'],
    maxBody: 1000,
    capture: 'redacted',
    createdAt: now,
    ...change,
  }
}

interface Pass {
  connection: Connection
  journalDirectory: string
  writers: Writers
  batch?: BatchLimits
  /** Records that have ended, after each batch. */
  onRecords?(records: RequestRecord[]): void
  onHolds?(settled: SettledHold[]): void
}

/** One pass by an ingestion that knows nothing of any before. */
export async function ingestJournal({
  connection,
  journalDirectory,
  writers,
  batch,
  onRecords,
  onHolds,
}: Pass): Promise<number> {
  const ended = (records: string[]) => onRecords?.(records.map((text) => JSON.parse(text) as RequestRecord))
  const audience = { ended, admitted: false, traffic: null, holds: onHolds ?? null, traces: false }
  return await new Ingestion({ connection, journalDirectory, audience, ...(batch ? { batch } : {}) }).pass(writers)
}

/** Calls back when a batch is committed, before anything else happens. */
export function afterEachBatch(connection: Connection, then: () => void): void {
  const write = connection.writeHot.bind(connection)
  connection.writeHot = async (run) => {
    const output = await write(run)
    then()
    return output
  }
}

/** Texts of any UTF-16 units, halves of pairs among them. fast-check's own `binary` takes seconds to be made. */
export function anyText(): fc.Arbitrary<string> {
  return fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) })
}
