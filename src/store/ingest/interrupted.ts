import type { Cost, RequestRecord, Signal, TokenUsage } from '../../core/record.ts'

/**
 * What becomes of a record whose request will never have an end: it is charged its hold, and says so. `cost`: what it held of
 * budgets in USD; null: no such budget applied, and nobody knows what it would have cost.
 */
export function interruptRecord(admitted: RequestRecord, cost: Cost | null = null): RequestRecord {
  const policy_signals = [...admitted.policy_signals, describeHold(admitted.tokens)]
  return { ...admitted, state: 'interrupted', cost, policy_signals }
}

function describeHold(tokens: TokenUsage | null): Signal {
  const died = 'The gateway crashed before this request ended'
  if (tokens === null) return { rule: 'interrupted', verdict: 'note', text: `${died}; it is not counted in tokens.` }
  const { input, output } = tokens
  const allowed = output > 0 ? `${output} of output, as many as it allows` : 'none of output, as it sets no limit'
  return {
    rule: 'interrupted',
    verdict: 'note',
    text: `${died}; it is charged its hold: ${input} tokens of input by estimate, ${allowed}.`,
    data: { input, output },
  }
}
