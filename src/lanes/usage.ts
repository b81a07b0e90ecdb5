import { asArray, asObject, type JsonObject } from '../core/json-value.ts'
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

/** More tokens no answer has: who reports them reports nothing, and must not use up a budget for good. */
const mostTokens = 1e9
/** Less than so many of input, or of output, is always believed: it costs a few dollars, and every large model may read it. */
export const doubtedFrom = 1_000_000
/** Searches or images, and seconds (of a week), of which each costs far more than a token. */
const mostUnits = 1e5
const mostSeconds = 7 * 86_400

/** Tables are late when a model reads or writes more; a model that runs the provider's own tools reads its prompt again for each. */
const timesOwnTools = 8
const timesHostedTools = 64

/** A count as vendors write it: as a text, or with a fraction, too. Null: anything else, and what is too large to be exact. */
export function readCount(value: unknown): number | null {
  const count = typeof value === 'string' && /^\d/.test(value) ? Number(value) : value
  return typeof count === 'number' && count >= 0 && count <= Number.MAX_SAFE_INTEGER ? Math.ceil(count) : null
}

/** Of what vendors call by several names; 0 where none of them counts. */
export function firstCount(...values: readonly unknown[]): number {
  for (const value of values) {
    const count = readCount(value)
    if (count !== null) return count
  }
  return 0
}

/** The same usage with what a later report adds: zero and null take nothing back. */
export function laterUsage(before: unknown, later: unknown): unknown {
  const known = asObject(before)
  const said = asObject(later)
  if (known === null || said === null) return said ?? before
  const all: Record<string, unknown> = { ...known }
  // A plain loop: some providers report usage with every event.
  for (const name in said) if (said[name] !== null && readCount(said[name]) !== 0) all[name] = said[name]
  return all
}

/** What one answer can have used at most: what the model reads and writes, or what its bytes may come to, several times over. */
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

/** What a provider reported, where it can be true; else null, as if it had reported nothing. */
export function believe(tokens: TokenUsage): TokenUsage | null {
  return tokens.input > mostTokens || tokens.output > mostTokens ? null : tokens
}

/**
 * The same counts as the record has them: the input with cached tokens in it, the output with reasoning in it. Vendors
 * disagree on what `output` and `input` hold; what the total has beyond both shows which parts were left out.
 */
export function countUsage(written: WrittenUsage, { reasoningBeside }: UsageConvention): TokenUsage | null {
  const { reasoning } = written
  const cached = written.cacheRead + written.cacheWrite
  let input = written.input ?? 0
  let { output } = written
  const { total } = written
  // Without a total, a part that is larger than the whole cannot be in it.
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
 * How much of what only the total has is input: all but the reasoning where no input is given, since no prompt has 0 tokens, or cached
 * tokens that it left out.
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

/** What a provider reported beyond the token counts; null where it was nothing. */
export function usageDetail(found: { [Name in keyof UsageDetail]?: unknown }): UsageDetail | null {
  const detail: UsageDetail = {
    cache_write_1h: count(found.cache_write_1h),
    audio_input: count(found.audio_input),
    audio_output: count(found.audio_output),
    audio_cached: count(found.audio_cached),
    image_input: count(found.image_input),
    image_output: count(found.image_output),
    searches: count(found.searches, mostUnits),
    seconds:
      typeof found.seconds === 'number' && found.seconds >= 0 && found.seconds <= mostSeconds ? found.seconds : null,
    characters: count(found.characters),
    images: count(found.images, mostUnits),
    image_size: typeof found.image_size === 'string' ? found.image_size : null,
    tier: typeof found.tier === 'string' ? found.tier : null,
    batch: found.batch === true ? true : null,
  }
  let name: keyof UsageDetail
  for (name in detail) if (detail[name] !== null) return detail
  return null
}

/** Zero says nothing: most answers have every member, and only a few use what it counts. */
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
