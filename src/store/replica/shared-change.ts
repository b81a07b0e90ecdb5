import type { BackgroundWork, BatchHeldEntry } from '../../core/journal-format.ts'
import type { BatchInput } from '../../core/objects/batch-input.ts'
import type { UploadPart } from '../../core/objects/object-question.ts'
import type { ObjectName, ObjectPlace, ObjectScope, StoredObject } from '../../core/objects/stored-object.ts'
import type { HeldBatch } from '../ingest/batch-hold-statements.ts'
import type { CountedUsage } from './usage-claim.ts'

/** What a node has stored besides records, as the others get to know it. Made twice it is made once. */
export type SharedChange =
  | { kind: 'made'; object: StoredObject; input: BatchInput | null }
  | ({ kind: 'forgotten' } & ForgottenObject)
  | SharedReasoning
  /** A batch, or other background work, holds budget on this node until it is counted. */
  | SharedHold
  | ({ kind: 'counted' } & SharedCount)
  /** Of its requests from that id on this node has shipped what bodies it has; none but its own are before its records. */
  | { kind: 'bodies-from'; id: string }

/** `work`: without its amounts, which only the node that holds them counts; left out where no later call goes on with it. */
export interface SharedHold extends HeldBatch {
  kind: 'held'
  work?: BatchHeldEntry
}

/** Only runs are gone on with by later calls. */
export function toSharedHold(entry: BatchHeldEntry): SharedHold {
  const { type, batchId, owner } = entry
  const { providerId, credentialId } = owner
  const place = { kind: 'held', batchId, providerId, credentialId } as const
  return type === 'thread_run' ? { ...place, work: { ...entry, hold: [] } } : place
}

/** In the order of `readObjectHistory`. */
export interface SharedPage {
  changes: SharedChange[]
  /** The key of the last of them. */
  last: string
}

/** What some background work used is on records of this node. */
export interface SharedCount extends HeldBatch {
  type: BackgroundWork
  usage: CountedUsage
}

export interface SharedReasoning {
  kind: 'reasoning'
  name: string
  expiresAt: number
  sealed: string
}

/** As what a kept response that was deleted stands among what was forgotten. */
export const reasoningType = 'reasoning'

export interface ForgottenObject extends ObjectPlace, ObjectScope {
  type: ObjectName['type'] | typeof reasoningType
  id: string
  /** RFC 3339: what somebody makes later under the same name stays. */
  until: string
}

/** What a node asks of what all of them have stored. */
export type ObjectsAsked =
  /** Everybody's rows with these names (`FindQuestion`). `settled`: what every node has journaled by now is among them. */
  | { act: 'find'; names: string; settled: boolean }
  | { act: 'places'; projectId: string; environmentId: string; type: string }
  | { act: 'input'; fileId: string; providerId: string; credentialId: string | null }
  /** What work a call goes on with, wherever it is held. */
  | ({ act: 'work'; settled: boolean } & HeldBatch)
  | { act: 'reasoning'; names: readonly string[]; settled: boolean }
  | { act: 'part'; part: UploadPart }

export type ObjectsQuestion = ObjectsAsked & { question: number }
export type ObjectsReply = { question: number; output: unknown } | { question: number; failure: string }
