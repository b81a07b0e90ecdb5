import { roundUsd } from '../../../core/cost/money.ts'
import { compareTexts } from '../../../core/text/text-difference.ts'
import type { Compared, ReplayDifference } from '../../contract/requests/request-replay.ts'
import { formatMilliseconds, formatMoney, groupDigits } from '../../contract/show-value.ts'

/** What of the second is otherwise, in figures and in words. */
export function compareRequests(before: Compared, after: Compared): { difference: ReplayDifference; text: string } {
  const difference: ReplayDifference = {
    duration_ms: subtract(after.duration_ms, before.duration_ms),
    first_byte_ms: subtract(after.first_byte_ms, before.first_byte_ms),
    input: subtract(after.input, before.input),
    output: subtract(after.output, before.output),
    cost_usd: subtract(after.cost_usd, before.cost_usd),
    answer: before.answer === null || after.answer === null ? null : compareTexts(before.answer, after.answer),
  }
  const words = describeTexts(before.answer, after.answer)
  return { difference, text: `Before: ${describe(before)}. Now: ${describe(after)}. ${words}` }
}

function subtract(now: number | null, before: number | null): number | null {
  return now === null || before === null ? null : roundUsd(now - before)
}

function describe({ status, provider, upstream_model, duration_ms, input, output, cost_usd }: Compared): string {
  const by = provider === null ? '' : ` from ${[provider, upstream_model].filter(Boolean).join('/')}`
  const took = duration_ms === null ? '' : ` in ${formatMilliseconds(duration_ms)}`
  const tokens =
    input === null || output === null ? '' : `, tokens: ${groupDigits(input)} in and ${groupDigits(output)} out`
  const cost = cost_usd === null ? '' : `, ${formatMoney(cost_usd)}`
  return `${status ?? 'no status'}${by}${took}${tokens}${cost}`
}

function describeTexts(before: string | null, after: string | null): string {
  if (before === null) return 'The first answer was not stored.'
  if (before === after) return 'The texts are the same.'
  return `The texts differ (${before.length} and ${after?.length ?? 0} characters).`
}
