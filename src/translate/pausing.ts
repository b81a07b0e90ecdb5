import type { Edit } from '../core/json-scan.ts'
import type { JsonObject } from '../core/json-value.ts'

/** A format whose providers may pause in the midst of an answer, and go on when they get back what they have written. */
export interface Pausing {
  /** Collects what a streamed answer writes. */
  openBlocks(): PausedBlocks
  /** What a whole answer has written, each block as JSON; null: it has not paused, or cannot go on. */
  readWhole(body: Buffer): readonly string[] | null
  /**
   * Makes a request one for the rest of its answer. `written`: the output tokens so far, which count in its limit. Null: the limit
   * leaves nothing.
   */
  editRequest(request: Buffer, blocks: readonly string[], written: number): readonly Edit[] | null
  /** Makes the last part of a whole answer all of it. */
  editAnswer(body: Buffer, blocks: readonly string[]): readonly Edit[]
}

/** Of one part of a streamed answer. */
export interface PausedBlocks {
  add(event: JsonObject): void
  /** As of a whole answer. */
  read(): readonly string[] | null
}
