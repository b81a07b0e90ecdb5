import type { z } from 'zod'
import { isOpen, parseOpening } from '../../../core/policies/opening.ts'
import { type Limit, limitAt, shownAmount } from '../../../core/policies/policy-limits.ts'
import { isoTime } from '../../../core/text/flat-text.ts'
import { minuteOfWeek } from '../../../policy/calendar.ts'
import { listBudgets, type PlacedLimit, placeLimits } from '../../../policy/limits/place-limits.ts'
import { minutesLater, nextChange } from '../../../policy/opening-times.ts'
import type { SnapshotPolicy } from '../../../store/configuration/snapshot.ts'
import type { hoursShape, limitShape, periodShape } from '../../contract/policies/limit-usage.ts'
import type { AdminContext, Runtime } from '../context.ts'
import { findPolicy, findProject } from '../find.ts'
import { isSeen } from '../scope.ts'
import { loadAttachments } from './attachments.ts'

interface LimitUsages {
  periods: z.infer<typeof periodShape>[]
  limits: z.infer<typeof limitShape>[]
}

/** What is used of limits, as the data plane counts it at this moment. `user`: whose, of those that each end user has. */
export function showLimits(
  runtime: Pick<Runtime, 'limitUsage'>,
  all: readonly Limit[],
  user: string | null = null,
): LimitUsages {
  const shown: LimitUsages = { periods: [], limits: [] }
  const now = Date.now()
  for (const limit of all) {
    const { used, held, resetsAt, includesHeld } = runtime.limitUsage(limit, null, user)
    const { policy, scope, kind, period } = limit
    const isApart = limit.perUser && user === null
    const amount = (value: number) => shownAmount(kind, value)
    const common = {
      policy: policy ?? '',
      scope,
      used: isApart ? null : amount(used),
      limit: amount(limitAt(limit, now)),
    }
    const resets = resetsAt === null ? null : isoTime(Math.round(resetsAt))
    if (period === null) {
      const more = includesHeld === true ? { used_includes_held: includesHeld } : {}
      if (kind !== 'usd') shown.limits.push({ ...common, ...more, kind, resets_at: resets })
    } else if (kind === 'usd' || kind === 'tokens')
      shown.periods.push({ ...common, kind, period, held: isApart ? null : amount(held), resets_at: resets ?? '' })
  }
  return shown
}

/** Of the policies that allow certain hours only. */
export function showHours(
  { timeZone }: { timeZone: string },
  policies: readonly Pick<SnapshotPolicy, 'name' | 'hours'>[],
  now: number,
): z.infer<typeof hoursShape>[] {
  const minute = minuteOfWeek(timeZone, now)
  return policies.flatMap(({ name, hours = [] }) => {
    if (hours.length === 0) return []
    const openings = hours.flatMap((text) => parseOpening(text) ?? [])
    const open = isOpen(openings, minute)
    const wait = nextChange(openings, minute)
    const changes = wait === null ? null : isoTime(minutesLater(timeZone, now, wait))
    const times = { opens_at: open ? null : changes, closes_at: open ? changes : null }
    return [{ policy: name, hours, time_zone: timeZone, open, ...times }]
  })
}

/**
 * Of each policy, every counter that it has. With a project only those in which its requests count: its own, those inside it, and
 * the workspace's.
 */
export async function showPolicyUsage(
  context: AdminContext,
  { name, project }: { name?: string | undefined; project?: string | undefined },
) {
  const places = await loadAttachments(context)
  const policies = name === undefined ? await context.store.policies.list() : [await findPolicy(context, name)]
  const within = project === undefined ? null : await findProject(context, project)
  const counts = ({ projectId }: PlacedLimit) => within === null || projectId === null || projectId === within.id
  return policies.map((policy) => {
    const limits = placeLimits(policy, places).filter(counts)
    return {
      policy: policy.name,
      ...showLimits(
        context.runtime,
        limits.map(({ limit }) => limit),
      ),
    }
  })
}

/** `status` tells of so many budgets; those nearest to their end come first. */
const mostBudgets = 20

/** The budgets in sight, from memory alone. */
export function showBudgets({ runtime, scope }: Pick<AdminContext, 'runtime' | 'scope'>) {
  const limits = listBudgets(runtime.snapshot())
    .filter(({ projectId }) => projectId === null || isSeen(scope, projectId))
    .map(({ limit }) => limit)
  const share = ({ used, held, limit }: LimitUsages['periods'][number]) =>
    limit === 0 ? 1 : ((used ?? 0) + (held ?? 0)) / limit
  return showLimits(runtime, limits)
    .periods.sort((one, other) => share(other) - share(one))
    .slice(0, mostBudgets)
}
