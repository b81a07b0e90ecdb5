import type { LaneName } from '../core/lane.ts'
import type { InputLine } from './contract.ts'
import { readLine as readGeminiLine } from './gemini/input-lines.ts'
import { readLine as readOpenaiLine } from './openai/objects/input-lines.ts'

/** Says what a line of a batch's input file names; or half a sentence, why that cannot be known. */
export type LineReader = (line: Buffer) => InputLine | string

/**
 * Of the lanes whose batches have such files. Beside the lanes and no part of them, since a gateway at rest has no use for it.
 */
export const lineReaders: Readonly<Partial<Record<LaneName, LineReader>>> = {
  openai: readOpenaiLine,
  gemini: readGeminiLine,
}
