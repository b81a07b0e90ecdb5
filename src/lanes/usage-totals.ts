import { isCount } from '../core/json-value.ts'
import type { TokenUsage, UsageConvention } from '../core/record.ts'

export const usualConvention: UsageConvention = { reasoningBeside: false }

/** Counts as a provider wrote them. `input` and `total`: not a count where the provider left them out. */
export interface WrittenUsage {
  input: unknown
  output: number
  cacheRead: number
  cacheWrite: number
  reasoning: number
  total: unknown
}

/**
 * The same counts as the record has them: the input with cached tokens in it, the output with reasoning in it. Vendors
 * disagree on what `output` and `input` hold; what the total has beyond both shows which parts were left out.
 */
export function countUsage(written: WrittenUsage, { reasoningBeside }: UsageConvention): TokenUsage {
  const { reasoning } = written
  const cached = written.cacheRead + written.cacheWrite
  let input = isCount(written.input) ? written.input : 0
  let { output } = written
  if (isCount(written.total)) {
    const unexplained = Math.max(0, written.total - input - output)
    const intoInput = unexplained === 0 ? 0 : missingInput(written, unexplained, cached)
    input += intoInput
    output += unexplained - intoInput
    if (reasoningBeside && unexplained === 0) output += reasoning
  } else {
    // A part cannot be larger than the whole.
    if (reasoningBeside || reasoning > output) output += reasoning
    if (cached > input) input += cached
  }
  const cacheRead = Math.min(written.cacheRead, input)
  return {
    input,
    output,
    cache_read: cacheRead,
    cache_write: Math.min(written.cacheWrite, input - cacheRead),
    reasoning: Math.min(reasoning, output),
    source: 'reported',
  }
}

/** How much of what only the total has is input: all where no input is given, or cached tokens that it left out. */
function missingInput({ input, reasoning }: WrittenUsage, unexplained: number, cached: number): number {
  if (!isCount(input)) return unexplained
  if (cached === 0 || unexplained === reasoning) return 0
  return unexplained === cached || unexplained === cached + reasoning ? cached : 0
}
