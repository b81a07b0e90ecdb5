import { createHash } from 'node:crypto'
import { mapInSlices } from '../../../core/threads/slices.ts'
import { resolveAttachments } from '../../../manifest/attachments.ts'
import { boundNotes, boundProblems } from '../../../manifest/bounded-problems.ts'
import { checkOutcome, type Serves } from '../../../manifest/check.ts'
import { writeField } from '../../../manifest/kinds.ts'
import { type ManifestPlan, makePlan, type PlannedChange } from '../../../manifest/plan.ts'
import {
  canonical,
  describe,
  keyOf,
  type ManifestEntry,
  type ManifestResource,
  objectsIn,
  type Problem,
} from '../../../manifest/resource.ts'
import { projectsWith } from '../../contract/operators/roles.ts'
import type { AdminContext } from '../context.ts'
import type { ManifestProblems } from './manifest-problems.ts'
import { prepareEntries } from './prepare.ts'
import { type CurrentState, describeState } from './state.ts'

export interface ConfigurationPlanInput {
  files: Record<string, string>
  variables: Record<string, string>
  prune: boolean
  force: boolean
}

export interface Made {
  owner: string
  state: CurrentState
  plan: ManifestPlan
  /** New credentials whose variables are not set: the plan can be shown, and not be made. */
  unset: Problem[]
}

/** What the files would change, from one reading of the store. */
export async function planFiles(
  context: Pick<AdminContext, 'store' | 'kinds' | 'keyring' | 'caller' | 'readManifest'>,
  input: ConfigurationPlanInput,
): Promise<Made> {
  const whole = await describeState(await context.store.configuration.read(), context.keyring)
  const seesAlerts = projectsWith(context.caller.grants, 'admin') === null
  const state = seesAlerts ? whole : { ...whole, resources: whole.resources.filter(({ kind }) => kind !== 'alert') }
  const documents = Object.entries(input.files).map(([name, text]) => ({ name, text }))
  const { owner, entries, problems } = await context.readManifest({ documents, variables: input.variables })
  const found: ManifestProblems = { problems: [...problems], unset: [], notes: [] }
  const { resources } = state
  const revoked = new RevokedKeys(state)
  const named = seesAlerts ? entries : withoutAlerts(entries, found)
  const live = named.filter((entry) => !isRevoked(entry, revoked, found))
  const attached = resolveAttachments(live, resources, found.problems)
  const prepared = await prepareEntries(context, attached, resources, found)
  const { prune, force } = input
  const partial = found.problems.length > 0
  const plan = await makePlan({ resources, entries: prepared, owner, prune, force, partial })
  plan.notes.unshift(...found.notes)
  plan.problems.unshift(...found.problems)
  // A mistake in one entry makes others refer to what is not there.
  if (plan.problems.length === 0)
    plan.problems.push(...(await checkOutcome(plan, servesOf(context))), ...checkSecrets(plan, state))
  return { owner, state, plan, unset: found.unset }
}

function servesOf({ kinds }: Pick<AdminContext, 'kinds'>): Serves {
  const lanes = new Map(kinds.map((kind) => [kind.kind, new Set<string>(kind.lanes)]))
  return (kind, lane) => lanes.get(kind)?.has(lane) !== false
}

/** Only admins may see them. */
function withoutAlerts(entries: readonly ManifestEntry[], found: ManifestProblems): ManifestEntry[] {
  const others = entries.filter(({ kind }) => kind !== 'alert')
  if (others.length < entries.length) found.notes.push('Alerts were not compared, which needs the role admin')
  return others
}

class RevokedKeys {
  readonly #current: ReadonlySet<string>
  readonly #byKey: ReadonlyMap<string, ManifestResource>
  readonly #byHash: ReadonlyMap<unknown, ManifestResource>

