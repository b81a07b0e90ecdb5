import { implement, ORPCError } from '@orpc/server'
import { contract } from '../contract/index.ts'
import type { OperationMeta } from '../contract/operation.ts'
import type { CallContext } from './context.ts'
import { translateFault } from './fault.ts'
import { scopeOf } from './scope.ts'
import { scopeRuntime } from './scoped-runtime.ts'
import { scopeStore } from './scoped-store.ts'

/**
 * What every handler is made with. The role is checked here for all operations, and what a handler then holds of store
 * and runtime is no more than the caller may see and change. Faults get their code.
 */
export const operations = implement(contract)
  .$context<CallContext>()
  .use(async ({ context, path, procedure, next }, input: unknown) => {
    const name = path.join('.')
    const meta = procedure['~orpc'].meta as OperationMeta
    const scope = scopeOf(context.caller, name, meta)
    try {
      const store = scopeStore(context.store, scope)
      const runtime = scopeRuntime(context.runtime, scope, store)
      return await next({ context: { store, runtime, scope, force: isForced(input) } })
    } catch (error) {
      throw translateFault(error) ?? ownFault(error, name, context)
    } finally {
      if (meta.effect !== 'read') context.onWrite()
    }
  })

/** Not checked yet: an operation that knows no force refuses it. */
function isForced(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'force' in input && input.force === true
}

/** The log is told; the caller only that there was one. */
export function ownFault(
  error: unknown,
  name: string,
  context: Pick<CallContext, 'onFault'>,
): ORPCError<string, { hint: string }> {
  context.onFault(error, name)
  return new ORPCError('INTERNAL_SERVER_ERROR', {
    message: 'A fault of the gateway itself.',
    data: { hint: "The gateway's log says more." },
  })
}
