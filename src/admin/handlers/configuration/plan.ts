import { createHash } from 'node:crypto'
import { resolveAttachments } from '../../../manifest/attachments.ts'
import { checkOutcome } from '../../../manifest/check.ts'
import { writeField } from '../../../manifest/kinds.ts'
import { type Change, makePlan, type Plan } from '../../../manifest/plan.ts'
import { readDocuments } from '../../../manifest/read.ts'
import {
  canonical,
  describe,
  type Entry,
  keyOf,
  objectsIn,
  type Problem,
  type Resource,
} from '../../../manifest/resource.ts'
import type { AdminContext } from '../context.ts'
import { type Findings, prepareEntries } from './prepare.ts'
import { describeState, type State } from './state.ts'

export interface PlanInput {
  files: Record<string, string>
  variables: Record<string, string>
  prune: boolean
  force: boolean
}

export interface Made {
  owner: string
  state: State
  plan: Plan
  /** New credentials whose variables are not set: the plan can be shown, and not be made. */
  unset: Problem[]
}

/** What the files would change, from one reading of the store. */
export async function planFiles(
  context: Pick<AdminContext, 'store' | 'kinds' | 'keyring' | 'caller'>,
  input: PlanInput,
): Promise<Made> {
  const state = describeState(await context.store.configuration.read(), context.keyring)
  const documents = Object.entries(input.files).map(([name, text]) => ({ name, text }))
  const { owner, entries, problems } = readDocuments(documents, input.variables)
  const found: Findings = { problems: [...problems], unset: [], notes: [] }
  const { resources } = state
  const live = entries.filter((entry) => !isRevoked(entry, state, found))
  const prepared = prepareEntries(context, resolveAttachments(live, resources, found.problems), resources, found)
  const plan = makePlan({ resources, entries: prepared, owner, prune: input.prune, force: input.force })
  plan.notes.unshift(...found.notes)
  plan.problems.unshift(...found.problems)
  // A mistake in one entry makes others refer to what is not there.
  if (plan.problems.length === 0) plan.problems.push(...checkOutcome(plan), ...checkSecrets(plan, state))
  return { owner, state, plan, unset: found.unset }
}

/** Who revoked a key had a reason that a file does not know of. */
function isRevoked(entry: Entry, { resources, revoked }: State, found: { notes: string[] }): boolean {
  if (entry.kind !== 'key' || resources.some((resource) => keyOf(resource) === keyOf(entry))) return false
  const hashes = hashesOf(entry)
  const gone = revoked.find((key) => keyOf(key) === keyOf(entry) || hashesOf(key).some((hash) => hashes.includes(hash)))
  if (gone === undefined) return false
  found.notes.push(
    `${describe(entry)} was revoked and stays revoked; spgw keys remove ${gone.id} lets the file create it again`,
  )
  return true
}

function hashesOf({ fields }: Pick<Resource, 'fields'>): unknown[] {
  return objectsIn(fields.secrets).map(({ sha256 }) => sha256)
}

/** Two keys of one secret would be one key. */
function checkSecrets(plan: Plan, { resources }: State) {
  const made = plan.changes.filter(({ kind, action }) => kind === 'key' && action === 'create')
  const gone = new Set(plan.changes.filter(({ action }) => action === 'remove').map(keyOf))
  return made.flatMap((change) => {
    const hashes = hashesOf({ fields: change.after ?? {} })
    const others = [...resources.filter((resource) => !gone.has(keyOf(resource))), ...made.map(asResource)]
    const other = others.find(
      (one) => keyOf(one) !== keyOf(change) && hashesOf(one).some((hash) => hashes.includes(hash)),
    )
    if (other === undefined) return []
    const place = change.entry?.placeOf.secrets ?? change.entry?.place ?? describe(change)
    return [{ place, message: `${describe(change)} has the secret of ${describe(other)}` }]
  })
}

const asResource = (change: Change) => ({ ...change, fields: change.after ?? {} })

export function showPlan({ owner, plan, unset }: Made) {
  return {
    owner,
    changes: plan.problems.length > 0 ? [] : plan.changes.map(showChange),
    problems: plan.problems,
    unset,
    notes: [...unset.map(({ message }) => `${message}; apply needs it`), ...plan.notes],
    adopted: adopted(plan),
    released: plan.release.length,
    expect: expectation(plan),
  }
}

/** Marks of what is not changed anyway. */
function adopted({ own, changes }: Plan): number {
  const changed = new Set(changes.map(keyOf))
  return own.filter(({ key }) => !changed.has(key)).length
}

export function showChange(change: Change) {
  const { action, kind, name, project, environment, id, changed, before, after } = change
  const fields = changed.map((field) => ({
    field,
    before: before === null ? null : writeField(kind, field, before),
    after: after === null ? null : writeField(kind, field, after),
  }))
  return { action, kind, name, project, environment, id, fields }
}

/** By resource, a digest of what would be done to it, and of all that would be lost. */
export function expectation({ changes }: Plan): Record<string, string> {
  const digest = (change: Change) => {
    const told = canonical([showChange(change), change.after === null ? change.before : null])
    return createHash('sha256').update(told).digest('hex').slice(0, 16)
  }
  return Object.fromEntries(changes.map((change) => [describe(change), digest(change)]))
}
