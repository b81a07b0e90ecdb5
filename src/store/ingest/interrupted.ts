import type { Cost, RequestRecord, Signal, TokenUsage } from '../../core/record.ts'

/** What a request held of budgets when its gateway died. */
export interface InterruptedCharge {
  /** Null: no budget in USD applied, and nobody knows what it would have cost. */
  cost: Cost | null
  /** Null: what its record says of when it was admitted. */
  tokens: TokenUsage | null
}

/**
 * The record of a request that will never settle: it is charged its hold, and says so. `charge`: what it held in
 * budgets; null: none applied.
 */
export function interruptRecord(admitted: RequestRecord, charge: InterruptedCharge | null): RequestRecord {
  const tokens = charge?.tokens ?? admitted.tokens
  const policy_signals = [...admitted.policy_signals, describeHold(tokens)]
  return { ...admitted, state: 'interrupted', tokens, cost: charge?.cost ?? null, policy_signals }
}

function describeHold(tokens: TokenUsage | null): Signal {
  const died = 'The gateway crashed before this request ended'
  if (tokens === null) return { rule: 'interrupted', verdict: 'note', text: `${died}; it is not counted in tokens.` }
  const { input, output } = tokens
  const allowed =
    output > 0 ? `${output} of output, as many as were held for it` : 'none of output, as it sets no limit'
  return {
    rule: 'interrupted',
    verdict: 'note',
    text: `${died}; it is charged its hold: ${input} tokens of input by estimate, ${allowed}.`,
    data: { input, output },
  }
}
