import type { MessagePort } from 'node:worker_threads'
import type { NodeCondition } from '../core/node-condition.ts'
import type { RequestRecord } from '../core/record.ts'
import type { StoredObject } from '../core/stored-object.ts'
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

/** Where PostgreSQL is, as the thread is told; the password crosses threads in clear text, and nothing else. */
export interface PostgresAddress {
  /** A name, an address, or the folder of a socket. */
  host: string
  port: number
  user: string
  password: string | null
  database: string
  /** PEM of the authority that vouches for the server; null: those that all the world trusts. */
  authority: string | null
  /** Only to this machine: everywhere else the server has to prove who it is. */
  plain: boolean
}

/** The same of Valkey or Redis. */
export interface ValkeyAddress extends Omit<PostgresAddress, 'user' | 'database'> {
  /** null: the server's default user. */
  user: string | null
  database: number
}

export interface ValkeyFacts {
  /** Name and version. */
  product: string
  /** The policy by which it drops what it has when its memory is full; null: it drops nothing. */
  evicts: string | null
}

export interface ClusterThreadData {
  address: PostgresAddress
  /** Left out: the node keeps its records to itself. */
  records?: RecordsPlace
}

export interface RecordsPlace extends KeepTimes {
  /** What records call this node. */
  node: string
}

export interface KeepTimes {
  /** How long a node keeps records, in milliseconds. */
  keepMs: number
  /** The same of captured bodies. */
  keepBodiesMs: number
}

/** What waits to be shipped; `trouble` says why, where it is not by chance. */
export interface OutboxReport extends OutboxState {
  trouble: string | null
  /** PostgreSQL is reached and takes nothing: that ends by nothing that a node does. */
  isRefused: boolean
}

/** Limits that nodes share by Valkey. */
export interface LimitsStart {
  address: ValkeyAddress
  memory: LimitMemory
  without: WithoutServer
  /** Earlier runs of this gateway used nothing lately. */
  quiet: boolean
  /** null: this gateway is one alone, and has the whole of each limit. */
  member: { cluster: string; id: string } | null
}

export interface ClusterPeer {
  id: string
  name: string
  version: string | null
  /** How far its threads are. */
  applied: number
  /** When PostgreSQL heard of it last. */
  heardAt: string | null
  /** Not heard of for so long, by PostgreSQL's clock. */
  silentMs: number | null
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
  /** Of TLS; null: this connection is in clear text. */
  tls: string | null
  /** A setting lets it take no writes. A standby is not connected to in the first place. */
  isReadOnly: boolean
  /** It has a schema of the cluster's name that is none. */
  isForeign: boolean
  /** How many others follow it now. */
  standbys: number
  /** Whether a commit waits for one of them. */
  synchronous: boolean
  user: string
  /** By so much this process's clock is ahead of the server's for certain; negative: behind. */
  aheadMs: number
  /** What it may do and a node need not, in words. */
  rights: string[]
  /** What a node needs and it may not do; nothing of tables that are not there yet. */
  missing: string[]
}

