import { reachFaultPoint } from '../../core/fault-point.ts'
import type { BatchHeldEntry, ObjectsEntry } from '../../core/journal-format.ts'
import type { ObjectName, ObjectOwner } from '../../core/stored-object.ts'
import type { StartedWork } from '../../lanes/earlier-work.ts'
import type { Journal } from '../journal/journal.ts'
import type { BatchResults } from './batch-results.ts'
import type { InputWatch } from './input-watch.ts'

/** Work that a call goes on with, as far as it decides what one more step of it may come to. */
export interface EarlierWork {
  /** By the provider's name. */
  model: string
  /** Tokens that the step before sent, and that this one sends again. */
  input: number
  /** Output tokens to be held; null: as for any call without a limit. */
  output: number | null
  /** What it holds until its end is shown, to which the step is added; null: nobody knows here. */
  held: BatchHeldEntry | null
}

/** What one request has to do with objects at its provider, for the journal. */
export class ObjectNotes {
  /** What the call names; all of it is the caller's. */
  named: readonly ObjectName[] = []
  /** RFC 3339: when the first of them was made, by the clock of whoever made it. */
  madeAt: string | null = null
  /** What it created or deleted. */
  entry: ObjectsEntry | null = null
  /** Work that goes on behind the call, and whose it is. */
  started: { work: StartedWork; owner: ObjectOwner } | null = null
  /** What the call goes on with that an earlier one made; null: nothing, or nothing is known of its model. */
  earlier: EarlierWork | null = null
  /** For an upload that may be a batch's input file. */
  readonly input: InputWatch | null
  /** Where the answer may bring the results of a batch, or how other background work ended. */
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
