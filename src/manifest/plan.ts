import { isObject } from '../core/json/is-object.ts'
import { inSlices } from '../core/threads/slices.ts'
import { firstOf } from './bounded-problems.ts'
import { defaultPriority } from './forms.ts'
import { defaultsOf, kindSpecs, shownPath, specOf } from './kinds.ts'
import {
  compareIdentities,
  describe,
  type Fields,
  type Identity,
  keyOf,
  type ManifestEntry,
  type ManifestResource,
  type Plain,
  type Problem,
  same,
} from './resource.ts'

export interface PlannedChange extends Identity {
  action: 'create' | 'change' | 'remove'
  /** null: this change creates it. */
  id: string | null
  /** Names of the fields that differ; of a new resource, those that differ from the defaults. */
  changed: string[]
  /** null: it does not exist. */
  before: Fields | null
  after: Fields | null
  entry: ManifestEntry | null
}

/** The owner of files that claim nothing: an export describes what was, not what somebody wants to keep. */
export const noOwner = 'none'

/** A field that becomes this file's: `field` is a path into what `show` prints. */
export interface FieldClaim {
  key: string
  field: string
}

export interface ManifestPlan {
  changes: PlannedChange[]
  problems: Problem[]
  /** For people to know; nothing acts on them. */
  notes: string[]
  own: FieldClaim[]
  release: FieldClaim[]
  /** Every resource after the change, by its key. */
  outcome: Map<string, Planned>
}

export interface Planned extends Identity {
  fields: Fields
}

export interface ManifestPlanInput {
  resources: readonly ManifestResource[]
  entries: readonly ManifestEntry[]
  owner: string
  /** Removes what this owner's files no longer name. */
  prune: boolean
  /** Takes over what another file owns. */
  force: boolean
  /** Some of what the files name could not be read: what they no longer name is not known. */
  partial?: boolean
}

/** The changes that lead from the current state to what the files say. Their order does not depend on that of the files. */
export async function makePlan(input: ManifestPlanInput): Promise<ManifestPlan> {
  const state = new Map(input.resources.map((resource) => [keyOf(resource), resource]))
  const plan: ManifestPlan = { changes: [], problems: [], notes: [], own: [], release: [], outcome: new Map(state) }
  const entries = [...input.entries].sort(compareIdentities)
  await inSlices(entries, (entry) => planEntry(plan, entry, state.get(keyOf(entry)) ?? null, input))
  if (input.partial !== true) planRemovals(plan, new Set(entries.map(keyOf)), input)
  addRenameNote(plan)
  return plan
}

function planEntry(
  plan: ManifestPlan,
  entry: ManifestEntry,
  current: ManifestResource | null,
  input: ManifestPlanInput,
): void {
  const { kind, project, environment, name } = entry
  const before = current?.fields ?? null
  const after = complete(entry, before ?? defaultsOf(kind))
  const changed = before === null ? namesMade(entry, after) : namesChanged(plan, entry, before, after)
  plan.outcome.set(keyOf(entry), { kind, project, environment, name, fields: after })
  const identity = { kind, project, environment, name }
  if (current === null)
    plan.changes.push({ ...identity, action: 'create', id: null, changed, before: null, after, entry })
  else if (changed.length > 0)
    plan.changes.push({ ...identity, action: 'change', id: current.id, changed, before, after, entry })
  planMarks(plan, entry, current, changed, input)
}

/** Fields that the file does not name stay unchanged; a priority that targets do not state follows from the strategy. */
function complete(entry: ManifestEntry, base: Fields): Fields {
  const fields = { ...base, ...entry.fields }
  if (!Array.isArray(fields.targets)) return fields
  fields.targets = fields.targets.map((target: Plain, place) =>
    isObject(target) && target.priority === null
      ? { ...(target as { [name: string]: Plain }), priority: defaultPriority(place, fields) }
      : target,
  )
  return fields
}

function namesMade(entry: ManifestEntry, after: Fields): string[] {
  const isNamed = (name: string) => name in entry.fields || !same(after[name], specOf(entry.kind, name)?.fallback)
  return Object.keys(after).filter((name) => isNamed(name) && after[name] !== null)
}

function namesChanged(plan: ManifestPlan, entry: ManifestEntry, before: Fields, after: Fields): string[] {
  const differs = (name: string) =>
    name === 'secrets'
      ? firstHash(before[name]) !== firstHash(after[name])
      : !same(before[name] ?? specOf(entry.kind, name)?.fallback ?? null, after[name])
  const names = Object.keys(entry.fields).filter(differs)
  const fixed = names.filter((name) => specOf(entry.kind, name)?.once === true)
  for (const name of fixed) reportFixed(plan, entry, name)
  return names.filter((name) => !fixed.includes(name))
}

