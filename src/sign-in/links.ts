import { newId } from '../core/ids.ts'
import type { StoreClient, Tables } from '../store/api.ts'
import type { Operator } from '../store/operators/operator-tables.ts'
import { StoreConflict } from '../store/store-error.ts'
import { operatorLine } from './audit-line.ts'
import { SignInRefused } from './refusal.ts'
import { hashToken, isToken, mintToken } from './token.ts'

export const linkMinutes = 10
const firstOwner = 'owner'

export interface MintedLink {
  /** Path of the console. */
  path: string
  expiresAt: string
}

/** `operatorId` null: whoever opens the link becomes the first owner. */
export async function mintLink(tables: Pick<Tables, 'links'>, operatorId: string | null): Promise<MintedLink> {
  const token = mintToken()
  const now = Date.now()
  const expiresAt = new Date(now + linkMinutes * 60_000).toISOString()
  const createdAt = new Date(now).toISOString()
  await tables.links.insert({ tokenSha256: hashToken(token), operatorId, createdAt, expiresAt })
  return { path: `/link/${token}`, expiresAt }
}

/** Uses the link up and gives whose it is. Throws `SignInRefused`. */
export async function takeLink(store: StoreClient, token: string): Promise<Operator> {
  const link = isToken(token) ? await store.links.take(hashToken(token), new Date().toISOString()) : null
  if (link === null)
    throw new SignInRefused(
      'wrong',
      'This link has been used or has expired.',
      "Create a new one on the gateway's machine: spgw console link",
    )
  if (link.operatorId === null) return await makeFirstOwner(store)
  const operator = await store.operators.find(link.operatorId)
  if (operator === null)
    throw new SignInRefused('wrong', 'The operator of this link has been removed.', 'Ask an owner for a new one.')
  return operator
}

async function makeFirstOwner(store: StoreClient): Promise<Operator> {
  if ((await store.operators.list()).length > 0) throw ownerStands()
  const operator: Operator = {
    id: newId('opr'),
    name: firstOwner,
    displayName: 'Owner',
    state: 'active',
    passwordHash: null,
    totpSealed: null,
    oidcIssuer: null,
    oidcSubject: null,
    grants: [{ project: null, role: 'owner' }],
    createdAt: new Date().toISOString(),
    lastSignInAt: null,
  }
  const grants = operator.grants.map(({ role }) => ({ project: null, role }))
  const line = operatorLine(operator, 'operators.add', { name: operator.name, grants, first: true })
  // Of two links opened at once, both have found nobody: the store lets one in.
  return await store
    .audited(line)
    .operators.insert(operator)
    .catch((error: unknown) => {
      throw error instanceof StoreConflict ? ownerStands() : error
    })
}

function ownerStands(): SignInRefused {
  return new SignInRefused(
    'refused',
    'There are operators already, so this link makes no first owner.',
    'Create a link for an operator: spgw console link NAME. If none is an owner: spgw operators add NAME --role owner',
  )
}

/** Whose link a start shows: nobody has signed in yet. undefined: somebody has. */
export async function findFirstOperator(store: StoreClient): Promise<Operator | null | undefined> {
  const operators = await store.operators.list()
  if (operators.some(({ lastSignInAt }) => lastSignInAt !== null)) return undefined
  if (operators.length === 0) return null
  return operators.find(isOwner)
}

/** Active, and owner of the whole workspace. */
export function isOwner({ state, grants }: Operator): boolean {
  return state === 'active' && grants.some(({ project, role }) => project === null && role === 'owner')
}
