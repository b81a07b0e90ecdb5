import type { LimitFigures } from '../../core/policy-limits.ts'

/** Source: wire/errors.md, section 1; the SDKs and many clients read them. */
export function limitHeaders({ requests, tokens }: LimitFigures): readonly string[] {
  const headers: string[] = []
  for (const [kind, figures] of [['requests', requests] as const, ['tokens', tokens] as const]) {
    if (figures === null) continue
    headers.push(`x-ratelimit-limit-${kind}`, String(figures.limit))
    headers.push(`x-ratelimit-remaining-${kind}`, String(figures.left))
    headers.push(`x-ratelimit-reset-${kind}`, span(figures.resetMs))
  }
  return headers
}

/** `1m2.5s`, as the vendor writes it. */
function span(milliseconds: number): string {
  const tenths = Math.max(1, Math.ceil(milliseconds / 100))
  const minutes = Math.floor(tenths / 600)
  const seconds = `${(tenths % 600) / 10}s`
  return minutes === 0 ? seconds : `${minutes}m${seconds}`
}
