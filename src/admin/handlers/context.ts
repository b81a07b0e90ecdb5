import type { AskedTools } from '../../core/cost/asked-tools.ts'
import type { ModelPrice } from '../../core/cost/model-price.ts'
import type { DegradedPart, PartName } from '../../core/degraded.ts'
import type { Fault } from '../../core/errors.ts'
import type { FormatName } from '../../core/format.ts'
import type { LaneName } from '../../core/lane.ts'
import type { NodeCondition, NodeStanding } from '../../core/node-condition.ts'
import type { Limit } from '../../core/policies/policy-limits.ts'
import type { ShownState } from '../../core/provider-state.ts'
import type { RequestRecord, Signal, UsageDetail } from '../../core/record.ts'
import type { Secret } from '../../core/secrets/secret.ts'
import type { Manifest } from '../../manifest/read.ts'
import type { ReadRequest } from '../../manifest/thread-message.ts'
import type { ContentPolicy } from '../../policy/content/compile.ts'
import type { Apart } from '../../policy/limits/bucket-clock.ts'
import type { PeriodUse } from '../../policy/limits/period-row.ts'
import type { CheckResult, ProviderKind, ProviderTarget } from '../../providers/contract.ts'
import type { ConversationKeys, Remembered } from '../../routing/affinity.ts'
import type { AdditionalModel } from '../../routing/candidates.ts'
import type { HealthTarget, HealthView } from '../../routing/health.ts'
import type { LatencyFigure } from '../../routing/latency-figures.ts'
import type { Keyring } from '../../sealing/keyring.ts'
import type { PurgeQuestion, RecordCost, RecordFilter, StoreClient, StoreHealth } from '../../store/api.ts'
import type { ConfigurationSnapshot, SnapshotKey } from '../../store/configuration/snapshot.ts'
import type { OutboxState } from '../../store/replica/outbox-types.ts'
import type { BackupEvent } from '../contract/backup.ts'
import type { RoleGrant } from '../contract/operators/roles.ts'
import type { GrantScope } from './scope.ts'

/** What handlers may use, handed in by the composition root. */
export interface AdminParts {
  store: StoreClient
  keyring: Keyring
  kinds: readonly ProviderKind[]
  runtime: Runtime
  /** Reads configuration files, off this thread. */
  readManifest(request: ReadRequest): Promise<Manifest>
  /** Told of faults that are the gateway's own; the caller is told only that there was one. */
  onFault(error: unknown, operation: string): void
  /** Tries at once what alerts have to send; resolves when each has been tried. */
  sendAlerts(): Promise<void>
  /** After every operation that is no reading, done or failed: somebody may no longer do what he could. */
  onWrite(): void
}

/** Who calls, through which surface, and what he was given. */
export interface OperationCaller {
  name: string
  surface: 'cli' | 'tui' | 'console' | 'api'
  /** Of the operator or the token; null: whoever holds the admin socket. */
  id: string | null
  grants: readonly RoleGrant[]
  /** Where from, where that is known. */
  address?: string | null
}

/** What a call is made with. */
export interface OperationContext extends AdminParts {
  caller: OperationCaller
  /** Fires when the server closes: what streams must end. */
  closing: AbortSignal
}

/** What a handler gets: store and runtime show and change only what the caller may see and change. */
export interface AdminContext extends OperationContext {
  scope: GrantScope
  /** Writes although a configuration file owns what changes. */
  force?: boolean
}

/** What of a request body decides where it goes, or why the gateway would reject it. */
export type Inspected =
  | ({
      lane: LaneName
      operation: string
      model: string | null
      streamed: boolean
      bytes: number
      /** In tokens, as far as they tell. */
      input: number
      outputLimit: number | null
      answers: number
      /** What it asks for that is not paid by the token; null: nothing. */
      units: UsageDetail | null
      /** What it lets tools of the provider do that is paid besides; null: nothing. */
      tools: AskedTools | null
      /** The models that it names besides its own. Absent: none. */
      additionalModels?: readonly AdditionalModel[] | undefined
      /** It lets the provider answer with one that it does not name. */
      leavesChoice?: true | undefined
      /** Whose it is; '': it names nobody. */
      user: string
      /** What says which conversation it belongs to. */
      conversation: { start: string | null; signature: string | null }
    } & OperationFacts)
  | { lane: LaneName; fault: { code: string; message: string } }