/** What the thread answers, by what it is asked. */
export interface Questions extends AlertQuestions, BudgetQuestions, PurgeQuestions, RepriceQuestions {
  /** The cluster that is there; null: none. */
  find: { input: null; output: { cluster: string; sequence: number; members: ClusterPeer[] } | null }
  /** The server itself, for whoever looks after it. */
  server: { input: null; output: ServerFacts }
  /** What Valkey or Redis says of itself; null: it was not reached yet. */
  'limits-server': { input: null; output: ValkeyFacts | null }
  /** Answered once limits are granted here, or it is known that they cannot be for now. */
  'limits-granting': { input: null; output: null }
  found: { input: { cluster: string; member: string; name: string; token: string; rows: SharedRow[] }; output: null }
  unfound: { input: { cluster: string }; output: null }
  /** Says that this node is here, and its name. Not the first time: whoever has taken its place meanwhile keeps it. */
  meet: {
    input: Self & { name: string; version: string; sequence: number; mark: string; isFirst: boolean }
    /** `mark`: of the change at which PostgreSQL is. */
    output: {
      state: 'member' | 'other cluster' | 'removed' | 'doubled' | 'taken name' | 'lost' | 'newer'
      sequence: number
      mark: string | null
    }
  }
  /** Fails where this node may not change the configuration; it still follows what others change. */
  'may-change': { input: null; output: null }
  append: { input: Self & { sequence: number; token: string; changes: RowChange[] }; output: number }
  /** `marks`: of the changes behind `after`, the last at least. */
  rows: { input: { after: number }; output: { sequence: number; mark: string; rows: SharedRow[]; marks: SeenMark[] } }
  /** Makes again what a standby that took over had not got. False: it is no longer at that mark. */
  restore: {
    input: Self & { sequence: number; mark: string; changes: RowChange[]; marks: SeenMark[] }
    output: boolean
  }
  applied: { input: Self & { sequence: number }; output: null }
  members: { input: null; output: ClusterPeer[] }
  leave: { input: Self; output: null }
  /** `returns`: what the node was given and is not known to have spent is given to others. */
  remove: { input: { name: string; returns: boolean }; output: ClusterPeer | null }
  invite: { input: { invite: string; minutes: number }; output: null }
  /** False: there is no such invitation, or it was used, or is over. */
  'ask-join': { input: JoinRequest; output: boolean }
  'read-answer': { input: { invite: string }; output: string | null }
  'read-joins': { input: { invites: string[] }; output: JoinRequest[] }
  'answer-join': { input: JoinRequest & { answer: string }; output: null }
  /** What is journaled by now is in PostgreSQL when it is answered, or could not be brought there. */
  ship: { input: null; output: null }
  /** Records of nodes of other names, the oldest first behind that id; none: there are no more. */
  'read-others': { input: { node: string; after: string }; output: { records: ForeignRecord[]; last: string } | null }
  /** The same of captured bodies, behind that id and part. */
  'read-other-bodies': {
    input: { node: string; after: readonly string[] }
    output: { bodies: BodyRow[]; last: string[] } | null
  }
  /** What all nodes have stored besides records, behind that key; null: there is nothing more. */
  'read-objects': { input: { after: string }; output: SharedPage | null }
  /** What was captured of a request of any node. */
  bodies: { input: { id: string }; output: FoundBodies }
  /** Of the records of all nodes. */
  read: { input: RecordReading; output: unknown }
  /** What lies at providers and is somebody's, of all nodes. */
  objects: { input: ObjectFilter; output: StoredObject[] }
}

/** What parts of the thread answer that have a connection of their own. */
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
  /** Nobody waits for that reading any more. */
  | { kind: 'stop'; id: number }
  /** What is to be kept up by itself; null: nothing. */
  | { kind: 'self'; self: Self | null }
  /** What this node uses of limits from now on. */
  | { kind: 'limits'; start: LimitsStart }
  | { kind: 'limit-wanted'; want: LimitWant }
  /** How this node is. */
  | { kind: 'condition'; condition: NodeCondition }
  | { kind: 'keep'; keeps: KeepTimes }
  /** Whether records of other nodes are wanted as they end. */
  | { kind: 'follow'; wanted: boolean }
  /** To all nodes over Valkey. `keeps`: for those that do not listen now as well. */
  | { kind: 'notify'; text: string; keeps: boolean }
  /** From now on what is shipped is asked for over this port. It is transferred. */
  | { kind: 'outbox'; port: MessagePort }
  | { kind: 'close' }

/**
 * `away`: PostgreSQL was not reached, so that it may have happened or not. `unusable`: it is reached, and serves this node not
 * at all. `refused`: this question alone.
 */
export type FailureCause = 'away' | 'unusable' | 'refused'

export type ClusterMessage =
  | { kind: 'answer'; id: number; output: unknown }
  | { kind: 'failure'; id: number; cause: FailureCause; message: string; hint?: string }
  /** Why PostgreSQL is not reached; null: it is. */
  | { kind: 'link'; trouble: string | null }
  /** The cluster is there now. */
  | { kind: 'head'; sequence: number; member: boolean }
  | { kind: 'members'; members: ClusterPeer[]; conditions: Record<string, NodeCondition> }
  /** Of this budget some node has no room; others may have some that they do not need. */
  | { kind: 'recall'; counter: string; period: string }
  /** Why limits cannot be granted here; null: they can. */
  | { kind: 'valkey'; trouble: string | null }
  /** What some node has told over Valkey, perhaps this one. */
  | { kind: 'heard'; texts: string[] }
  /** Why nothing is heard over Valkey; null: it is. */
  | { kind: 'channel'; trouble: string | null }
  | { kind: 'outbox'; report: OutboxReport }
  /** Records of other nodes that have ended. */
  | { kind: 'ended'; records: RequestRecord[] }
  | { kind: 'crashing'; reason: string }
