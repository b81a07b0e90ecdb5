import type { MessagePort } from 'node:worker_threads'
import type { SettledHold, Writers } from '../core/journal-format.ts'
import type { LaneName, TimeLimits } from '../core/lane.ts'
import type { AccountLimits } from '../core/policies/policy-limits.ts'
import type { ShownState } from '../core/provider-state.ts'
import type { RequestRecord } from '../core/record.ts'
import type { LongTurn } from '../core/threads/turn-watch.ts'
import type { TrafficTally } from '../core/traffic-tally.ts'
import type { Alert, AlertTables } from './alerts/alert-tables.ts'
import type { CacheFigures } from './cache/answer-cache.ts'
import type { CacheTables } from './cache/cache-tables.ts'
import type { PriceTables } from './configuration/price-tables.ts'
import type { SealTables } from './configuration/seal-tables.ts'
import type { ProviderModel, Readiness, SnapshotPolicy, SnapshotRoute } from './configuration/snapshot.ts'
import type { ObjectTables } from './objects/object-tables.ts'
import type { AuditLine, AuditTables } from './operators/audit-tables.ts'
import type { OperatorTables } from './operators/operator-tables.ts'
import type { TokenTables } from './operators/token-tables.ts'
import type { BodyTables } from './records/body-tables.ts'
import type { PurgeQuestion, PurgeSlice, RecordTables, Retention } from './records/record-tables.ts'
import type { SpendTables } from './records/spend-tables.ts'
import type { SharedStore } from './replica/replica-types.ts'
import type { TraceTables } from './traces/trace-tables.ts'

export type { Alert, AlertDelivery } from './alerts/alert-tables.ts'
export type { AuditEvent, AuditLine } from './operators/audit-tables.ts'
export type { FoundBodies, StoredBody } from './records/body-tables.ts'
export type {
  AttemptQuestion,
  AttemptSeries,
  AttemptSums,
  FoundRecords,
  ProviderAttempts,
  PurgeQuestion,
  PurgeSlice,
  RecordCost,
  RecordFilter,
  RecordSums,
  SeriesGroup,
  SeriesPoint,
  SeriesQuestion,
  StatsBy,
  StatsRow,
  TargetRow,
  UsageRow,
  UsageSum,
} from './records/record-tables.ts'
export type { PendingTrace } from './traces/trace-tables.ts'

/**
 * What the store can do, by table. The implementation lives in the store thread (`thread.ts`); everybody else holds
 * a `StoreClient`, whose methods are these, asynchronous. Each write runs in one transaction with its audit line.
 * Times are RFC 3339 UTC. `find` takes a name or an id. A broken uniqueness or reference throws `StoreConflict`.
 */
export interface StoreTables
  extends ObjectTables,
    OperatorTables,
    TokenTables,
    AuditTables,
    RecordTables,
    BodyTables,
    SealTables,
    PriceTables,
    SpendTables,
    AlertTables,
    TraceTables,
    CacheTables {
  workspace: {
    get(): Workspace
    update(change: Partial<Pick<Workspace, 'name' | 'timeZone'>>): Workspace
  }
  projects: {
    list(): Project[]
    /** Includes former names, and those of removed projects. */
    names(): ProjectName[]
    find(nameOrId: string): Project | null
    insert(project: Project): Project
    update(id: string, change: Partial<Pick<Project, 'name'>>): Project
    /** Rejected while it has routes, or keys that are not revoked. */
    remove(id: string): void
  }
  environments: {
    list(projectId: string | null): Environment[]
    find(projectId: string, nameOrId: string): Environment | null
    insert(environment: Environment): Environment
    update(id: string, change: Partial<Pick<Environment, 'name' | 'defaultProviders'>>): Environment
    remove(id: string): void
  }
  providers: {
    list(): Provider[]
    find(nameOrId: string): Provider | null
    /** Inserts the configuration with its first revision, active. */
    insert(provider: Provider, revision: ProviderRevision): Provider
    update(id: string, change: Partial<Pick<Provider, 'name' | 'active' | 'projects' | 'tags' | 'limits'>>): Provider
    /** Not audited: what the gateway found, not what an operator did. */
    setReadiness(id: string, readiness: Readiness, models: ProviderModel[] | null): void
    /** Records the state that is shown, if it is new; kept for 30 days. Returns since when it holds; null: no such provider. */
    noteShown(id: string, state: ShownState): string | null
    states(id: string, since: string): ProviderState[]
    revisions(id: string): ProviderRevision[]
    /** Adds the next revision and makes it the active one. */
    addRevision(id: string, revision: ProviderRevision): Provider
    activateRevision(id: string, number: number): Provider
    /** Refused while a route's target names it. */
    remove(id: string): void
  }
  routes: {
    list(projectId: string | null): Route[]
    find(projectId: string, environmentId: string | null, modelOrId: string): Route | null
    insert(route: Route): Route
    update(id: string, change: Partial<Omit<Route, 'id' | 'projectId' | 'createdAt'>>): Route
    remove(id: string): void
  }
  keys: {
    list(projectId: string | null, environmentId: string | null): Key[]
    /** By id, by last four characters, or by name in the given scope. */
    find(nameOrId: string, projectId: string | null, environmentId: string | null): Key | null
    insert(key: Key): Key
    update(
      id: string,
      change: Partial<Pick<Key, 'name' | 'tags' | 'expiresAt' | 'revokedAt' | 'policyId' | 'secrets'>>,
    ): Key
    /** Not audited; last use by key id, from ingestion. */
    touch(lastUsed: Record<string, string>): void
    remove(id: string): void
  }
  policies: {
    list(): Policy[]
    find(nameOrId: string): Policy | null
    insert(policy: Policy): Policy
    update(id: string, change: Partial<Omit<Policy, 'id' | 'createdAt'>>): Policy
    remove(id: string): void
  }
  ownership: {
    list(): OwnedField[]
  }
  configuration: {
    /** All that a configuration file may describe, with who owns what of it. */
    read(): StoredConfiguration
    /** All steps with their audit lines, or none. Throws `StoreMoved` when anything was changed since `head` was read. */
    write(change: ConfigurationWrite): void
  }
}

