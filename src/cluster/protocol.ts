import type { MessagePort } from 'node:worker_threads'
import type { NodeCondition } from '../core/node-condition.ts'
import type { StoredObject } from '../core/objects/stored-object.ts'
import type { RequestRecord } from '../core/record.ts'
import type { LimitWant } from '../policy/limits/limit-counters.ts'
import type { LimitMemory } from '../policy/limits/limit-memory.ts'
import type { FoundBodies } from '../store/api.ts'
import type { ObjectFilter } from '../store/objects/object-tables.ts'
import type { OutboxState } from '../store/replica/outbox-types.ts'
import type { ForeignRecord, RowChange, SharedRow } from '../store/replica/replica-types.ts'
import type { SharedPage } from '../store/replica/shared-change.ts'
import type { BodyRow } from '../store/schema.ts'
import type { AlertQuestions } from './alert-questions.ts'
import type { BudgetQuestions } from './budget-questions.ts'
import type { WithoutServer } from './limits/windows.ts'
import type { SeenMark } from './lost-changes.ts'
import type { RecordReading } from './readings/reading.ts'
import type { PurgeQuestions } from './records/purge.ts'
import type { RepriceQuestions } from './records/reprice.ts'
import type { Self } from './self.ts'

/** Where PostgreSQL is. The password crosses threads in clear text; it is not sent anywhere else. */
export interface PostgresAddress {
  /** A name, an address, or the directory of a socket. */
  host: string
  port: number
  user: string
  password: string | null
  database: string
  /** The PEM of the authority that signed the server's certificate; null: the public authorities. */
  authority: string | null
  /** Without TLS: only for this machine. Everywhere else the server must prove its identity. */
  plain: boolean
}

/** The same for Valkey or Redis. */
export interface ValkeyAddress extends Omit<PostgresAddress, 'user' | 'database'> {
  /** null: the server's default user. */
  user: string | null
  database: number
}

export interface ValkeyFacts {
  /** Name and version. */
  product: string
  /** The policy by which it evicts data when its memory is full; null: none. */
  evicts: string | null
}

export interface ClusterThreadData {
  address: PostgresAddress
  /** Left out: the node keeps its records to itself. */
  records?: RecordsPlace
}

export interface RecordsPlace extends KeepTimes {
  /** This node's name in records. */
  node: string
}

export interface KeepTimes {
  /** How long a node keeps records, in milliseconds. */
  keepMs: number
  /** The same for captured bodies. */
  keepBodiesMs: number
}

/** What waits to be shipped. `trouble`: why, unless it is only a matter of moments. */
export interface OutboxReport extends OutboxState {
  trouble: string | null
  /** PostgreSQL can be reached but accepts nothing; nothing that a node does will change that. */
  isRefused: boolean
}

/** Limits that nodes share over Valkey. */
export interface LimitsStart {
  address: ValkeyAddress
  memory: LimitMemory
  without: WithoutServer
  /** Earlier runs of this gateway have used nothing recently. */
  quiet: boolean
  /** null: the gateway is alone, and has the whole of each limit. */
  member: { cluster: string; id: string } | null
}

export interface ClusterPeer {
  id: string
  name: string
  version: string | null
  /** The last change that its threads have. */
  applied: number
  /** When PostgreSQL heard of it last. */
  heardAt: string | null
  /** How long it has not been heard from, by PostgreSQL's clock. */
  silentMs: number | null
}

/** Which records are this node's own: of its name, from that id on. Earlier ones may be of a node that had the name before. */
export interface OwnRecords {
  node: string
  since: string
}

export interface JoinRequest {
  invite: string
  member: string
  name: string
  publicKey: string
  proof: string
}

export interface ServerFacts {
  version: string
  /** The TLS version; null: the connection is not encrypted. */
  tls: string | null
  /** A setting makes it read-only. Standbys are never connected to. */
  isReadOnly: boolean
  /** It has a schema of that name which is not a cluster's. */
  isForeign: boolean
  /** How many standbys follow it now. */
  standbys: number
  /** Whether a commit waits for one of them. */
  synchronous: boolean
  user: string
  /** How far this process's clock is ahead of the server's for certain; negative: behind. */
  aheadMs: number
  /** Rights that it has and a node does not need, in words. */
  rights: string[]
  /** Rights that a node needs and it does not have, apart from tables that do not exist yet. */
  missing: string[]
}

