import type { Dispatcher } from './dispatch.ts'
import type { AdminParts } from './handlers/context.ts'

/** Operations after which somebody may no longer do what he could. */
const ofAccess = /^\/api\/(operators|sessions|tokens|projects)\//

/**
 * The operations and their schemas are loaded by the first call, whichever door it comes through: a gateway may run for
 * months without one. `onAccessChange` is told when a call that may have changed who may do what is over.
 */
export function lateDispatcher(parts: AdminParts, onAccessChange = () => {}): () => Promise<Dispatcher> {
  let dispatcher: Promise<Dispatcher> | undefined
  const load = async (): Promise<Dispatcher> => {
    const { dispatch } = (await import('./dispatch.ts')).createDispatcher(parts)
    return {
      async dispatch(request, response, caller, closing) {
        try {
          return await dispatch(request, response, caller, closing)
        } finally {
          if (ofAccess.test(request.url ?? '')) onAccessChange()
        }
      },
    }
  }
  return () => (dispatcher ??= load())
}
