import { newId } from '../../../core/ids.ts'
import { mintApiToken } from '../../../core/secrets/api-token.ts'
import { hashToken } from '../../../sign-in/token.ts'
import type { ApiToken } from '../../../store/operators/token-tables.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import { confirmReach } from '../confirm-reach.ts'
import type { AdminContext } from '../context.ts'
import { conflict, notFound } from '../fault.ts'
import { findProject } from '../find.ts'
import { readEnd } from '../moments.ts'
import { withReserve } from '../with-reserve.ts'
import { refuseBeyond } from './grants.ts'

const resource = ({ id, name }: ApiToken) => ({ kind: 'token', id, name })

/** A token as anybody may see it: neither secret nor hash. */
async function show({ store }: AdminContext, tokens: readonly ApiToken[], now = Date.now()) {
  const names = new Map((await store.projects.list()).map(({ id, name }) => [id, name]))
  return tokens.map((token) => ({
    id: token.id,
    name: token.name,
    last_four: token.lastFour,
    state: stateOf(token, now),
    role: token.role,
    project: token.projectId === null ? null : (names.get(token.projectId) ?? token.projectId),
    created_by: token.createdBy,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
    revoked_at: token.revokedAt,
  }))
}

type Shown = Awaited<ReturnType<typeof show>>[number]

async function showOne(context: AdminContext, token: ApiToken): Promise<Shown> {
  const [shown] = await show(context, [token])
  if (shown === undefined) throw new TypeError('a token shows as nothing')
  return shown
}

function stateOf({ revokedAt, expiresAt }: ApiToken, now: number): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active'
}

async function load(context: AdminContext, name: string) {
  const token = await context.store.tokens.find(name)
  if (token === null) throw notFound('token', name, 'List them: spgw tokens list')
  return { token, before: await showOne(context, token) }
}

/** For a change: a token that gives more than the caller has is not his to end. */
async function loadOwn(context: AdminContext, name: string) {
  const loaded = await load(context, name)
  const { role, projectId } = loaded.token
  refuseBeyond(context, [{ role, project: projectId }], `To change ${loaded.token.name}`)
  return loaded
}

async function refuseTaken({ store }: AdminContext, name: string): Promise<void> {
  const other = await store.tokens.find(name)
  if (other !== null && other.revokedAt === null)
    throw conflict(`The token ${name} already exists.`, `Choose another name, or: spgw tokens revoke ${name}`)
}

function readExpiry(text: string): string | null {
  return text === 'never' ? null : readEnd(text)
}

async function revoke(context: AdminContext, token: ApiToken, before: Shown): Promise<Shown> {
  const revokedAt = new Date().toISOString()
  const after = await showOne(context, { ...token, revokedAt })
  const line = { operation: 'tokens.revoke', resource: resource(token), before, after }
  await withReserve(context, () => audited(context, line).tokens.revoke(token.id, revokedAt))
  return after
}

export const tokens = {
  create: operations.tokens.create.handler(async ({ context, input }) => {
    const { name, role } = input
    await refuseTaken(context, name)
    const projectId = input.project === undefined ? null : (await findProject(context, input.project)).id
    refuseBeyond(context, [{ role, project: projectId }], `To create ${name}`)
    const minted = mintApiToken()
    const token: ApiToken = {
      id: newId('tok'),
      name,
      tokenSha256: hashToken(minted),
      lastFour: minted.slice(-4),
      role,
      projectId,
      createdBy: context.caller.name,
      createdAt: new Date().toISOString(),
      expiresAt: readExpiry(input.expires),
      lastUsedAt: null,
      revokedAt: null,
    }
    const after = await showOne(context, token)
    const line = { operation: 'tokens.create', resource: resource(token), before: null, after }
    await audited(context, line).tokens.insert(token)
    return { id: token.id, name, token: minted, role, project: after.project, expires_at: token.expiresAt }
  }),
  list: operations.tokens.list.handler(async ({ context }) => show(context, await context.store.tokens.list())),
  show: operations.tokens.show.handler(async ({ context, input }) => (await load(context, input.name)).before),
  revoke: operations.tokens.revoke.handler(async ({ context, input }) => {
    const { token, before } = await loadOwn(context, input.name)
    const after = token.revokedAt === null ? await revoke(context, token, before) : before
    return { ...after, nodes: await confirmReach(context, token.id) }
  }),
  remove: operations.tokens.remove.handler(async ({ context, input }) => {
    const { token, before } = await loadOwn(context, input.name)
    const line = { operation: 'tokens.remove', resource: resource(token), before, after: null }
    await audited(context, line).tokens.remove(token.id)
    return { id: token.id, name: token.name, removed: true as const, nodes: await confirmReach(context) }
  }),
}
