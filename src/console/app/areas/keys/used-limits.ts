import type { AdminClient } from '../../../../admin/client-link.ts'
import { describeUncounted } from '../../../../core/degraded.ts'
import type { ScopeSearch } from '../../session/scope.ts'

export type KeyUsage = Awaited<ReturnType<AdminClient['keys']['usage']>>[number]
export type UsedLimit = KeyUsage['limits'][number] | KeyUsage['periods'][number]

/** Budgets first. */
export function allLimits(usage: Pick<KeyUsage, 'limits' | 'periods'> | null): readonly UsedLimit[] {
  return usage === null ? [] : [...usage.periods, ...usage.limits]
}

/** What these budgets lack while parts of the gateway are degraded; null: nothing, or there are no budgets. */
export function sayUncounted(
  budgets: readonly unknown[],
  degraded: readonly { part: string; since: string }[],
): string | null {
  return budgets.length === 0 ? null : describeUncounted(degraded)
}

/** Whether requests of that part of the workspace count there. */
export function isWithin({ scope }: Pick<UsedLimit, 'scope'>, { project, environment }: ScopeSearch): boolean {
  const [noun, place = ''] = scope.split(/:(.*)/s)
  if (noun === 'workspace' || project === undefined) return true
  const [ofProject, ofEnvironment] = place.split('/')
  if (ofProject !== project) return false
  return environment === undefined || ofEnvironment === undefined || ofEnvironment === environment
}
