import { anthropic } from './anthropic/lane.ts'
import type { Lane } from './contract.ts'
import { gemini } from './gemini/lane.ts'
import { openai } from './openai/lane.ts'

/** The most specific prefix comes first: all three start with `/v1`. */
export const lanes: readonly Lane[] = [anthropic, gemini, openai]

/**
 * The lane that a path (without query) belongs to; null when it belongs to none. `match` takes the part after
 * `lane.prefix`.
 */
export function findLane(path: string): Lane | null {
  for (const lane of lanes) {
    const { length } = lane.prefix
    if (path.startsWith(lane.prefix) && (path.length === length || path[length] === '/')) return lane
  }
  return null
}

/**
 * Some clients keep only the path of an upload URL and send it to the bare host: that path belongs to the Gemini lane.
 */
export function lanePath(path: string): string {
  return path.startsWith('/upload/v') ? gemini.prefix + path : path
}

/** Whose error shape is used where no lane is known: every SDK family reads it. */
export const defaultLane: Lane = openai
