import type { LimitFigures } from '../../core/policies/policy-limits.ts'

/** Source: wire/errors.md, section 2. */
export function limitHeaders({ requests, tokens }: LimitFigures, now: number): readonly string[] {
  const headers: string[] = []
  for (const [kind, figures] of [['requests', requests] as const, ['tokens', tokens] as const]) {
    if (figures === null) continue
    const name = `anthropic-ratelimit-${kind}`
    const reset = new Date(Math.ceil((now + figures.resetMs) / 1000) * 1000).toISOString().replace('.000Z', 'Z')
    headers.push(
      `${name}-limit`,
      String(figures.limit),
      `${name}-remaining`,
      String(figures.left),
      `${name}-reset`,
      reset,
    )
  }
  return headers
}