/** What of a call decides what it counts, besides its size. */
export interface OperationFacts {
  /** Else limits and budgets of tokens do not count it. */
  usesTokens: boolean
  /** The member that limits its answer, or would; null: it has no length that could be limited. */
  limitedBy: string | null
  /** It asks how many tokens a request of that format has; null: it does not. */
  counts: FormatName | null
}

/** What content rules say to a prompt. A fault: it would not be sent. */
export interface PromptVerdict {
  fault: Fault | null
  signals: readonly Signal[]
}

export interface RouteCall {
  projectId: string
  environmentId: string
  /** Their names, for the record. */
  project: string
  environment: string
  model: string
  lane: LaneName
}

/** The running gateway as its control plane sees it. */
export interface Runtime {
  version: string
  startedAt: string
  gatewayUrl: string
  consoleUrl: string | null
  dataDirectory: string
  /** null: it was started without one. */
  settingsFile: string | null
  /** Rebuilds the snapshot from the store and publishes it; resolves when every data-plane thread has it. */
  publish(): Promise<void>
  /** Ends at once what is under way for a key whose revocation has been published. */
  closeStreams(keyId: string): void
  /** A good check ends what traffic had found of the provider: rests, an open breaker. */
  markReady(providerId: string): void
  /** The snapshot as published last, for `routes explain` and the like. */
  snapshot(): { configuration: ConfigurationSnapshot; keys: readonly SnapshotKey[] }
  /** Everything journaled so far is in the store when this resolves; throws `StoreDegraded` when it does not get there soon. */
  ingest(): Promise<void>
  /** The free check of a provider, with a credential that may not be stored yet. */
  check(kind: ProviderKind, target: ProviderTarget, credential: Secret | null): Promise<CheckResult>
  /** Records as they end, pushed; with `allStates` also as they are admitted. Ends when the signal fires. */
  records(signal: AbortSignal, allStates?: boolean): AsyncIterable<RequestRecord>
  /** Counts up at every change of the configuration. */
  changes(): number
  /** Called after each; the result ends it. */
  onChange(listener: () => void): () => void
  /** Sends one small real request through the data plane, as a key of that scope would. */
  tryRoute(call: RouteCall): Promise<{ requestId: string; status: number; body: string }>
  /** Sends a request through the data plane as that key, whatever its secret; the answer as it comes. The signal ends it. */
  send(call: SentCall, signal: AbortSignal): AsyncIterable<SentPiece>
  /** What a request to the provider in this slot, for a model there and of a key, would meet now; `credentials` is the size of its pool. */
  health(slot: number, credentials: number, target?: HealthTarget, keyId?: string | null): HealthView
  /** A request body as the data plane would read it, on each lane that it may be meant for. */
  inspect(body: string, lane: LaneName | null, model: string | null): Promise<Inspected[]>
  /** What is known of a call by the name of its operation; null: the lane has none of that name. */
  describeCall(lane: LaneName, operation: string): Promise<OperationFacts | null>
  /** What content rules find in such a body, as the data plane would look for it. */
  inspectContent(
    body: string,
    lane: LaneName,
    model: string,
    policies: readonly ContentPolicy[],
  ): Promise<PromptVerdict>
  /** How long calls of that kind took there; null: none has been measured, or no route goes by it. */
  latency(target: HealthTarget, streamed: boolean): LatencyFigure | null
  /** Where a conversation has been, as all threads remember it; null: nobody knows. */
  recall(keys: ConversationKeys): Remembered | null
  /** Whether the credential in that place can be used for the model at once. */
  isUsable(target: HealthTarget, credential: number): boolean
  /**
   * What is used of a limit at this moment, and held by how many requests in progress; epoch milliseconds of when all is free again, or
   * `missing` of a limit a minute. `user`: whose, of a limit that each end user has for himself.
   */
  limitUsage(limit: Limit, missing?: number | null, user?: string | null): UsedNow
  /** As the data plane has them. */
  prices(): readonly ModelPrice[]
  /** The same for each model that calls to this provider have named; behind a pattern only those that have succeeded. */
  targets(slot: number): { model: string; health: HealthView }[]
  /** Since when the provider has been in that state, over restarts too; null: it has not been noted yet. */
  shownSince(providerId: string, state: ShownState['state']): string | null
  status(): RuntimeStatus
  /** For how long the settings of this node keep captured bodies, from when their request came. */
  bodiesKeptMs(): number
  /** What of it is unhealthy now, without the rest. */
  degraded(): readonly DegradedPart[]
  /** A consistent copy of the running gateway, as a file. Refuses at once what cannot be done. */
  backup(options: { credentials: boolean; records: boolean }): Promise<AsyncIterable<BackupEvent>>
  /** How the gateway is taken out of service, and brought back. */
  departure: {
    readonly begun: boolean
    begin(): Promise<void>
    undo(): Promise<void>
    /** Resolves when nothing runs any more, or at the limit; with how many requests run then. */
    finish(): Promise<number>
  }
  /** null: the settings name no cluster. */
  cluster: ClusterFace | null
}

