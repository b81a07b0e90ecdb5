import type { Compared } from '../../contract/requests/request-replay.ts'
import { formatMilliseconds } from '../../contract/show-value.ts'

/** Both in words, and whether they said the same. */
export function compareRequests(before: Compared, after: Compared): string {
  return `Before: ${describe(before)}. Now: ${describe(after)}. ${compareTexts(before.answer, after.answer)}`
}

function describe({ status, provider, upstream_model, duration_ms, input, output }: Compared): string {
  const by = provider === null ? '' : ` from ${[provider, upstream_model].filter(Boolean).join('/')}`
  const took = duration_ms === null ? '' : ` in ${formatMilliseconds(duration_ms)}`
  const tokens = input === null || output === null ? '' : `, tokens: ${input} in and ${output} out`
  return `${status ?? 'no status'}${by}${took}${tokens}`
}

function compareTexts(before: string | null, after: string | null): string {
  if (before === null) return 'The first answer was not stored.'
  if (before === after) return 'The texts are the same.'
  return `The texts differ (${before.length} and ${after?.length ?? 0} characters).`
}
