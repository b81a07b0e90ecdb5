import type { Edit } from '../core/json/json-scan.ts'
import type { JsonObject } from '../core/json/json-value.ts'

/** For a format whose providers may pause in the middle of an answer, and continue when they get back what they have written. */
export interface Pausing {
  /** Collects the blocks of a streamed answer. */
  openBlocks(): PausedBlocks
  /** The blocks of a whole answer, each as JSON; null: it has not paused, or cannot continue. */
  readWhole(body: Buffer): readonly string[] | null
  /**
   * Turns a request into one for the rest of its answer. `written`: output tokens so far, which count against its limit. Null: the limit
   * leaves nothing.
   */
  editRequest(request: Buffer, blocks: readonly string[], written: number): readonly Edit[] | null
  /** Turns the last part of a whole answer into the whole. */
  editAnswer(body: Buffer, blocks: readonly string[]): readonly Edit[]
}

/** The blocks of one part of a streamed answer. */
export interface PausedBlocks {
  add(event: JsonObject): void
  /** As for a whole answer. */
  read(): readonly string[] | null
}
