import { reachFaultPoint } from '../../core/fault-point.ts'
import type { BatchHeldEntry, ObjectsEntry } from '../../core/journal-format.ts'
import type { ObjectName, ObjectOwner } from '../../core/objects/stored-object.ts'
import type { StartedWork } from '../../lanes/earlier-work.ts'
import type { Journal } from '../journal/journal.ts'
import type { BatchResults } from './batch-results.ts'
import type { InputWatch } from './input-watch.ts'

/** Earlier work that a call continues: what decides the cost of one more step. */
export interface EarlierWork {
  /** The model's name at the provider. */
  model: string
  /** Tokens that the previous step sent. This one sends them again. */
  input: number
  /** Output tokens to hold; null: as for any call without a limit. */
  output: number | null
  /** The hold that stays until the work has ended, and to which this step is added; null: unknown here. */
  held: BatchHeldEntry | null
}

/** What a request does with objects at its provider, for the journal. */
export class ObjectNotes {
  /** The objects that the call names. All belong to the caller. */
  named: readonly ObjectName[] = []
  /** RFC 3339: when the first of them was created, by the clock of its node. */
  madeAt: string | null = null
  /** What it created or deleted. */
  entry: ObjectsEntry | null = null
  /** Work that continues in the background, and its owner. */
  started: { work: StartedWork; owner: ObjectOwner } | null = null
  /** Earlier work that the call continues; null: none, or its model is unknown. */
  earlier: EarlierWork | null = null
  /** Reads an upload that may be a batch's input file. */
  readonly input: InputWatch | null
  /** Reads an answer that may contain the results of a batch, or show the end of other background work. */
  results: BatchResults | null = null

  constructor(input: InputWatch | null = null) {
    this.input = input
  }

  journal(journal: Journal): void {
    if (this.entry !== null) {
      void journal.append(this.entry)
      reachFaultPoint('journal.after-objects')
    }
    for (const used of this.results?.entries() ?? []) void journal.append(used)
  }
}
