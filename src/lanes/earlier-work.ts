import type { BackgroundWork } from '../core/journal-format.ts'
import type { TokenUsage } from '../core/record.ts'
import type { ObjectName } from '../core/stored-object.ts'

export interface ResultUsage {
  model: string | null
  tokens: TokenUsage
}

/** Work that goes on behind the call that made it. */
export interface StartedWork {
  type: BackgroundWork
  id: string
}

export interface EndedWork extends StartedWork {
  /** A batch has ended, and what it used stands in results that nobody has brought yet. */
  unread?: true
  /** What the sums say stands in its results once more, line by line. */
  hasResults?: true
  /** One sum for each of its answers, or for all answers of one model. */
  sums: readonly { model: string | null; lines: number; tokens: TokenUsage }[]
}

/** The models and objects that one line of a batch's input file names. */
export interface InputLine {
  models: readonly string[]
  objects: readonly ObjectName[]
  /** What it asks for; `output` null: as much as the model writes. */
  ask: { model: string | null; bytes: number; output: number | null }
}
