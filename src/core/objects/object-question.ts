import type { BatchInput, HeldInput } from './batch-input.ts'
import type { Asker, ObjectPlace, ObjectType, StoredObject } from './stored-object.ts'
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

/** Asks for what is kept under these names. A name is a digest: whoever can compute it may have what it names. */
export interface ReasoningQuestion {
  id: number
  kind: 'reasoning'
  names: readonly string[]
  /** Where nodes share it: what one of them has kept a moment ago is waited for. */
  isNeeded: boolean
}

/** Asks what background work holds, for a later call that continues it. */
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
  /** Unique to the call. */
  call: string
  projectId: string
  /** The byte at which this call, or the next one, continues. */
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
  /** If the scope does not have all of them, the journal is ingested first. */
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
  /**
   * The store's thread has it, and the answer takes a moment; `withinMs`: longer than usual, where other nodes are
   * asked.
   */
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
