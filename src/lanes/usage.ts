import { asArray, asObject, type JsonObject } from '../core/json/json-value.ts'
import type { TokenUsage, UsageConvention, UsageDetail } from '../core/record.ts'

export const usualConvention: UsageConvention = { reasoningBeside: false }

/** Counts as a provider wrote them. `input` and `total`: null where the provider left them out. */
export interface WrittenUsage {
  input: number | null
  output: number
  cacheRead: number
  cacheWrite: number
  reasoning: number
  total: number | null
}

/** No answer has more tokens: such a report is ignored, so that it cannot use up a budget for good. */
const mostTokens = 1e9
/** Reports up to this size are always believed: they cost a few dollars, and every large model may read that much. */
export const doubtedFrom = 1_000_000
/** Searches or images, and seconds (of a week); each costs far more than a token. */
const mostUnits = 1e5
const mostSeconds = 7 * 86_400

/** Price tables may lag behind a model's real maximum, and a model that runs the provider's own tools reads its prompt again for each. */
const timesOwnTools = 8
const timesHostedTools = 64

/** A count as vendors write it, also as a string or with a fraction. Null: anything else, or too large to be exact. */
export function readCount(value: unknown): number | null {
  const count = typeof value === 'string' && /^\d/.test(value) ? Number(value) : value
  return typeof count === 'number' && count >= 0 && count <= Number.MAX_SAFE_INTEGER ? Math.ceil(count) : null
}

/** The first of several names for a count; 0 if none has one. */
export function firstCount(...values: readonly unknown[]): number {
  for (const value of values) {
    const count = readCount(value)
    if (count !== null) return count
  }
  return 0
}

/** The usage updated by a later report. Zero and null do not replace anything. */
export function laterUsage(before: unknown, later: unknown): unknown {
  const known = asObject(before)
  const said = asObject(later)
  if (known === null || said === null) return said ?? before
  const all: Record<string, unknown> = { ...known }
  // A plain loop, because some providers report usage with every event.
  for (const name in said) if (said[name] !== null && readCount(said[name]) !== 0) all[name] = said[name]
  return all
}

/** The most that one answer can have used: several times the model's maximum, or what its bytes can contain. */
export function mostPossible(
  price: { max_input: number | null; max_output: number | null } | null,
  { hostedTools, sent, received }: { hostedTools: boolean; sent: number; received: number },
): Pick<TokenUsage, 'input' | 'output'> {
  const times = hostedTools ? timesHostedTools : timesOwnTools
  const most = (known: number | null | undefined, bytes: number) => times * Math.max(known ?? doubtedFrom, bytes)
  return {
    input: most(price?.max_input, sent),
    output: Math.max(doubtedFrom, most(price?.max_output, received)),
  }
}

/** The usage that a provider reported, if it can be true; else null, as if nothing had been reported. */
export function believe(tokens: TokenUsage): TokenUsage | null {
  return tokens.input > mostTokens || tokens.output > mostTokens ? null : tokens
}

/**
 * Converts counts for the record: the input includes cached tokens, the output includes reasoning. Vendors disagree on what `output` and
 * `input` contain; the difference between the total and their sum shows which parts were left out.
 */
export function countUsage(written: WrittenUsage, { reasoningBeside }: UsageConvention): TokenUsage | null {
  const { reasoning } = written
  const cached = written.cacheRead + written.cacheWrite
  let input = written.input ?? 0
  let { output } = written
  const { total } = written
  // Without a total: a part larger than the whole cannot be included in it.
  const beside = reasoningBeside || (total === null && reasoning > output) ? reasoning : 0
  const unexplained = Math.max(0, (total ?? 0) - input - output)
  if (unexplained > 0) {
    const intoInput = missingInput(written, unexplained, { cached, beside })
    input += intoInput
    output += unexplained - intoInput
  } else {
    output += beside
    if (total === null && cached > input) input += cached
  }
  const cacheRead = Math.min(written.cacheRead, input)
  return believe({
    input,
    output,
    cache_read: cacheRead,
    cache_write: Math.min(written.cacheWrite, input - cacheRead),
    reasoning: Math.min(reasoning, output),
    source: 'reported',
  })
}

/**
 * How much of the unexplained total is input: everything except reasoning if no input is given, since no prompt has 0 tokens; or cached
 * tokens that were left out.
 */
function missingInput(
  { input, reasoning }: WrittenUsage,
  unexplained: number,
  { cached, beside }: { cached: number; beside: number },
): number {
  if (!input) return Math.max(0, unexplained - beside)
  if (cached === 0 || unexplained === reasoning) return 0
  return unexplained === cached || unexplained === cached + reasoning ? cached : 0
}

/** What a provider reported in addition to token counts; null: nothing. */
export function usageDetail(found: { [Name in keyof UsageDetail]?: unknown }): UsageDetail | null {
  const detail: UsageDetail = {
    cache_write_1h: count(found.cache_write_1h),
    audio_input: count(found.audio_input),
    audio_output: count(found.audio_output),
    audio_cached: count(found.audio_cached),
    image_input: count(found.image_input),
    image_output: count(found.image_output),
    image_cached: count(found.image_cached),
    video_input: count(found.video_input),
    searches: count(found.searches, mostUnits),
    file_searches: count(found.file_searches, mostUnits),
    containers: count(found.containers, mostUnits),
    seconds:
      typeof found.seconds === 'number' && found.seconds >= 0 && found.seconds <= mostSeconds ? found.seconds : null,
    characters: count(found.characters),
    images: count(found.images, mostUnits),
    image_size: shortName(found.image_size),
    tier: shortName(found.tier),
    geo: shortName(found.geo),
    batch: found.batch === true ? true : null,
  }
  let name: keyof UsageDetail
  for (name in detail) if (detail[name] !== null) return detail
  return null
}

/** Who sends a longer one wants the record to be large. */
const longestName = 64

function shortName(value: unknown): string | null {
  return typeof value === 'string' && value.length <= longestName ? value : null
}

/** Zero counts as nothing: most answers have every member, and only a few use what it counts. */
function count(value: unknown, most = mostTokens): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= most ? value : null
}

/** Tokens of one kind in Gemini's lists by modality. Source: wire/streaming.md, section 5. */
export function countModality(list: unknown, modality: string): number {
  const entries = asArray(list).map(asObject)
  return entries.reduce((sum, entry) => sum + (entry?.modality === modality ? tokensOf(entry) : 0), 0)
}

function tokensOf({ tokenCount }: JsonObject): number {
  return readCount(tokenCount) ?? 0
}

/** As vendors count characters. */
export function countCodePoints(text: string): number {
  let count = 0
  for (const _character of text) count++
  return count
}
