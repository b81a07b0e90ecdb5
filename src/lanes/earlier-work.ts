import type { BackgroundWork } from '../core/journal-format.ts'
import type { LineAsk } from '../core/objects/batch-input.ts'
import type { ObjectName } from '../core/objects/stored-object.ts'
import type { TokenUsage, UsageDetail } from '../core/record.ts'

export interface ResultUsage {
  model: string | null
  tokens: TokenUsage
  detail: UsageDetail | null
  /** Of other models that worked for the same answer. Absent: none did. */
  beside?: readonly ResultUsage[]
}

/** Work that continues in the background after its call. */
export interface StartedWork {
  type: BackgroundWork
  id: string
}

export interface EndedWork extends StartedWork {
  /** A batch has ended, but its usage is in results that nobody has fetched yet. */
  unread?: true
  /** The results report the same usage again, line by line. */
  hasResults?: true
  /** One sum for each answer, or for all answers of one model. */
  sums: readonly { model: string | null; lines: number; tokens: TokenUsage; detail?: UsageDetail | null }[]
}

/** The models and objects that one line of a batch's input file names. */
export interface InputLine {
  models: readonly string[]
  objects: readonly ObjectName[]
  ask: LineAsk
}
