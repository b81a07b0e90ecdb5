import { newId } from '../../../core/ids.ts'
import { isOwner, mintLink } from '../../../sign-in/links.ts'
import { hashPassword, refuseWeak } from '../../../sign-in/password-hash.ts'
import { SignInRefused } from '../../../sign-in/refusal.ts'
import type { Operator, OperatorChange } from '../../../store/operators/operator-tables.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import { confirmReach } from '../confirm-reach.ts'
import type { AdminContext } from '../context.ts'
import { conflict, invalid, refused } from '../fault.ts'
import { changeGrants, refuseBeyond } from './grants.ts'
import { findOperator, resource, showOperator } from './show-operator.ts'

interface Loaded {
  operator: Operator
  before: Awaited<ReturnType<typeof showOperator>>
}

/** For a change: of somebody who has more than the caller nothing is changed. */
async function load(context: AdminContext, name: string): Promise<Loaded> {
  const operator = await findOperator(context, name)
  refuseBeyond(context, operator.grants, `To change ${operator.name}`)
  return { operator, before: await showOperator(context, operator) }
}

/** The store looks again in the transaction; here is said what to do. */
async function refuseLastOwner({ store }: AdminContext, { id, name }: Operator): Promise<void> {
  const owners = (await store.operators.list()).filter(isOwner)
  if (owners.length === 1 && owners[0]?.id === id)
    throw conflict(
      `Operator ${name} is the last owner, and a gateway must have one.`,
      'Make another operator owner first: spgw operators edit NAME --role owner',
    )
}

async function change(context: AdminContext, operation: string, { operator, before }: Loaded, to: OperatorChange) {
  const changed = { ...operator, ...to }
  if (!isOwner(changed)) await refuseLastOwner(context, operator)
  const after = await showOperator(context, changed)
  const line = { operation, resource: resource(operator), before, after }
  // An owner who is made less, or disabled, must not be the last.
  const keepOwner = isOwner(operator)
  await audited(context, line).operators.update(operator.id, { ...to, ...(keepOwner ? { keepOwner } : {}) })
  return after
}

async function readPassword(password: string): Promise<string> {
  try {
    refuseWeak(password)
  } catch (error) {
    throw error instanceof SignInRefused ? invalid(error.message, error.hint) : error
  }
  return await hashPassword(password)
}

function consoleUrl({ runtime }: AdminContext): string {
  if (runtime.consoleUrl === null) throw refused('This gateway has no console.', 'Start it with spgw serve.')
  return runtime.consoleUrl
}

async function refuseTaken({ store }: AdminContext, name: string): Promise<void> {
  if ((await store.operators.find(name)) !== null)
    throw conflict(`The operator ${name} already exists.`, `Choose another name, or: spgw operators edit ${name}`)
}

function refuseDisabled({ state, name }: Operator): void {
  if (state !== 'active')
    throw refused(`The operator ${name} is disabled.`, `Enable it first: spgw operators enable ${name}`)
}

/** `insert` puts the link where it belongs, with its audit line. */
async function makeLink(
  context: AdminContext,
  { id, name }: Operator,
  insert: Parameters<typeof mintLink>[0]['links']['insert'],
) {
  const url = consoleUrl(context)
  const { take } = context.store.links
  const { path, expiresAt } = await mintLink({ links: { insert, take } }, id)
  return { id, name, link: url + path, expires_at: expiresAt }
}

export const operators = {
  add: operations.operators.add.handler(async ({ context, input }) => {
    const { name, role, projects, password } = input
    await refuseTaken(context, name)
    const grants = await changeGrants(context, [], { role, projects })
    refuseBeyond(context, grants, `To add ${name}`)
    const operator: Operator = {
      id: newId('opr'),
      name,
      displayName: input.displayName ?? name,
      state: 'active',
      passwordHash: password === undefined ? null : await readPassword(password),
      totpSealed: null,
      oidcIssuer: null,
      oidcSubject: null,
      grants,
      createdAt: new Date().toISOString(),
      lastSignInAt: null,
    }
    if (password === undefined) consoleUrl(context)
    const after = await showOperator(context, operator)
    const line = { operation: 'operators.add', resource: resource(operator), before: null, after }
    await audited(context, line).operators.insert(operator)
    if (password !== undefined) return { id: operator.id, name, link: null, expires_at: null }
    return makeLink(context, operator, (link) => context.store.links.insert(link))
  }),
  list: operations.operators.list.handler(async ({ context }) =>
    Promise.all((await context.store.operators.list()).map((operator) => showOperator(context, operator))),
  ),
  show: operations.operators.show.handler(async ({ context, input }) =>
    showOperator(context, await findOperator(context, input.name)),
  ),
  edit: operations.operators.edit.handler(async ({ context, input }) => {
    const loaded = await load(context, input.name)
    const { operator } = loaded
    const { role, projects, rename } = input
    if (role === undefined && (projects !== undefined || input.replace))
      throw invalid('The role is missing.', 'Choose one: --role viewer, admin, owner or none.')
    if (rename !== undefined && rename !== operator.name) await refuseTaken(context, rename)
    const kept = input.replace ? [] : operator.grants
    const grants = role === undefined ? operator.grants : await changeGrants(context, kept, { role, projects })
    refuseBeyond(context, grants, `To change ${operator.name} so`)
    const after = await change(context, 'operators.edit', loaded, {
      name: rename ?? operator.name,
      displayName: input.displayName ?? operator.displayName,
      grants,
    })
    return { ...after, nodes: role === undefined ? null : await confirmReach(context) }
  }),
  enable: operations.operators.enable.handler(async ({ context, input }) => {
    const loaded = await load(context, input.name)
    if (loaded.operator.state === 'active') return loaded.before
    return change(context, 'operators.enable', loaded, { state: 'active' })
  }),
  disable: operations.operators.disable.handler(async ({ context, input }) => {
    const loaded = await load(context, input.name)
    const isDone = loaded.operator.state === 'disabled'
    const after = isDone ? loaded.before : await change(context, 'operators.disable', loaded, { state: 'disabled' })
    return { ...after, nodes: await confirmReach(context) }
  }),
  link: operations.operators.link.handler(async ({ context, input }) => {
    const { operator } = await load(context, input.name)
    refuseDisabled(operator)
    const line = { operation: 'operators.link', resource: resource(operator), before: null, after: null }
    return makeLink(context, operator, (link) => audited(context, line).links.insert(link))
  }),
  reset: operations.operators.reset.handler(async ({ context, input }) => {
    const { operator, before } = await load(context, input.name)
    refuseDisabled(operator)
    const oidc = before.signs_in_with.filter((way) => way === 'oidc')
    const after = { ...before, signs_in_with: oidc }
    const line = { operation: 'operators.reset', resource: resource(operator), before, after }
    const made = await makeLink(context, operator, async (link) => {
      await audited(context, line).operators.reset(operator.id, link, link.createdAt)
    })
    return { ...made, nodes: await confirmReach(context) }
  }),
  remove: operations.operators.remove.handler(async ({ context, input }) => {
    const { operator, before } = await load(context, input.name)
    await refuseLastOwner(context, operator)
    const line = { operation: 'operators.remove', resource: resource(operator), before, after: null }
    await audited(context, line).operators.remove(operator.id)
    return { id: operator.id, name: operator.name, removed: true as const, nodes: await confirmReach(context) }
  }),
}