export interface UsedNow extends PeriodUse {
  resetsAt: number | null
  /** `used` has in it what nodes hold in hand, which is not known apart. */
  includesHeld?: true
  /** Why the other nodes can grant this one nothing. */
  apart?: Apart
}

/** Valkey or Redis, as operators see it. */
export interface SharedServer {
  /** Host and port. */
  server: string
  /** Why nothing can be granted of limits; null: it can. */
  trouble: string | null
  /** RFC 3339; null: there is no trouble. */
  since: string | null
  /** What this node lets pass meanwhile. */
  meanwhile: 'share' | 'refuse' | 'local'
  /** RFC 3339: by then grants begin, which wait for all nodes to say what they use; null: nothing waits for that. */
  opening_until: string | null
}

/** A budget of one day or month, of which something was spent. */
export interface SpentBudget {
  counter: string
  /** Begin and end in epoch milliseconds. */
  period: { name: string; start: number; end: number }
}

/** How a gateway is a node of a cluster, or becomes one. */
export interface ClusterFace {
  /** Id of the cluster; null: this gateway is not a member of one yet. */
  cluster(): string | null
  /** What the others call this node. */
  name: string
  /** By so much this node's clock is ahead of PostgreSQL's; null: nobody knows. */
  clockAheadMs(): number | null
  /** The other nodes, as they said some seconds ago; null: nothing is known of one. */
  others(): { name: string; version: string | null; state: NodeStanding; condition: NodeCondition | null }[]
  /** The others hear now how this node is; else they do some seconds later. */
  announce(): void
  /** By what nodes count limits a minute and requests at once together; null: each counts for itself. */
  valkey(): SharedServer | null
  /** Whether records are read from PostgreSQL, and brought there. */
  records: 'shared' | 'local'
  /** Records of all nodes as they end; null: they are not shared. */
  feed: Pick<StoreClient, 'onRecords'> | null
  /** What of them waits; null: nobody has said yet, or nothing is brought. `since`: RFC 3339, of the oldest. */
  outbox(): (OutboxState & { trouble: string | null }) | null
  /** Deletes records or bodies of all nodes; null: this node is alone with its records. */
  purge(question: PurgeQuestion): AsyncGenerator<PurgeProgress> | null
  /** What the records of all nodes cost; null: this node is alone with its records. */
  costs(): SharedCosts | null
  status(): Promise<{
    cluster: string | null
    node: string
    postgres: string
    /** Why it is cut off; null: it is not. */
    trouble: string | null
    /** Number of the last change that is here. */
    sequence: number | null
    /** Decisions made here while PostgreSQL was away, which the others do not know yet. */
    pending: number
    nodes: ClusterMember[]
  }>
  found(): Promise<string>
  invite(): Promise<{ token: Secret; expiresAt: string }>
  join(token: Secret): Promise<string>
  /** `local`: each node counts for itself. */
  budgets: 'shared' | 'local'
  /** The others learn at once what counts as spent here besides requests. */
  reportSpent(budgets: readonly SpentBudget[]): void
  /** This node goes on alone; the last one does not leave. */
  leave(): Promise<void>
  /** The last node goes on alone with the records of all; how many it took over. */
  dissolve(): Promise<number>
  /** What this node was given of budgets goes back, and its records are brought to the others. */
  handBack(): Promise<void>
  /** `returns`: what is not known to have been spent of what the node was given of budgets goes to the others. */
  remove(node: string, returns: boolean): Promise<void>
  /** What other nodes have changed is here when it resolves, as far as PostgreSQL is reached. Never rejects. */
  refresh(): Promise<void>
  /**
   * Waits up to two seconds for every node to know that what has this id is revoked (null: to have the last change of this
   * node); null: there are no others.
   */
  confirm(
    revokedId: string | null,
  ): Promise<{ reached: string[]; missing: { name: string; heardAt: string | null }[] } | null>
}

