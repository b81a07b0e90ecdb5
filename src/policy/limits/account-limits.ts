import { type AccountLimits, countedAmount, type Limit, nameCounter } from '../../core/policies/policy-limits.ts'

interface LimitedAccount {
  id: string
  name: string
  limits: AccountLimits
}

/** The limits of an account at a provider, whoever uses it. They use the same counters as policies. Null: it has none. */
export function accountLimits({ id, name, limits }: LimitedAccount): readonly Limit[] | null {
  const { rpm, tpm, budgetUsdMonth } = limits
  const found = [
    limitOf(id, name, 'requests', null, rpm),
    limitOf(id, name, 'tokens', null, tpm),
    limitOf(id, name, 'usd', 'month', budgetUsdMonth),
  ].filter((limit) => limit !== null)
  return found.length === 0 ? null : found
}

function limitOf(id: string, name: string, kind: Limit['kind'], period: Limit['period'], value: number | null) {
  if (value === null) return null
  return {
    counter: nameCounter(id, 'account', kind, period),
    policy: null,
    scope: `provider:${name}`,
    kind,
    period,
    limit: countedAmount(kind, value),
    warns: false,
    perUser: false,
  }
}
