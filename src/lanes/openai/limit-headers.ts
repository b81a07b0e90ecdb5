import type { LimitFigures, WindowFigures } from '../../core/policies/policy-limits.ts'

/** Source: wire/errors.md, section 1; the SDKs and many clients read them. */
export function limitHeaders({ requests, tokens }: LimitFigures): readonly string[] {
  const headers: string[] = []
  if (requests !== null) addFigures(headers, names.requests, requests)
  if (tokens !== null) addFigures(headers, names.tokens, tokens)
  return headers
}

const namesOf = (kind: string) => ({
  limit: `x-ratelimit-limit-${kind}`,
  left: `x-ratelimit-remaining-${kind}`,
  reset: `x-ratelimit-reset-${kind}`,
})
const names = { requests: namesOf('requests'), tokens: namesOf('tokens') }

function addFigures(headers: string[], of: ReturnType<typeof namesOf>, { limit, left, resetMs }: WindowFigures): void {
  headers.push(of.limit, String(limit), of.left, String(left), of.reset, span(resetMs))
}

/** `1m2.5s`, as the vendor writes it. */
function span(milliseconds: number): string {
  const tenths = Math.max(1, Math.ceil(milliseconds / 100))
  const minutes = Math.floor(tenths / 600)
  const seconds = `${(tenths % 600) / 10}s`
  return minutes === 0 ? seconds : `${minutes}m${seconds}`
}
