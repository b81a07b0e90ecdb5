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

/** How the paths of each lane begin. Clients differ in which part of it they append themselves. */
const bases: readonly { lane: Lane; base: string }[] = [
  { lane: openai, base: openai.prefix },
  { lane: anthropic, base: `${anthropic.prefix}/v1` },
  { lane: gemini, base: `${gemini.prefix}/v1beta` },
]
const begun = /^(?:\/(?:v1|v1beta|openai|anthropic|gemini)(?=\/))+/

/**
 * The path that a client with a wrong base URL most likely wants: with a version too many or too few, or at another lane. Null when no
 * endpoint is like it.
 */
export function suggestPath(method: string, path: string): string | null {
  const rest = path.replace(begun, '')
  for (const { lane, base } of bases) {
    const meant = base + rest
    const found = lane.match(method, meant.slice(lane.prefix.length))
    if (found !== null && found.endpoint.method !== 'ANY' && found.endpoint.served !== 'nobody') return meant
  }
  return null
}

/** Whose error shape is used where no lane is known: every SDK family reads it. */
export const defaultLane: Lane = openai