/** The questions that the thread answers. */
export interface Questions extends AlertQuestions, BudgetQuestions, PurgeQuestions, RepriceQuestions {
  /** The existing cluster; null: none. */
  find: { input: null; output: { cluster: string; sequence: number; members: ClusterPeer[] } | null }
  /** Facts about the server, for operators. */
  server: { input: null; output: ServerFacts }
  /** What Valkey or Redis reports about itself; null: not reached yet. */
  'limits-server': { input: null; output: ValkeyFacts | null }
  /** Answered once limits are granted here, or it is known that they cannot be for now. */
  'limits-granting': { input: null; output: null }
  found: { input: { cluster: string; member: string; name: string; token: string; rows: SharedRow[] }; output: null }
  unfound: { input: { cluster: string }; output: null }
  /** Announces this node and its name. After the first time, a gateway that has taken its place meanwhile keeps it. */
  meet: {
    input: Self & { name: string; version: string; sequence: number; mark: string; isFirst: boolean }
    /** `mark`: of PostgreSQL's present change. */
    output: {
      state: 'member' | 'other cluster' | 'removed' | 'doubled' | 'taken name' | 'lost' | 'newer'
      sequence: number
      mark: string | null
    }
  }
  /** Fails if this node may not change the configuration; it still follows changes of others. */
  'may-change': { input: null; output: null }
  append: { input: Self & { sequence: number; token: string; changes: RowChange[] }; output: number }
  /** `marks`: of the changes after `after`, at least the last. */
  rows: { input: { after: number }; output: { sequence: number; mark: string; rows: SharedRow[]; marks: SeenMark[] } }
  /** Appends again what a standby that took over had not received. False: PostgreSQL is no longer at that mark. */
  restore: {
    input: Self & { sequence: number; mark: string; changes: RowChange[]; marks: SeenMark[] }
    output: boolean
  }
  applied: { input: Self & { sequence: number }; output: null }
  members: { input: null; output: ClusterPeer[] }
  leave: { input: Self; output: null }
  /** `returns`: gives to others what the node was given and is not known to have spent. */
  remove: { input: { name: string; returns: boolean }; output: ClusterPeer | null }
  invite: { input: { invite: string; minutes: number }; output: null }
  /** False: the invitation does not exist, was used, or has expired. */
  'ask-join': { input: JoinRequest; output: boolean }
  'read-answer': { input: { invite: string }; output: string | null }
  'read-joins': { input: { invites: string[] }; output: JoinRequest[] }
  'answer-join': { input: JoinRequest & { answer: string }; output: null }
  /** When answered, everything journaled so far is in PostgreSQL, or could not be shipped. */
  ship: { input: null; output: null }
  /** Records of other nodes, oldest first, after that id; none: no more. */
  'read-others': {
    input: OwnRecords & { after: string }
    output: { records: ForeignRecord[]; last: string } | null
  }
  /** The same for captured bodies, after that id and part. */
  'read-other-bodies': {
    input: OwnRecords & { after: readonly string[] }
    output: { bodies: BodyRow[]; last: string[] } | null
  }
  /** What all nodes have stored besides records, after that key; null: no more. */
  'read-objects': { input: { after: string }; output: SharedPage | null }
  /** The captured bodies of a request of any node. */
  bodies: { input: { id: string }; output: FoundBodies }
  /** A reading of the records of all nodes. */
  read: { input: RecordReading; output: unknown }
  /** Objects at providers, of all nodes. */
  objects: { input: ObjectFilter; output: StoredObject[] }
}

/** Questions answered by parts of the thread that have connections of their own. */
export type PartQuestion =
  | 'limits-server'
  | 'limits-granting'
  | 'ship'
  | 'read'
  | 'bodies'
  | 'read-other-bodies'
  | 'read-others'
  | 'read-objects'
  | 'objects'

export type ClusterQuestion = keyof Questions
type AskedQuestion = {
  [Name in ClusterQuestion]: { kind: 'ask'; id: number; name: Name; input: Questions[Name]['input'] }
}[ClusterQuestion]

export type ClusterRequest =
  | AskedQuestion
  /** The reading is no longer needed. */
  | { kind: 'stop'; id: number }
  /** The identity to keep up; null: none. */
  | { kind: 'self'; self: Self | null }
  /** What this node uses of limits from now on. */
  | { kind: 'limits'; start: LimitsStart }
  | { kind: 'limit-wanted'; want: LimitWant }
  /** This node's condition. */
  | { kind: 'condition'; condition: NodeCondition }
  | { kind: 'keep'; keeps: KeepTimes }
  /** Whether records of other nodes are wanted as they end. */
  | { kind: 'follow'; wanted: boolean }
  /** To all nodes over Valkey. `keeps`: also for those that are not listening now. */
  | { kind: 'notify'; text: string; keeps: boolean }
  /** From now on the outbox is read over this port. It is transferred. */
  | { kind: 'outbox'; port: MessagePort }
  | { kind: 'close' }

/**
 * `away`: PostgreSQL was not reached, so it may have happened or not. `unusable`: it was reached, but does not serve this node. `refused`:
 * this question only.
 */
export type FailureCause = 'away' | 'unusable' | 'refused'

export type ClusterMessage =
  | { kind: 'answer'; id: number; output: unknown }
  | { kind: 'failure'; id: number; cause: FailureCause; message: string; hint?: string }
  /** Why PostgreSQL cannot be reached; null: it can. */
  | { kind: 'link'; trouble: string | null }
  /** The cluster's present change. */
  | { kind: 'head'; sequence: number; member: boolean }
  | { kind: 'members'; members: ClusterPeer[]; conditions: Record<string, NodeCondition> }
  /** A node has no room in this budget; others may have an unused allowance. */
  | { kind: 'recall'; counter: string; period: string }
  /** Why limits cannot be granted here; null: they can. */
  | { kind: 'valkey'; trouble: string | null }
  /** Messages of nodes over Valkey, possibly this one's own. */
  | { kind: 'heard'; texts: string[] }
  /** Why no messages arrive over Valkey; null: they do. */
  | { kind: 'channel'; trouble: string | null }
  | { kind: 'outbox'; report: OutboxReport }
  /** Records of other nodes that have ended. */
  | { kind: 'ended'; records: RequestRecord[] }
  | { kind: 'crashing'; reason: string }
