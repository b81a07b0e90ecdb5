import type { Limit } from '../../core/policies/policy-limits.ts'
import type { ConfigurationSnapshot, SnapshotKey, SnapshotPolicy } from '../../store/configuration/snapshot.ts'
import { findLimits, type LimitPlace } from './find-limits.ts'

/** How many counters of a policy with `per: key` are listed. */
const mostKeys = 1000

interface PlacedKey {
  id: string
  name: string
  projectId: string
  environmentId: string
  policyId: string | null
  /** When it was revoked; null: it was not. */
  revokedAt: unknown
}

/** Everything that a policy can be attached to, in the form that store and snapshot share. */
export interface PolicyPlaces extends Pick<ConfigurationSnapshot, 'projects' | 'environments'> {
  keys: readonly PlacedKey[]
}

/** One counter of a policy, and whose it is; null: the workspace's. */
export interface PlacedLimit {
  limit: Limit
  projectId: string | null
}

/** Every counter of a policy, at each place where it is attached; with `per: key` only for a limited number of keys. */
export function placeLimits(policy: SnapshotPolicy, places: PolicyPlaces, most = mostKeys): PlacedLimit[] {
  const found = new Map<string, PlacedLimit>()
  for (const [place, key] of placesOf(policy, places, most)) {
    const { id, name } = policy
    for (const limit of findLimits([{ id, name, place, rules: policy }], key) ?? [])
      found.set(limit.counter, { limit, projectId: place === 'workspace' ? null : key.projectId })
  }
  return [...found.values()]
}

/** For each place, some key whose requests count there. */
function placesOf(policy: SnapshotPolicy, places: PolicyPlaces, most: number): [LimitPlace, SnapshotKey][] {
  const { workspace, ids } = policy.attachedTo
  const found: [LimitPlace, SnapshotKey][] = []
  const attached = new Set(ids)
  const good = places.keys.filter(({ revokedAt }) => revokedAt === null)
  const own = good.filter((key) => attached.has(key.id) || key.policyId === policy.id)
  for (const key of own) found.push(['key', keyAt(key, places)])
  if (policy.per === 'key') {
    const inside = (key: PlacedKey) => workspace || attached.has(key.projectId) || attached.has(key.environmentId)
    for (const key of good.filter(inside).slice(0, most)) found.push(['key', keyAt(key, places)])
    return found
  }
  for (const { id, projectId } of places.environments)
    if (attached.has(id)) found.push(['environment', keyAt({ ...nobody, environmentId: id, projectId }, places)])
  for (const { id } of places.projects)
    if (attached.has(id)) found.push(['project', keyAt({ ...nobody, projectId: id }, places)])
  if (workspace) found.push(['workspace', keyAt(nobody, places)])
  return found
}

const nobody: PlacedKey = { id: '', name: '', projectId: '', environmentId: '', policyId: null, revokedAt: null }

function keyAt({ id, name, projectId, environmentId }: PlacedKey, { projects, environments }: PolicyPlaces) {
  const nameOf = (rows: readonly { id: string; name: string }[], wanted: string) =>
    rows.find((row) => row.id === wanted)?.name ?? ''
  return {
    ...{ hash: '', id, name, lastFour: '', policyId: null, tags: {}, expiresAt: null, revokedAt: null },
    ...{ projectId, project: nameOf(projects, projectId) },
    ...{ environmentId, environment: nameOf(environments, environmentId) },
  }
}

type Snapshot = { configuration: ConfigurationSnapshot; keys: readonly SnapshotKey[] }

/** Called every second, and there may be very many keys: computed once for each change. */
const listed = new WeakMap<ConfigurationSnapshot, { keys: Snapshot['keys']; budgets: readonly PlacedLimit[] }>()

/**
 * The budgets of all policies whose use can be shown, a limited number: those of many keys each come last and hide no other. Budgets per
 * end user are left out: the users are not known.
 */
export function listBudgets({ configuration, keys }: Snapshot): readonly PlacedLimit[] {
  const known = listed.get(configuration)
  if (known?.keys === keys) return known.budgets
  const places = { projects: configuration.projects, environments: configuration.environments, keys }
  const [ofKeys = [], ofPlaces = []] = [true, false].map((isPerKey) =>
    configuration.policies.filter(({ per }) => (per === 'key') === isPerKey),
  )
  const budgets = [...ofPlaces, ...ofKeys]
    .flatMap((policy) => placeLimits(policy, places))
    .filter(({ limit }) => limit.period !== null && !limit.perUser)
    .slice(0, mostKeys)
  listed.set(configuration, { keys, budgets })
  return budgets
}
