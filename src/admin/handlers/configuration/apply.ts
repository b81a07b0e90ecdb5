import { errorText } from '../../../core/caught.ts'
import { boundNotes, boundProblems } from '../../../manifest/bounded-problems.ts'
import type { PlannedChange } from '../../../manifest/plan.ts'
import { describe, objectsIn } from '../../../manifest/resource.ts'
import { StoreMoved } from '../../../store/store-error.ts'
import { projectsWith } from '../../contract/operators/roles.ts'
import { confirmReach } from '../confirm-reach.ts'
import type { AdminContext } from '../context.ts'
import { conflict, invalid, operationFault, refused } from '../fault.ts'
import { checkFirst, type Found, openSealed, readCredential } from '../providers/provider-check.ts'
import { findProviderKind } from '../providers/provider-input.ts'
import { type ConfigurationPlanInput, expectation, type Made, planFiles, showPlan } from './plan.ts'
import { revisionOf, textsIn } from './rows.ts'
import type { CurrentState } from './state.ts'
import { type Steps, writePlan } from './steps.ts'

export interface ApplyInput extends ConfigurationPlanInput {
  skipCheck: boolean
  expect?: Record<string, string> | undefined
}

type Minted = Omit<Steps, 'write'>

/** How often a plan is made anew because others wrote, before somebody is asked. */
const maxAttempts = 5

/**
 * Plans anew, checks everything, and writes it in one transaction. What is written is what was expected, and nothing else:
 * where another change came in between, the plan is made again, and has to be the same.
 */
export async function applyFiles(context: AdminContext, input: ApplyInput) {
  let made = await planFiles(context, input)
  refuseProblems(made)
  refuseBeyondRole(context, made)
  await refuseAnother(input.expect, made)
  const found = await checkProviders(context, made, input.skipCheck)
  const expected = await expectation(made.plan)
  for (let tries = 1; ; tries++) {
    const written = await write(context, made, found)
    if (written !== null) return await answer(context, made, found, written)
    if (tries === maxAttempts) throw conflict('The configuration keeps changing.', 'Try again.')
    made = await planFiles(context, input)
    refuseProblems(made)
    await refuseAnother(expected, made)
  }
}

function refuseProblems({ plan, unset }: Made): void {
  const problems = boundProblems([...plan.problems, ...unset])
  if (problems.length === 0) return
  const text = problems.map(({ place, message }) => `${place}: ${message}`).join('\n')
  if (plan.problems.length === 0) throw invalid(text, 'Nothing was changed. Set the missing variables and apply again.')
  throw invalid(text, 'Nothing was changed. Fix the file and preview the changes: spgw diff -f FILE')
}

/** As `projects remove` and `environments remove` ask for it. */
function refuseBeyondRole({ caller }: AdminContext, { plan }: Made): void {
  const removed = plan.changes.find(
    ({ action, kind }) => action === 'remove' && (kind === 'project' || kind === 'environment'),
  )
  if (removed !== undefined && projectsWith(caller.grants, 'owner') !== null)
    throw refused(`Removing ${describe(removed)} needs the role owner for the workspace.`, 'Ask an owner.')
}

/** `expect` undefined: whoever calls wants what the files say, whatever that changes. */
async function refuseAnother(expect: Record<string, string> | undefined, { plan }: Made): Promise<void> {
  if (expect === undefined) return
  const now = await expectation(plan)
  const changed = [...new Set([...Object.keys(expect), ...Object.keys(now)])].flatMap((name) => {
    if (expect[name] === now[name]) return []
    if (expect[name] === undefined) return [`${name} would be changed as well`]
    return [now[name] === undefined ? `${name} no longer needs a change` : `${name} was changed`]
  })
  if (changed.length === 0) return
  const more = changed.length - 10
  throw conflict(
    `The plan has changed: ${boundNotes(changed.slice(0, 10)).join('; ')}${more > 0 ? `; and ${more} more` : ''}.`,
    'Nothing was changed. Review the new plan and apply again.',
  )
}

