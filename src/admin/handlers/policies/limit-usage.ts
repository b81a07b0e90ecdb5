import type { z } from 'zod'
import { isoTime } from '../../../core/flat-text.ts'
import type { Limit } from '../../../core/policy-limits.ts'
import { findLimits, type LimitPlace } from '../../../policy/limits/find-limits.ts'
import type { Key, Policy } from '../../../store/api.ts'
import type { SnapshotKey } from '../../../store/configuration/snapshot.ts'
import type { limitShape, periodShape } from '../../contract/policies/limit-usage.ts'
import type { AdminContext, Runtime } from '../context.ts'
import { findPolicy } from '../find.ts'
import { type Attachments, loadAttachments } from './attachments.ts'

const nanoPerUsd = 1e9
/** Of a policy that gives each key its own counters, more are not listed. */
const mostKeys = 1000

interface LimitUsages {
  periods: z.infer<typeof periodShape>[]
  limits: z.infer<typeof limitShape>[]
}

/** What is used of limits, as the data plane counts it at this moment. */
export function showLimits(runtime: Pick<Runtime, 'limitUsage'>, all: readonly Limit[]): LimitUsages {
  const shown: LimitUsages = { periods: [], limits: [] }
  for (const limit of all) {
    const { used, held, resetsAt } = runtime.limitUsage(limit)
    const { policy, scope, kind, period, perUser } = limit
    const amount = (value: number) => (kind === 'usd' ? value / nanoPerUsd : value)
    const common = { policy, scope, used: perUser ? null : amount(used), limit: amount(limit.limit) }
    const resets = resetsAt === null ? null : isoTime(Math.round(resetsAt))
    if (period === null) {
      if (kind !== 'usd') shown.limits.push({ ...common, kind, resets_at: resets })
    } else if (kind === 'usd' || kind === 'tokens')
      shown.periods.push({ ...common, kind, period, held: perUser ? null : amount(held), resets_at: resets ?? '' })
  }
  return shown
}

/** Of each policy that limits something, every counter that it has. */
export async function showPolicyUsage(context: AdminContext, name: string | undefined) {
  const attachments = await loadAttachments(context)
  const policies = name === undefined ? await context.store.policies.list() : [await findPolicy(context, name)]
  return policies.map((policy) => {
    const limits = new Map(limitsOf(policy, attachments).map((limit) => [limit.counter, limit]))
    return { policy: policy.name, ...showLimits(context.runtime, [...limits.values()]) }
  })
}

function limitsOf(policy: Policy, attachments: Attachments): Limit[] {
  return placesOf(policy, attachments).flatMap(([place, key]) => {
    return findLimits([{ id: policy.id, name: policy.name, place, rules: policy }], key) ?? []
  })
}

/** Where a policy counts, and for each place some key whose requests count there. */
function placesOf(policy: Policy, { projects, environments, keys }: Attachments): [LimitPlace, SnapshotKey][] {
  const { workspace, ids } = policy.attachedTo
  const found: [LimitPlace, SnapshotKey][] = []
  const good = keys.filter(({ revokedAt }) => revokedAt === null)
  const keyOf = (key: Key) => placedKey(key, projects, environments)
  for (const key of good) if (ids.includes(key.id) || key.policyId === policy.id) found.push(['key', keyOf(key)])
  for (const environment of environments)
    if (ids.includes(environment.id)) {
      const project = projects.find(({ id }) => id === environment.projectId)
      found.push(['environment', { ...noKey, ...scopeOf(project, environment) }])
    }
  for (const project of projects)
    if (ids.includes(project.id)) found.push(['project', { ...noKey, ...scopeOf(project, undefined) }])
  if (workspace) found.push(['workspace', noKey])
  if (policy.per !== 'key') return found
  const inside = good.filter((key) => workspace || ids.includes(key.projectId) || ids.includes(key.environmentId))
  const each = inside.slice(0, mostKeys).map((key): [LimitPlace, SnapshotKey] => ['key', keyOf(key)])
  return [...found.filter(([place]) => place === 'key'), ...each]
}

const noKey: SnapshotKey = {
  hash: '',
  id: '',
  name: '',
  lastFour: '',
  projectId: '',
  project: '',
  environmentId: '',
  environment: '',
  policyId: null,
  tags: {},
  expiresAt: null,
  revokedAt: null,
}

interface NamedLimit {
  id: string
  name: string
}

function scopeOf(project: NamedLimit | undefined, environment: NamedLimit | undefined) {
  return {
    projectId: project?.id ?? '',
    project: project?.name ?? '',
    environmentId: environment?.id ?? '',
    environment: environment?.name ?? '',
  }
}

function placedKey(
  { id, name, projectId, environmentId }: Key,
  projects: NamedLimit[],
  environments: NamedLimit[],
): SnapshotKey {
  const project = projects.find((one) => one.id === projectId)
  const environment = environments.find((one) => one.id === environmentId)
  return { ...noKey, id, name, ...scopeOf(project, environment) }
}
