import { type AccountLimits, shownAmount } from '../../../core/policies/policy-limits.ts'
import { isoTime } from '../../../core/text/flat-text.ts'
import { accountLimits } from '../../../policy/limits/account-limits.ts'
import type { Provider } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'

/** What is used of the limits of a provider's account, as the data plane counts it at this moment. */
export function showAccountUsage({ scope, runtime }: Pick<AdminContext, 'scope' | 'runtime'>, provider: Provider) {
  if (scope.seen !== null) return []
  return (accountLimits(provider) ?? []).map((limit) => {
    const { used, held, resetsAt, includesHeld } = runtime.limitUsage(limit)
    const amount = (counted: number) => shownAmount(limit.kind, counted)
    return {
      scope: limit.scope,
      kind: limit.kind as 'requests' | 'tokens' | 'usd',
      period: limit.period === 'month' ? ('month' as const) : null,
      used: amount(used),
      ...(includesHeld === true ? { used_includes_held: includesHeld } : {}),
      held: limit.period === null ? null : amount(held),
      limit: amount(limit.limit),
      resets_at: resetsAt === null ? null : isoTime(Math.round(resetsAt)),
    }
  })
}

export type AccountUsage = ReturnType<typeof showAccountUsage>
export type WrittenLimits = { [Name in keyof AccountLimits]?: number | null | undefined }

/** Null clears a limit; what is not given stays. */
export function readLimits(
  before: Readonly<AccountLimits>,
  { rpm, tpm, budgetUsdMonth }: WrittenLimits,
): AccountLimits {
  return {
    rpm: rpm === undefined ? before.rpm : rpm,
    tpm: tpm === undefined ? before.tpm : tpm,
    budgetUsdMonth: budgetUsdMonth === undefined ? before.budgetUsdMonth : budgetUsdMonth,
  }
}

export function showLimits({ rpm, tpm, budgetUsdMonth }: Readonly<AccountLimits>) {
  return { rpm, tpm, budget_usd_month: budgetUsdMonth }
}