  constructor({ resources, revoked }: CurrentState) {
    this.#current = new Set(resources.filter(({ kind }) => kind === 'key').map(keyOf))
    this.#byKey = new Map(revoked.map((key) => [keyOf(key), key]))
    this.#byHash = new Map(revoked.flatMap((key) => hashesOf(key).map((hash) => [hash, key])))
  }

  find(entry: ManifestEntry): ManifestResource | null {
    if (entry.kind !== 'key' || this.#current.has(keyOf(entry))) return null
    const hash = hashesOf(entry).find((one) => this.#byHash.has(one))
    return this.#byKey.get(keyOf(entry)) ?? this.#byHash.get(hash) ?? null
  }
}

/** Who revoked a key had a reason that a file does not know of. */
function isRevoked(entry: ManifestEntry, revoked: RevokedKeys, found: { notes: string[] }): boolean {
  const revokedKey = revoked.find(entry)
  if (revokedKey === null) return false
  found.notes.push(
    `${describe(entry)} was revoked and stays revoked; spgw keys remove ${revokedKey.id} lets the file create it again`,
  )
  return true
}

function hashesOf({ fields }: Pick<ManifestResource, 'fields'>): unknown[] {
  return objectsIn(fields.secrets).map(({ sha256 }) => sha256)
}

/** Two keys of one secret would be one key. */
function checkSecrets(plan: ManifestPlan, { resources }: CurrentState) {
  const made = plan.changes.filter(({ kind, action }) => kind === 'key' && action === 'create')
  if (made.length === 0) return []
  const removed = new Set(plan.changes.filter(({ action }) => action === 'remove').map(keyOf))
  const keys = [...resources.filter((one) => one.kind === 'key' && !removed.has(keyOf(one))), ...made.map(asResource)]
  const holders = Map.groupBy(
    keys.flatMap((key) => [...new Set(hashesOf(key))].map((hash) => ({ hash, key }))),
    ({ hash }) => hash,
  )
  return made.flatMap((change) => {
    const own = keyOf(change)
    const others = hashesOf({ fields: change.after ?? {} }).flatMap((hash) => holders.get(hash)?.slice(0, 2) ?? [])
    const other = others.find(({ key }) => keyOf(key) !== own)
    if (other === undefined) return []
    const place = change.entry?.placeOf.secrets ?? change.entry?.place ?? describe(change)
    return [{ place, message: `${describe(change)} has the secret of ${describe(other.key)}` }]
  })
}

const asResource = (change: PlannedChange) => ({ ...change, fields: change.after ?? {} })

export async function showPlan({ owner, plan, unset }: Made) {
  return {
    owner,
    changes: plan.problems.length > 0 ? [] : await mapInSlices(plan.changes, showChange),
    problems: boundProblems(plan.problems),
    unset: boundProblems(unset),
    notes: boundNotes([...unset.map(({ message }) => `${message}; apply needs it`), ...plan.notes]),
    adopted: adopted(plan),
    released: plan.release.length,
    expect: await expectation(plan),
  }
}

/** Marks of what is there already, and was made by hand or by other files. */
function adopted({ own, changes }: ManifestPlan): number {
  const made = new Set(changes.filter(({ action }) => action === 'create').map(keyOf))
  return own.filter(({ key }) => !made.has(key)).length
}

function showChange(change: PlannedChange) {
  const { action, kind, name, project, environment, id, changed, before, after } = change
  const fields = changed.map((field) => ({
    field,
    before: before === null ? null : writeField(kind, field, before),
    after: after === null ? null : writeField(kind, field, after),
  }))
  return { action, kind, name, project, environment, id, fields }
}

/** By resource, a digest of what would be done to it, and of all that would be lost. */
export async function expectation({ changes }: ManifestPlan): Promise<Record<string, string>> {
  const digest = (change: PlannedChange) => {
    const text = canonical([showChange(change), change.after === null ? change.before : null])
    return createHash('sha256').update(text).digest('hex').slice(0, 16)
  }
  return Object.fromEntries(await mapInSlices(changes, (change) => [describe(change), digest(change)]))
}