export interface Workspace {
  id: string
  name: string
  /** Days and months of budgets and sums are those of this time zone. */
  timeZone: string
  createdAt: string
}

export interface Project {
  id: string
  name: string
  createdAt: string
}

export interface ProjectName {
  name: string
  /** null: nothing else is known of the project. */
  projectId: string | null
  /** '': from the beginning. */
  since: string
  /** null: it still has this name. */
  until: string | null
}

export interface Environment {
  id: string
  projectId: string
  name: string
  defaultProviders: Partial<Record<LaneName, string>>
  createdAt: string
}

export interface Provider {
  id: string
  name: string
  kind: string
  active: boolean
  projects: string[] | null
  tags: Record<string, string>
  activeRevision: number
  readiness: Readiness
  models: ProviderModel[]
  /** Limits on the use of its account. */
  limits: AccountLimits
  createdAt: string
  /** The active revision, joined in. */
  revision: ProviderRevision
}

export type ProviderState = { time: string } & Pick<Readiness, 'state' | 'reason'>

export interface ProviderRevision {
  number: number
  baseUrl: string
  /** What may be a secret is `…` with its seal behind it; identity `header:<provider id>:<name>`. */
  headers: Record<string, string>
  timeouts: Partial<TimeLimits>
  settings: Record<string, string | number | boolean>
  credentials: SealedCredential[]
  createdAt: string
  createdBy: string
}

export interface SealedCredential {
  id: string
  /** Seal format of `sealing/`; identity `credential:<provider id>:<credential id>`. */
  sealed: string
  lastFour: string
  addedAt: string
}

export interface Route extends Omit<SnapshotRoute, 'project' | 'environment'> {
  createdAt: string
}

export interface Key {
  id: string
  name: string
  projectId: string
  environmentId: string
  policyId: string | null
  tags: Record<string, string>
  createdAt: string
  createdBy: string
  expiresAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
  /** One, or two while a rotation's grace runs. `hash`: SHA-256 of the key, base64. `expiresAt`: the end of the grace. */
  secrets: { hash: string; lastFour: string; expiresAt: string | null }[]
}

export interface Policy extends SnapshotPolicy {
  createdAt: string
}

/** A field that a configuration file decides; `field` is a path into what `show` prints. */
export interface OwnedField {
  resourceId: string
  field: string
  /** The file's `owner`. */
  owner: string
}

export interface StoredConfiguration {
  stored: StoredSnapshot
  alerts: Alert[]
  owned: OwnedField[]
  /** Id of the newest audit line; null: there is none. */
  head: string | null
}

type Declared = 'projects' | 'environments' | 'providers' | 'policies' | 'keys' | 'routes' | 'alerts'

/** One call of a table's method, with its audit line where an operator decided it. */
export type ConfigurationStep = {
  [Table in Declared]: {
    [Method in keyof StoreTables[Table]]: StoreTables[Table][Method] extends (...input: infer Input) => unknown
      ? { table: Table; method: Method; input: Input; audit: AuditLine | null }
      : never
  }[keyof StoreTables[Table]]
}[Declared]

