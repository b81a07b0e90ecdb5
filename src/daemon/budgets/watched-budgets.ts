import { accountLimits } from '../../policy/limits/account-limits.ts'
import { listBudgets } from '../../policy/limits/place-limits.ts'
import type { ConfigurationSnapshot, SnapshotKey } from '../../store/configuration/snapshot.ts'

/** Counters of the budgets of policies and of accounts that people, metrics and alerts look at. */
export function watchedBudgets(snapshot: { configuration: ConfigurationSnapshot; keys: readonly SnapshotKey[] }) {
  const accounts = snapshot.configuration.providers.flatMap((provider) => accountLimits(provider) ?? [])
  const limits = [...listBudgets(snapshot).map(({ limit }) => limit), ...accounts]
  return limits.filter(({ period }) => period !== null).map(({ counter }) => counter)
}
