import { errorCodes } from '../errors.ts'

/** Conditions that are neither a status nor an error code. `default` stands for the built-in list. */
export const namedConditions = ['content_filter', 'context_length', 'default'] as const

const statusForm = /^[45]\d\d$/
const known: ReadonlySet<string> = new Set([...errorCodes, ...namedConditions])

/** Whether a route may fall back on it. */
export function isFallbackCondition(word: string): boolean {
  return statusForm.test(word) || known.has(word)
}

/** Half a sentence that follows the quoted word. */
export const notACondition = `is neither a status nor an error code, nor one of ${namedConditions.join(', ')}`
