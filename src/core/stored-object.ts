import { type AskedTools, addTools, type CacheWrites } from './asked-tools.ts'

/**
 * Objects that live at a provider and belong to the project and environment that made them (product.md section 2). Ids are the
 * provider's own; on the Gemini lane resource names (`files/abc`).
 */
export const objectTypes = [
  'assistant',
  'batch',
  'cached_content',
  'call',
  'character',
  'chat_completion',
  'container',
  'conversation',
  'environment',
  'eval',
  'file',
  'file_search_store',
  'fine_tuning_job',
  'interaction',
  'item',
  'live_session',
  'operation',
  'prompt',
  'response',
  'session_handle',
  'skill',
  'thread',
  'tuned_model',
  'upload',
  'vector_store',
  'video',
  'voice',
  'voice_consent',
] as const
export type ObjectType = (typeof objectTypes)[number]

export interface ObjectName {
  type: ObjectType
  id: string
}

/** What an answer tells of. */
export interface CreatedObject extends ObjectName {
  /** Of a file with a batch's results: the batch. */
  batchId?: string
  /** Of a file that a batch may read: what its lines name. */
  input?: BatchInput
}

/** Where an object lives: a follow-up goes to this very credential. */
export interface ObjectPlace {
  providerId: string
  /** null: the provider takes no credential. */
  credentialId: string | null
}

/** Who may name an object. */
export interface ObjectScope {
  projectId: string
  environmentId: string
}

/** For whom the index is asked. */
export interface Asker extends ObjectScope {
  /** Of the key whose turn it takes. */
  keyId: string
}

/** Who an object belongs to, and where it lives. */
export interface ObjectOwner extends ObjectScope, ObjectPlace {
  /** Of the key that made it. */
  keyId: string
}

/** One row of the index. An id may stand there more than once: on the Gemini lane a client chooses it, account by account. */
export interface StoredObject extends ObjectName, ObjectScope, ObjectPlace {
  /** null for what an operator adopted. */
  keyId: string | null
  requestId: string | null
  /** RFC 3339: of the request that made it, or of the adoption. */
  createdAt: string
  /** Of a file with a batch's results: the batch; null for all else. */
  batchId: string | null
}

/**
 * What the lines of a file name that a batch may read, as they were seen when the file passed. The file itself is not kept, and its
 * provider reads it hours later: what it names is judged by this when a batch is to be made of it.
 */
export interface BatchInput {
  lines: number
  models: string[]
  objects: ObjectName[]
  /** Why not all of it is known, as half a sentence; null: it is. */
  unread: string | null
  /** What they ask for, by model; left out by gateways that counted nothing. */
  asks?: BatchAsk[]
}

/** What the requests of a batch by one model may come to, as far as they say so themselves. */
export interface BatchAsk {
  /** null: the batch's own. */
  model: string | null
  /** Models that may answer in its place. Left out: none, and by earlier versions. */
  others?: readonly string[]
  lines: number
  bytes: number
  /** Bytes of the largest, since its length may choose other rates. */
  longest: number
  /** Output tokens that they allow: those that set a limit. */
  output: number
  /** Answers of those that set none. */
  unlimited: number
  /** What they let tools of the provider do. Left out, as what follows: nothing, and by earlier versions. */
  tools?: AskedTools
  /** Bytes of those that have their prompt written to the provider's cache, and of those that have it kept there for longer. */
  written?: number
  writtenLong?: number
  /** Where one of them asks to be processed. */
  geo?: string
}

/** Sets of models that are told apart. */
const mostAsks = 200
/** No list of names is written so. */
const manyNames = ''

/** One request of a batch. */
export interface LineAsk {
  model: string | null
  others?: readonly string[]
  bytes: number
  /** What it allows; null: it sets no limit. */
  output: number | null
  /** How many answers it asks for; left out: one. */
  answers?: number
  tools?: AskedTools | null
  writes?: CacheWrites | null
  geo?: string | null
}

/** Names are the client's own: one may contain whatever would separate two. */
function nameAsk({ model, others = [] }: Pick<BatchAsk, 'model' | 'others'>): string {
  return JSON.stringify([...new Set([model, ...others])].sort())
}

/** To add more to them. */
export function resumeBatchAsks(asks: readonly BatchAsk[]): Map<string, BatchAsk> {
  return new Map(asks.map((ask, place) => [place < mostAsks ? nameAsk(ask) : manyNames, ask]))
}

