import { asArray, asObject, isCount, type JsonObject } from '../core/json-value.ts'
import type { UsageDetail } from '../core/record.ts'

/** What a provider reported beyond the token counts; null where it was nothing. */
export function usageDetail(found: { [Name in keyof UsageDetail]?: unknown }): UsageDetail | null {
  const detail: UsageDetail = {
    cache_write_1h: count(found.cache_write_1h),
    audio_input: count(found.audio_input),
    audio_output: count(found.audio_output),
    audio_cached: count(found.audio_cached),
    image_input: count(found.image_input),
    image_output: count(found.image_output),
    searches: count(found.searches),
    seconds: typeof found.seconds === 'number' && found.seconds >= 0 ? found.seconds : null,
    characters: count(found.characters),
    images: count(found.images),
    image_size: typeof found.image_size === 'string' ? found.image_size : null,
    tier: typeof found.tier === 'string' ? found.tier : null,
    batch: found.batch === true ? true : null,
  }
  return Object.values(detail).every((value) => value === null) ? null : detail
}

/** Zero says nothing: most answers have every member, and only a few use what it counts. */
function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

/** Tokens of one kind in Gemini's lists by modality. Source: wire/streaming.md, section 5. */
export function countModality(list: unknown, modality: string): number {
  const entries = asArray(list).map(asObject)
  return entries.reduce((sum, entry) => sum + (entry?.modality === modality ? tokensOf(entry) : 0), 0)
}

function tokensOf({ tokenCount }: JsonObject): number {
  return isCount(tokenCount) ? tokenCount : 0
}
