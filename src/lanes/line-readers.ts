import type { LaneName } from '../core/lane.ts'
import type { InputLine } from './earlier-work.ts'
import { readLine as readGeminiLine } from './gemini/input-lines.ts'
import { readLine as readOpenaiLine } from './openai/objects/input-lines.ts'

/**
 * Returns the models and objects that a line of a batch's input file names, or half a sentence that says why they
 * cannot be known.
 */
export type LineReader = (line: Buffer) => InputLine | string

/**
 * The readers of the lanes whose batches have input files. Kept apart from the lanes, so that a gateway without batches
 * never loads them.
 */
export const lineReaders: Readonly<Partial<Record<LaneName, LineReader>>> = {
  openai: readOpenaiLine,
  gemini: readGeminiLine,
}