export interface ConfigurationWrite {
  head: string | null
  /** In an order in which each step refers only to what exists by then. */
  steps: ConfigurationStep[]
  own: OwnedField[]
  release: Pick<OwnedField, 'resourceId' | 'field'>[]
}

type Asynchronous<Table> = {
  [Method in keyof Table]: Table[Method] extends (...input: infer Input) => infer Output
    ? (...input: Input) => Promise<Output>
    : never
}

/** Every table's methods, asynchronous: what the store implements, and what a client is. */
export type Tables = { [Name in keyof StoreTables]: Asynchronous<StoreTables[Name]> }

/** An older database that was upgraded to the current schema. */
export interface SchemaUpgrade {
  from: string
  to: string
  /** Path of the copy that was made before the upgrade. */
  copy: string
}

/** The store as seen from another thread. */
export interface StoreClient extends Tables, SharedStore {
  /** The upgrade that this start has made; null: none was needed. */
  upgrade: SchemaUpgrade | null
  /** The same tables, whose writes are committed together with this audit line (`before`/`after` included). */
  audited(event: AuditLine): Tables
  /** The same tables, for reading: when the signal fires, long readings end with `StoreStopped`. */
  until(signal: AbortSignal): Tables
  /** The read models, built in one read transaction. Credentials are still sealed. */
  snapshot(keysSince?: number): Promise<StoredSnapshot>
  /** Reads every journal segment to its present end. Returns how many records were added or changed. */
  ingest(): Promise<number>
  /**
   * Calls the listener with records that have ended (settled or interrupted) as they are ingested, with `allStates` also with those in
   * progress. Call the result to stop.
   */
  onRecords(listener: (records: RequestRecord[]) => void, allStates?: boolean): () => void
  /** Calls the listener after each change of the configuration that is made through this client. Call the result to stop. */
  onChange(listener: () => void): () => void
  /** Sums of what has settled, batch by batch, far cheaper than `onRecords`, which copies every record. Call the result to stop. */
  onTraffic(listener: (tally: TrafficTally) => void): () => void
  /** What batches had held in budgets and what they cost, once that is stored. Call the result to stop. */
  onSettledHolds(listener: (settled: SettledHold[]) => void): () => void
  /** Long turns of the store thread's event loop. */
  onLongTurn(listener: (turn: LongTurn) => void): () => void
  /** Removes some of the records, or of captured bodies, and says where it stopped. Not audited by itself. */
  purge(question: PurgeQuestion): Promise<PurgeSlice>
  /** Sets how long records and bodies are kept, and how much of them. */
  keepRecords(retention: Retention): void
  /** Sets whether ended records are exported as traces (`traces`). */
  keepTraces(wanted: boolean): void
  /** Sets which threads write to the journal; unsettled records of all others become `interrupted`. */
  setWriters(writers: Writers): void
  /**
   * The store's thread answers the object look-ups that come over this port (`ObjectQuestion`, `ObjectReply`). When the
   * thread dies the port closes; the next thread needs another.
   */
  serveObjects(port: MessagePort): void
  /** Reports when the store's thread crashes, and when it has been started again. */
  watchThread(witness: StoreWitness): void
  health(): Promise<StoreHealth>
  close(): Promise<void>
}

export interface StoreWitness {
  onDeath(reason: string): void
  /** Calls that failed with the crash may have changed something all the same: read again what was built from the store. */
  onRevival(): void
}

export interface StoredSnapshot {
  timeZone: string
  providers: Provider[]
  routes: (Route & { project: string; environment: string | null })[]
  policies: Policy[]
  environments: Environment[]
  projects: Project[]
  /** With `keysSince`, only the keys added or changed after that version; else all. Revoked ones are included. */
  keys: Key[]
  /** The version of the key set: what to give as `keysSince` next time. A last use does not raise it. */
  keysVersion: number
  /** Counts the changes of prices. */
  pricesRevision: number
  /** Hashes of key secrets that were removed after `keysSince`; a hash that a key still has is not among them. */
  removedHashes: string[]
}

export interface StoreHealth {
  /** Why the store is degraded; null: it is not. */
  degraded: string | null
  databaseBytes: number
  /** `records.max_disk`; null: none. */
  databaseMostBytes: number | null
  journalBytes: number
  /** Free bytes on the journal's file system; null: unknown. */
  diskFreeBytes: number | null
  schemaVersion: string
  /** RFC 3339: the clock is doubted, so nothing is removed for its age before then; null: it is believed. */
  removalHeldUntil: string | null
  /** Segments set aside as torn or corrupt. */
  setAside: string[]
  /** The cached answers. */
  cache: CacheFigures
  /** RFC 3339: entries journaled before this moment are stored; null: none has been read yet. */
  storedAt: string | null
}
