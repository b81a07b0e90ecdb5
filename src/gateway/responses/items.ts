import { asObjects, type JsonObject } from '../../core/json/json-value.ts'
import type { FoundResponse } from './kept-responses.ts'

/** The items that a kept response adds to its conversation. */
export function itemsOf({ input, response }: FoundResponse): JsonObject[] {
  return [...input, ...asObjects(response.output)]
}

/** An input that is a string is a message of the user. */
export function readItems(input: unknown): JsonObject[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : asObjects(input)
}
