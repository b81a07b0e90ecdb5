import { anthropic } from './anthropic/lane.ts'
import type { Lane } from './contract.ts'
import { gemini } from './gemini/lane.ts'
import { openai } from './openai/lane.ts'

/** The most specific prefix first: all three begin with `/v1`. */
export const lanes: readonly Lane[] = [anthropic, gemini, openai]

/** The lane a path belongs to (no query); null when it belongs to none. What stands behind `lane.prefix` is the path for `match`. */
export function findLane(path: string): Lane | null {
  return lanes.find((lane) => path === lane.prefix || path.startsWith(`${lane.prefix}/`)) ?? null
}
