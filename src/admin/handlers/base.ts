import { implement, ORPCError } from '@orpc/server'
import { contract } from '../contract/index.ts'
import type { OperationMeta } from '../contract/operation.ts'
import type { OperationContext } from './context.ts'
import { translateFault } from './fault.ts'
import { scopeOf } from './scope.ts'
import { scopeRuntime } from './scoped-runtime.ts'
import { scopeStore } from './scoped-store.ts'

/**
 * What every handler is made with. The role is checked here for all operations, and what a handler then holds of store
 * and runtime is no more than the caller may see and change. Faults get their code.
 */
export const operations = implement(contract)
  .$context<OperationContext>()
  .use(async ({ context, path, procedure, next }, input: unknown) => {
    const name = path.join('.')
    const meta = procedure['~orpc'].meta as OperationMeta
    const scope = scopeOf(context.caller, name, meta)
    try {
      const store = scopeStore(context.store, scope)
      const runtime = scopeRuntime(context.runtime, scope, store)
      // What a change is checked against is what the cluster has, and not what this node had heard of.
      if (meta.effect !== 'read') await context.runtime.cluster?.refresh()
      const done = await next({ context: { store, runtime, scope, force: isForced(input) } })
      const output: unknown = done.output
      return isStream(output) ? { ...done, output: streamEvents(output, name, context) } : done
    } catch (error) {
      throw toFault(error, name, context)
    } finally {
      if (meta.effect !== 'read') context.onWrite()
    }
  })

function isStream(output: unknown): output is AsyncIterable<unknown> {
  return typeof output === 'object' && output !== null && Symbol.asyncIterator in output
}

/** What goes wrong behind the first event of a stream has the same code as before it. */
async function* streamEvents(
  events: AsyncIterable<unknown>,
  name: string,
  context: OperationContext,
): AsyncGenerator<unknown> {
  try {
    yield* events
  } catch (error) {
    throw toFault(error, name, context)
  }
}

/** Not checked yet: an operation that knows no force refuses it. */
function isForced(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'force' in input && input.force === true
}

/** Of a fault of our own the log is told, and the caller only that there was one. */
function toFault(error: unknown, name: string, { onFault }: OperationContext) {
  const known = translateFault(error)
  if (known !== null) return known
  onFault(error, name)
  return new ORPCError('INTERNAL_SERVER_ERROR', {
    message: 'The gateway had an internal error.',
    data: { hint: "See the gateway's log for details." },
  })
}