/** A former secret appears and expires on its own. */
function firstHash(secrets: Plain | undefined): unknown {
  const [first] = Array.isArray(secrets) ? secrets : []
  return isObject(first) ? first.sha256 : null
}

function reportFixed(plan: ManifestPlan, entry: ManifestEntry, name: string): void {
  if (name === 'secrets')
    plan.notes.push(`${describe(entry)} has a different secret than the file says; it stays unchanged`)
  else
    plan.problems.push({
      place: entry.placeOf[name] ?? entry.place,
      message: `the ${name} of ${entry.kind} ${entry.name} cannot be changed; use another name for a ${entry.kind} of another ${name}`,
    })
}

function planMarks(
  plan: ManifestPlan,
  entry: ManifestEntry,
  current: ManifestResource | null,
  changed: string[],
  input: ManifestPlanInput,
): void {
  const { owner, force } = input
  const key = keyOf(entry)
  const owned = current?.owned ?? {}
  // Fields that the plan filled in are not stated by the file.
  const isNamed = (name: string) => entry.placeOf[name] !== undefined && specOf(entry.kind, name)?.once !== true
  const named = Object.keys(entry.fields).filter(isNamed)
  const wanted = [kindSpecs[entry.kind].nameField, ...named]
  for (const name of wanted) {
    const other = owned[shownPath(entry.kind, name)]
    if (other === owner) continue
    const free = other === undefined || force
    if (free && owner === noOwner) continue
    if (free) plan.own.push({ key, field: shownPath(entry.kind, name) })
    else if (changed.includes(name)) plan.problems.push(takenBy(entry, name, other))
  }
  // A credential whose variable is not set is stated nevertheless.
  const kept = new Set([...wanted, ...Object.keys(entry.placeOf)].map((name) => shownPath(entry.kind, name)))
  for (const [field, holder] of Object.entries(owned))
    if (holder === owner && !kept.has(field)) plan.release.push({ key, field })
}

function takenBy(entry: ManifestEntry, name: string, owner: string): Problem {
  return {
    place: entry.placeOf[name] ?? entry.place,
    message: `${name} of ${describe(entry)} is managed by the files of owner ${JSON.stringify(owner)}; remove it here, or add --force`,
  }
}

/** As many resources that the files no longer name are listed; `--prune` shows them all. */
const leftNamed = 5

function planRemovals(
  plan: ManifestPlan,
  named: ReadonlySet<string>,
  { resources, owner, prune, force }: ManifestPlanInput,
): void {
  const left = resources.filter(
    (resource) => resource.owned[kindSpecs[resource.kind].nameField] === owner && !named.has(keyOf(resource)),
  )
  if (prune && owner === noOwner) plan.notes.push('The files have no owner, so there is nothing to prune')
  if (left.length > 0 && !prune)
    plan.notes.push(
      `${firstOf(left.map(describe), leftNamed)}: no longer in these files (owner ${owner}); --prune removes them`,
    )
  if (!prune) return
  for (const resource of withEnvironments(left, resources).sort((one, other) => compareIdentities(other, one))) {
    const others = Object.entries(resource.owned).filter(([, holder]) => holder !== owner)
    const [first] = others
    if (first !== undefined && !force)
      plan.problems.push({
        place: describe(resource),
        message: `its ${first[0]} is managed by the files of owner ${JSON.stringify(first[1])}; add --force to remove it anyway`,
      })
    const { kind, project, environment, name, id, fields } = resource
    plan.outcome.delete(keyOf(resource))
    plan.changes.push({
      ...{ kind, project, environment, name, id },
      action: 'remove',
      changed: [],
      before: fields,
      after: null,
      entry: null,
    })
  }
}

/** Removing a project removes its environments, even those that were not created by a file. */
function withEnvironments(left: readonly ManifestResource[], all: readonly ManifestResource[]): ManifestResource[] {
  const projects = new Set(left.filter(({ kind }) => kind === 'project').map(({ name }) => name))
  const implied = all.filter(({ kind, project }) => kind === 'environment' && project !== null && projects.has(project))
  return [...new Set([...left, ...implied])]
}

/** A file cannot say that something had another name before. */
function addRenameNote({ changes, notes }: ManifestPlan): void {
  for (const kind of new Set(changes.map((change) => change.kind))) {
    const of = (action: PlannedChange['action']) =>
      changes.filter((change) => change.kind === kind && change.action === action)
    if (of('create').length > 0 && of('remove').length > 0)
      notes.push(`A renamed ${kind} is created under its new name, and the old one is removed`)
  }
}
