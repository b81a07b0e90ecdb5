/** The families of limits that OpenAI and Anthropic, and vendors with their formats, report with each answer. */
const families = [
  ...['requests', 'tokens'].map((name) => ({
    remaining: `x-ratelimit-remaining-${name}`,
    reset: `x-ratelimit-reset-${name}`,
  })),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((name) => ({
    remaining: `anthropic-ratelimit-${name}-remaining`,
    reset: `anthropic-ratelimit-${name}-reset`,
  })),
]

/**
 * When the limit that a 429 met is over, in milliseconds from now, by the provider's own headers; null: they do not say. Of limits
 * that are used up the last one counts. Where none is, the request was too large for what remains, and the first reset counts.
 * Source: wire/errors.md, sections 1 and 2.
 */
export function readReset(headers: ReadonlyMap<string, string>, now: number = Date.now()): number | null {
  const usedUp: number[] = []
  const others: number[] = []
  for (const { remaining, reset } of families) {
    const wait = readMoment(headers.get(reset), now)
    if (wait !== null) (headers.get(remaining)?.trim() === '0' ? usedUp : others).push(wait)
  }
  if (usedUp.length > 0) return Math.max(...usedUp)
  return others.length > 0 ? Math.min(...others) : null
}

/** `1s`, `6m0s`, `17ms`, plain seconds, or a moment in RFC 3339. */
function readMoment(text: string | undefined, now: number): number | null {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') return null
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Math.ceil(Number(trimmed) * 1000)
  if (/^\d{4}-\d\d-\d\dT/.test(trimmed)) {
    const moment = Date.parse(trimmed)
    return Number.isNaN(moment) ? null : Math.max(0, moment - now)
  }
  return readDuration(trimmed)
}

const unitMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

function readDuration(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(text)) return null
  let sum = 0
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g))
    sum += Number(count) * (unitMs[unit ?? ''] ?? 0)
  return Math.ceil(sum)
}
