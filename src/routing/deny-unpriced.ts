import { fault } from '../core/errors.ts'
import type { Signal } from '../core/record.ts'
import { flatText } from '../core/text/flat-text.ts'
import { quote } from '../core/text/quote.ts'
import type { Candidate } from './candidates.ts'
import type { Plan } from './plan.ts'

interface UnpricedDenial {
  /** That the call names, its own first. */
  models: readonly string[]
  policy: string
  isPriced(candidate: Candidate): boolean
}

/** Targets whose model has no price are skipped; with no other left, the policy denies the call. */
export function denyUnpriced(plan: Plan, { models, policy, isPriced }: UnpricedDenial): Plan {
  if (plan.fault !== null) return plan
  const kept = plan.candidates.filter(isPriced)
  if (kept.length === plan.candidates.length) return plan
  const dropped = plan.candidates.filter((candidate) => !kept.includes(candidate))
  const signals = plan.signals.map((signal): Signal => {
    const { provider: name, upstream_model: model } = signal.data ?? {}
    const isDropped = dropped.some(({ provider, upstreamModel }) => provider.name === name && upstreamModel === model)
    if (signal.rule !== 'target' || !isDropped) return signal
    const text = flatText(
      String(name),
      ' (',
      String(model),
      '): the policy ',
      policy,
      ' denies models without a price.',
    )
    return { ...signal, verdict: 'skipped', text }
  })
  const rest = { route: plan.route, skipped: plan.skipped, signals }
  if (kept.length > 0) return { ...rest, fault: null, candidates: kept }
  const named = models.slice(0, 5).map(quote).join(', ')
  const which = models.length === 1 ? named : `one of ${named}`
  const text = `The policy ${policy} denies models without a price, and ${which} has none.`
  return { ...rest, fault: fault('policy_denied', text, { param: 'model' }), candidates: [], operatorNote: null }
}