/** Every provider that is new, or has another address, setting or credential, is asked before anything is written. */
async function checkProviders(
  context: AdminContext,
  { state, plan }: Made,
  skip: boolean,
): Promise<Map<string, Found>> {
  const asked = plan.changes.filter(needsCheck)
  const results = await Promise.allSettled(asked.map((change) => checkProvider(context, state, change, skip)))
  const faults = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason as unknown)
  const [first, ...others] = faults
  if (first !== undefined && others.length === 0) throw first
  if (first !== undefined) {
    const texts = faults.map(errorText)
    throw operationFault(
      'refused',
      boundNotes(texts).join('\n'),
      'Nothing was changed. Fix them, or apply without checks: --skip-check.',
    )
  }
  const found = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  return new Map(asked.map(({ name }, place) => [name, found[place] as Found]))
}

function needsCheck({ kind, action, changed }: PlannedChange): boolean {
  if (kind !== 'provider' || action === 'remove') return false
  if (action === 'create') return true
  return changed.some((name) => name === 'base_url' || name === 'credentials' || name.startsWith('settings.'))
}

function providerOf({ providers }: CurrentState, { id }: Pick<PlannedChange, 'id'>) {
  return id === null ? undefined : providers.get(id)
}

async function checkProvider(
  context: AdminContext,
  state: CurrentState,
  change: PlannedChange,
  skip: boolean,
): Promise<Found> {
  const fields = change.after ?? {}
  const kind = findProviderKind(context, String(fields.kind))
  const target = {
    name: change.name,
    kind: kind.kind,
    revision: revisionOf(fields, providerOf(state, change)?.revision),
  }
  return await checkFirst(context, kind, target, credentialOf(context, state, change), skip)
}

/** The first of the pool that is new; without one, the first that is stored. */
function credentialOf(context: AdminContext, state: CurrentState, { entry, after, before, id }: PlannedChange) {
  const known = new Set(objectsIn(before?.credentials).map(({ fingerprint }) => fingerprint))
  const places = objectsIn(after?.credentials).map(({ fingerprint }) => !known.has(fingerprint ?? null))
  const given = entry?.credentials?.[Math.max(0, places.indexOf(true))]
  if (given !== undefined) return readCredential(given.reveal())
  const [stored] = providerOf(state, { id })?.revision.credentials ?? []
  return stored === undefined || id === null ? null : openSealed(context, id, stored)
}

/** null: others wrote since the plan was made. */
async function write(context: AdminContext, made: Made, found: Map<string, Found>): Promise<Minted | null> {
  const { write: batch, ...minted } = await writePlan(context, made, found)
  if (batch.steps.length === 0 && batch.own.length === 0 && batch.release.length === 0) return minted
  try {
    await context.store.configuration.write(batch)
    return minted
  } catch (error) {
    if (error instanceof StoreMoved) return null
    throw error
  }
}

async function answer(context: AdminContext, made: Made, found: Map<string, Found>, { minted, alerts }: Minted) {
  const { plan, owner } = made
  if (plan.changes.length > 0) await context.runtime.publish()
  for (const { id, name, kind } of plan.changes)
    if (kind === 'provider' && id !== null && found.get(name)?.readiness.state === 'ready')
      context.runtime.markReady(id)
  const { changes, notes, adopted, released } = await showPlan(made)
  const checked = [...found].filter(([, { readiness }]) => readiness.state === 'ready').map(([name]) => name)
  const nodes = plan.changes.some(takesAway) ? await confirmReach(context) : null
  return { owner, changes, notes, adopted, released, keys: minted, alerts, checked, nodes }
}

/** Nobody is kept out by what is new, but by a policy that applies somewhere. */
function takesAway({ kind, action, after }: PlannedChange): boolean {
  return action !== 'create' || (kind === 'policy' && textsIn(after?.attach).length > 0)
}
