/**
 * How long a provider asks to wait, in milliseconds, or null: `retry-after-ms`, then `retry-after` (seconds, fractions
 * allowed, or an HTTP date). A moment in the past is 0. Source: wire/errors.md, section 1.
 */
export function readRetryAfter(headers: ReadonlyMap<string, string>, now: number = Date.now()): number | null {
  const exact = readNumber(headers.get('retry-after-ms'))
  if (exact !== null) return Math.ceil(exact)
  const text = headers.get('retry-after')
  const seconds = readNumber(text)
  if (seconds !== null) return Math.ceil(seconds * 1000)
  // An HTTP date begins with the day's name; Date.parse alone would also take "-5" for a year.
  if (text === undefined || !/^[A-Za-z]{3,9},? /.test(text)) return null
  const date = Date.parse(text)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** `RetryInfo.retryDelay`, a proto Duration such as `37s` or `0.25s`, in milliseconds. */
export function readProtoDuration(text: unknown): number | null {
  const match = typeof text === 'string' ? /^(\d+(?:\.\d{1,9})?)s$/.exec(text) : null
  return match?.[1] === undefined ? null : Math.ceil(Number(match[1]) * 1000)
}

function readNumber(text: string | undefined): number | null {
  const trimmed = text?.trim()
  return trimmed !== undefined && /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : null
}
