import type { BodyNote, BodyPart } from './capture.ts'
import type { LaneName } from './lane.ts'
import type { CreatedObject } from './objects/batch-input.ts'
import type { ObjectName, ObjectOwner } from './objects/stored-object.ts'
import type { Cost, RequestRecord, TokenUsage, UsageDetail } from './record.ts'

/**
 * The request journal: append-only segments, one writer thread each, read by ingestion.
 *
 * A segment is a preallocated file of zeros named `<boot>-<thread>-<sequence>.journal`; names are never reused.
 * An entry is a little-endian u32 payload length, a u32 CRC-32 of the payload, and the payload (UTF-8 JSON of a
 * `JournalEntry`, which begins with a brace). A length of zero ends what is written so far; so does an entry whose checksum
 * differs. In a segment that nobody writes to any more, ingestion looks behind either for the next whole entry.
 * A writer puts the first entry into a segment only when its last write to the one before has returned: from then on
 * ingestion takes the one before as full, and empties and deletes it once it is read.
 */
export const segmentBytes = 4 * 1024 * 1024
export const entryHeaderBytes = 8
const segmentForm = /^([0-9a-z]+)-(\d+)-(\d+)\.journal$/

/**
 * Counter of a budget, day or month (`2026-11-23`, `2026-11`), and whole nano-dollars or tokens: of an admitted request what it
 * holds, of a settled one what it came to. It stands before the record, and only where a budget applies.
 */
export type BookedAmount = readonly [counter: string, period: string, amount: number]

export type JournalEntry =
  /** Written before anything is sent to a provider. `record.state` is `admitted`. */
  | { kind: 'admitted'; hold?: readonly BookedAmount[]; record: RequestRecord }
  /** What a request that goes on holds by now, and may come to: in place of what its admitted entry says. */
  | { kind: 'held'; id: string; hold: readonly BookedAmount[]; tokens: TokenUsage }
  /** Written before the terminal event or last byte is given to the client. Holds the whole record. */
  | { kind: 'settled'; booked?: readonly BookedAmount[]; record: RequestRecord }
  | ObjectsEntry
  | BatchHeldEntry
  | BatchUsageEntry
  | BodyEntry
  | ReasoningEntry
  /** Refusals without a valid key beyond the first hundred a second from one address: they share `id`. */
  | { kind: 'repeated'; id: string; count: number; lastTime: string }

/**
 * Objects that a call has made at its provider, and those that it has deleted there. Written before the client can name
 * them: before the settled entry of a whole answer, and with the event of a stream that first shows the id.
 */
export interface ObjectsEntry {
  kind: 'objects'
  requestId: string
  /** RFC 3339: of the request. */
  time: string
  owner: ObjectOwner
  made: CreatedObject[]
  /** `createdAt`: RFC 3339, as the index has it; absent: by a gateway that did not know. */
  forgotten: (ObjectName & { createdAt?: string })[]
}

/** What a batch, or other work behind its call, holds of budgets from that call's end until it is known what it used. */
export interface BatchHeldEntry {
  kind: 'batch-held'
  /** Absent in entries of earlier versions: a batch. */
  type?: BackgroundWork
  requestId: string
  /** RFC 3339: when it was made. */
  time: string
  /** Id of the work. */
  batchId: string
  lane: LaneName
  provider: string | null
  /** Null: it has several, or none is known. */
  model: string | null
  owner: ObjectOwner
  hold: readonly BookedAmount[]
  /** What it may come to. */
  tokens: TokenUsage
  /** Of a later step of work that was made before, which is held besides: what that step sent. `tokens` are of all steps. */
  step?: { input: number }
  /** The client limits the output of all steps together, which the first one holds. */
  limited?: true
}

/** What a budget held for some work, and what that came to. */
export interface SettledHold {
  counter: string
  period: string
  held: number
  actual: number
}

/** Work that reports its usage only when it ends, long after the call that started it. */
export type BackgroundWork = 'batch' | 'response' | 'interaction' | 'eval_run' | 'thread_run'

/**
 * What the results of a batch say was used, or the end of other work that went on behind its call, written before the settled entry of
 * the request that brought it whole. It becomes records where it is the first of its work.
 */
export interface BatchUsageEntry {
  kind: 'batch-usage'
  /** Absent in entries of earlier versions: a batch. */
  type?: BackgroundWork
  /** Of the request that brought the results. */
  requestId: string
  /** RFC 3339: when they had been brought. */
  time: string
  /** Id of the work. */
  batchId: string
  /** The request that made it, whose own record may hold a part of what was used; null or left out where none is known. */
  madeBy?: string | null
  lane: LaneName
  /** Name of the provider configuration. */
  provider: string | null
  /** Of the batch as far as it is known, else of the file with its results. */
  owner: Omit<ObjectOwner, 'keyId'> & { keyId: string | null }
  /** A batch has ended, and what it used stands in results that nobody has brought yet. Left out: `sums` are all of it. */
  unread?: true
  sums: BatchSum[]
  /** Budgets that count it where it held nothing of them. */
  counters?: readonly (readonly [counter: string, period: string])[]
}

export interface BatchSum {
  /** Of the record that it becomes. */
  id: string
  /** As the results name it; null where they name none. */
  model: string | null
  /** Results with usage. */
  lines: number
  tokens: TokenUsage
  /** Left out where there is none, and by earlier versions. */
  detail?: UsageDetail
  /** Null or left out where there is no price. */
  cost?: Cost | null
  /** Why its cost is not whole, or why it has none. Left out where it is, and by earlier versions. */
  unpriced?: string
}

/**
 * A body of a request, or the beginning of it, written before the settled entry. No larger than a third of a segment. Its
 * content is compressed and sealed; what is said of it in clear is what can be told without opening it.
 */
export interface BodyEntry extends BodyNote {
  kind: 'body'
  /** Of the request. */
  id: string
  part: BodyPart
  /** Id of the key that sealed it. */
  key: string
  /** Epoch milliseconds: policies keep it until then. Left out: as long as the settings say. */
  until?: number
  /** Base64 of a zstd frame, sealed; within it the JSON of a `CapturedBody`. */
  sealed: string
}

/**
 * What a model thought before it called a tool, as only its provider can read it. Written before the client learns the call's id, by
 * which a later request finds it.
 */
export interface ReasoningEntry {
  kind: 'reasoning'
  requestId: string
  /** A digest of the owner and the call's id. */
  name: string
  /** Epoch milliseconds. */
  expiresAt: number
  sealed: string
}

export interface SegmentName {
  boot: string
  thread: number
  sequence: number
}

/**
 * Who still writes, as far as is known. A thread's number is never used twice in one boot, and those from `next` on
 * are yet to come: whoever knows a state that is a moment old takes no living thread for a dead one.
 */
export interface Writers {
  boot: string
  running: readonly number[]
  next: number
}

export function mayWrite({ boot, running, next }: Writers, writer: Pick<SegmentName, 'boot' | 'thread'>): boolean {
  return writer.boot === boot && (writer.thread >= next || running.includes(writer.thread))
}

export function formatSegmentName(name: SegmentName): string {
  return `${name.boot}-${name.thread}-${String(name.sequence).padStart(8, '0')}.journal`
}

export function parseSegmentName(file: string): SegmentName | null {
  const match = segmentForm.exec(file)
  return match?.[1] === undefined ? null : { boot: match[1], thread: Number(match[2]), sequence: Number(match[3]) }
}
