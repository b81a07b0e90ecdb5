import type { Session } from '../../../store/operators/operator-tables.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import { confirmReach } from '../confirm-reach.ts'
import type { AdminContext } from '../context.ts'
import { invalid, notFound } from '../fault.ts'
import { withReserve } from '../with-reserve.ts'
import { refuseBeyond } from './grants.ts'
import { findOperator } from './show-operator.ts'

function show(session: Session, operator: string) {
  return {
    id: session.id,
    operator,
    method: session.method,
    created_at: session.createdAt,
    last_seen_at: session.lastSeenAt,
    expires_at: session.expiresAt,
    address: session.address,
    user_agent: session.userAgent,
  }
}

async function listOpen(context: AdminContext, operatorName: string | undefined) {
  const operator = operatorName === undefined ? null : await findOperator(context, operatorName)
  const open = await context.store.sessions.list(operator?.id ?? null, new Date().toISOString())
  const names = new Map((await context.store.operators.list()).map(({ id, name }) => [id, name]))
  return open.map((session) => show(session, names.get(session.operatorId) ?? session.operatorId))
}

/** Looked at before any of them ends: whoever has more than the caller stays signed in. */
async function refuseOthers(context: AdminContext, names: readonly string[]): Promise<void> {
  for (const { name, grants } of await context.store.operators.list())
    if (names.includes(name)) refuseBeyond(context, grants, `To sign out ${name}`)
}

export const sessions = {
  list: operations.sessions.list.handler(({ context, input }) => listOpen(context, input.operator)),
  revoke: operations.sessions.revoke.handler(async ({ context, input }) => {
    const { id, operator } = input
    if ((id === undefined) === (operator === undefined))
      throw invalid('Choose one session, or all of an operator.', 'Give an id, or --operator NAME.')
    const open = await listOpen(context, operator)
    const ending = id === undefined ? open : open.filter((session) => session.id === id)
    if (id !== undefined && ending.length === 0) throw notFound('session', id, 'List them: spgw sessions list')
    await refuseOthers(
      context,
      ending.map((session) => session.operator),
    )
    let revoked = 0
    for (const session of ending) {
      const line = {
        operation: 'sessions.revoke',
        resource: { kind: 'session', id: session.id, name: session.operator },
        before: session,
        after: null,
      }
      const now = new Date().toISOString()
      revoked += await withReserve(context, () => audited(context, line).sessions.revoke([session.id], now))
    }
    // Nodes learn of them in this order.
    const last = ending.at(-1)
    return { revoked, nodes: last === undefined ? null : await confirmReach(context, last.id) }
  }),
}
