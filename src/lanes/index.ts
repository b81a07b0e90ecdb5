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

/** Where an upload goes on whose client kept only the path of its URL and put it below the host: there it means the lane's. */
export function lanePath(path: string): string {
  return path.startsWith('/upload/v') ? gemini.prefix + path : path
}
