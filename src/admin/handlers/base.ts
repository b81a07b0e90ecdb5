import { implement, ORPCError } from '@orpc/server'
import { contract } from '../contract/index.ts'
import type { OperationMeta } from '../contract/operation.ts'
import type { AdminContext, Caller } from './context.ts'
import { refused, translateFault } from './fault.ts'

const ranks: Record<Caller['role'], number> = { viewer: 0, admin: 1, owner: 2 }

/** What every handler is made with: the role is checked here for all operations, and faults get their code. */
export const operations = implement(contract)
  .$context<AdminContext>()
  .use(async ({ context, path, procedure, next }) => {
    const meta = procedure['~orpc'].meta as OperationMeta
    const name = path.join('.')
    if (ranks[context.caller.role] < ranks[meta.role])
      throw refused(`${name} needs the role ${meta.role}; yours is ${context.caller.role}.`, 'Ask an owner.')
    try {
      return await next()
    } catch (error) {
      throw translateFault(error) ?? ownFault(error, name, context)
    }
  })

/** The log is told; the caller only that there was one. */
export function ownFault(error: unknown, name: string, context: AdminContext): ORPCError<string, { hint: string }> {
  context.onFault(error, name)
  return new ORPCError('INTERNAL_SERVER_ERROR', {
    message: 'A fault of the gateway itself.',
    data: { hint: "The gateway's log says more." },
  })
}
