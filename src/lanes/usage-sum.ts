import type { TokenUsage, UsageDetail } from '../core/record.ts'

/** Adds the usage of several answers on one connection; null counts as nothing. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage
export function addUsage(one: TokenUsage | null, other: TokenUsage | null): TokenUsage | null
export function addUsage(one: TokenUsage | null, other: TokenUsage | null): TokenUsage | null {
  if (one === null || other === null) return one ?? other
  return {
    input: add(one.input, other.input),
    output: add(one.output, other.output),
    cache_read: add(one.cache_read, other.cache_read),
    cache_write: add(one.cache_write, other.cache_write),
    reasoning: add(one.reasoning, other.reasoning),
    source: one.source === other.source ? one.source : 'estimated',
  }
}

/** Bounds what a provider reports: a larger sum could not be stored, and its request would seem never to have ended. */
function add(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER)
}

/** Counts are added; the tier, the place, and whether it was a batch, are those of the last report. */
export function addUsageDetail(one: UsageDetail | null, other: UsageDetail | null): UsageDetail | null {
  if (one === null || other === null) return one ?? other
  const sum = (name: Exclude<keyof UsageDetail, 'tier' | 'geo' | 'batch' | 'image_size'>) =>
    one[name] === null && other[name] === null ? null : add(one[name] ?? 0, other[name] ?? 0)
  return {
    cache_write_1h: sum('cache_write_1h'),
    audio_input: sum('audio_input'),
    audio_output: sum('audio_output'),
    audio_cached: sum('audio_cached'),
    image_input: sum('image_input'),
    image_output: sum('image_output'),
    image_cached: sum('image_cached'),
    video_input: sum('video_input'),
    searches: sum('searches'),
    file_searches: sum('file_searches'),
    containers: sum('containers'),
    seconds: sum('seconds'),
    characters: sum('characters'),
    images: sum('images'),
    image_size: other.image_size ?? one.image_size,
    tier: other.tier ?? one.tier,
    geo: other.geo ?? one.geo,
    batch: other.batch ?? one.batch,
  }
}
