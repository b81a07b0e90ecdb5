import { scanObject } from '../json/json-scan.ts'
import { WatchedNames } from '../watched-names.ts'
import type { CacheWrites } from './asked-tools.ts'

/** Members by which a request has its prompt written to the provider's cache, for which some vendors charge more than for reading it. */
export const cacheMarks = new WatchedNames(['cache_control', 'prompt_cache_breakpoint', 'prompt_cache_options'])

const longest = ['"1h"', '"12h"'].map((text) => Buffer.from(text))

/** How long the provider keeps the prompt of a body with such a mark. */
export function cacheWritesOf(body: Buffer): CacheWrites {
  return longest.some((text) => body.includes(text)) ? 'long' : 'short'
}

/** Null: it has no mark. */
export function readCacheWrites(body: Buffer): CacheWrites | null {
  const watch = { names: cacheMarks, seen: false }
  scanObject(body, [], undefined, watch)
  return watch.seen ? cacheWritesOf(body) : null
}