export function addBatchAsk(asks: Map<string, BatchAsk>, line: LineAsk): void {
  const { model, others = [], bytes, output, answers = 1 } = line
  const none: BatchAsk = { model, lines: 0, bytes: 0, longest: 0, output: 0, unlimited: 0 }
  const named = nameAsk({ model, others })
  // Clients choose these names, in as many orders and sets as they like: what is too many counts together.
  const key = asks.size < mostAsks || asks.has(named) ? named : manyNames
  const ask = asks.getOrInsertComputed(key, () => (others.length === 0 ? none : { ...none, others }))
  if (key === manyNames)
    ask.others = [...new Set([...(ask.others ?? []), ...others, ...(model === null ? [] : [model])])]
  ask.lines++
  ask.bytes += bytes
  ask.longest = Math.max(ask.longest, bytes)
  ask.output += output ?? 0
  if (output === null) ask.unlimited += answers
  const { tools = null, writes = null, geo = null } = line
  const used = addTools(ask.tools, tools)
  if (used !== undefined) ask.tools = used
  if (writes === 'short') ask.written = (ask.written ?? 0) + bytes
  if (writes === 'long') ask.writtenLong = (ask.writtenLong ?? 0) + bytes
  if (geo !== null) ask.geo = geo
}

/** Of a file that comes in several calls: where the next one must go on, and what was seen so far. */
export interface HeldInput {
  /** Bytes of the file so far. */
  offset: number
  input: BatchInput
  /** The beginning of the line that has not ended. */
  rest: Uint8Array
}

/** What a data-plane thread asks the store's thread, over a port of its own. */
export type ObjectQuestion =
  | FindQuestion
  | PlacesQuestion
  | InputQuestion
  | UploadPartQuestion
  | ReasoningQuestion
  | WorkQuestion

/** What the lines of a file name, and whether an operator has adopted it. */
export interface InputQuestion {
  id: number
  kind: 'input'
  scope: Asker
  fileId: string
  place: ObjectPlace
}

/** What is kept under these names; whoever can make such a name may have it. */
export interface ReasoningQuestion {
  id: number
  kind: 'reasoning'
  names: readonly string[]
  /** Where nodes share it: what one of them has kept a moment ago is waited for. */
  isNeeded: boolean
}

/** What work holds that goes on behind the call that made it, and that a later call goes on with. */
export interface WorkQuestion {
  id: number
  kind: 'work'
  scope: Asker
  work: ObjectPlace & { batchId: string }
}

/** A part of a file that comes in several calls: before its bytes go up, and again when the provider has taken them. */
export interface UploadPartQuestion {
  id: number
  kind: 'part'
  scope: Asker
  part: UploadPart
}

export interface UploadPart {
  /** `leave`: nothing of the part went up, so what was taken is left as it was. */
  step: 'take' | 'give' | 'leave'
  /** Of the upload: a hash, since whoever knows what it is made of may go on with the upload. */
  name: string
  /** Of the call, and of no other. */
  call: string
  projectId: string
  /** Where the call goes on, or the next has to. */
  offset: number
  /** What is given back, sealed where nodes share it; null: nothing, or no part is to come. */
  held: HeldInput | Uint8Array | null
}

export interface PartAnswer {
  /** This call alone goes on at that byte, and all before it was seen. */
  known: boolean
  /** What is taken; null, or no bytes where nodes share it: this is the first part. */
  held: HeldInput | Uint8Array | null
}

export interface FindQuestion {
  id: number
  kind: 'find'
  scope: Asker
  /** JSON of ids by type, none twice: the store's thread hands it to the database as it came. */
  names: string
  /** Of the ids. */
  count: number
  /** Where the scope has not all of them, what is journaled is brought in first. */
  fresh: boolean
}

/** Where the scope has objects of that type, and how many. */
export interface PlacesQuestion {
  id: number
  kind: 'places'
  scope: Asker
  type: ObjectType
}

export type ObjectReply =
  /** The store's thread has it, and the answer takes a moment; `withinMs`: longer than usual, where other nodes are asked. */
  | { id: number; kind: 'begun'; withinMs?: number }
  /** Everybody's rows with these names: whoever asks tells operators whose they are, and clients nothing. */
  | { id: number; kind: 'found'; objects: StoredObject[] }
  | { id: number; kind: 'places'; places: CountedPlace[] }
  | { id: number; kind: 'input'; input: BatchInput | null; adopted: boolean }
  /** JSON of a `BatchHeldEntry`; null: it holds nothing that is known here. */
  | { id: number; kind: 'work'; held: string | null }
  | ({ id: number; kind: 'part' } & PartAnswer)
  /** By name. `certain`: nobody has what is not among it. */
  | { id: number; kind: 'reasoning'; found: Readonly<Record<string, string>>; certain: boolean }
  | { id: number; kind: 'failed'; reason: string }

export interface CountedPlace extends ObjectPlace {
  count: number
}
