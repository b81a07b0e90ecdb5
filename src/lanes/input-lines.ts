import type { ObjectName } from '../core/stored-object.ts'

/** What a line of a batch's input file names. */
export interface InputLine {
  models: readonly string[]
  objects: readonly ObjectName[]
}