/** Each throws `StoreReadOnly` where PostgreSQL was not reached: it is asked, and never a node instead. */
export interface SharedCosts {
  list(filter: RecordFilter): Promise<RequestRecord[]>
  /** For all nodes; returns how many there were. */
  reprice(costs: RecordCost[]): Promise<number>
  /** Waits for the nodes that are there to do the same in their own databases. Names those that have not yet; the last are away. */
  settle(): AsyncGenerator<{
    missing: string[]
    /** Of an earlier version: they do so once they are upgraded, and are not waited for. */
    outdated: string[]
  }>
}

export interface PurgeProgress {
  done: boolean
  removed: number
  /** Down to which record it has come; null: to the oldest. */
  before: string | null
  /** Nodes that have not deleted theirs yet. */
  missing: string[]
}

interface ClusterMember {
  name: string
  state: NodeStanding
  version: string | null
  sequence: number
  heardAt: string | null
  /** By so much its clock is ahead of PostgreSQL's; negative: behind; null: they are together, or nobody knows. */
  clockAheadMs: number | null
  /** Taken out of service; null: nobody knows. */
  draining: boolean | null
}

export interface SentCall {
  key: SnapshotKey
  /** Of the lane, below the gateway's URL. */
  path: string
  body: string
  /** Besides credential and agent; the content type is JSON unless one stands here. */
  headers?: Readonly<Record<string, string>>
  /** The record's user agent. */
  agent: string
  /** The provider that it goes to, whatever its route says; left out: the route decides. */
  onlyProviderId?: string
}

/** The head comes first; of its headers the names are in lower case. */
export type SentPiece =
  | { kind: 'head'; status: number; headers: Record<string, string> }
  | { kind: 'data'; bytes: Buffer }

/** What has ended within the last minute, as `status` tells it. */
export interface RecentTraffic {
  requestsPerSecond: number
  /** null: nothing has ended. */
  errorShare: number | null
  durationP95Ms: number | null
  /** null: nothing of it has a price. */
  usdPerHour: number | null
}

/** Of one thread, since the start. */
export interface ThreadTurns {
  thread: string
  count: number
  longestMs: number
  lastAt: string
  /** What ran. */
  lastWork: string
}

export interface RuntimeStatus {
  workers: number
  inFlight: number
  /** Of large bodies that are held, and how many may be. */
  heldBytes: number
  heldLimit: number
  requestsSinceStart: number
  traffic: RecentTraffic
  /** Empty is well. */
  degraded: DegradedPart[]
  /** How often each part has become degraded since the start. */
  degradedTimes: ReadonlyMap<PartName, number>
  /** As the store said last, so that nobody waits for one that is unhealthy; null: it has said nothing yet. */
  store: StoreHealth | null
  /** Of the journal, since the start: they waited for the disk until memory was full, or until the end. */
  entriesLost: number
  /** Turns of event loops that were too long, by thread. Empty is well. */
  longTurns: readonly ThreadTurns[]
  /** null: traces are not exported. */
  traces: {
    endpoint: string
    /** Requests that wait to be exported. */
    pending: number
    /** Requests since the start by what became of their trace. */
    outcomes: { exported: number; rejected: number; overflow: number; removed: number }
    retries: number
    /** Why the last export failed; null: it did not. */
    trouble: string | null
  } | null
}
