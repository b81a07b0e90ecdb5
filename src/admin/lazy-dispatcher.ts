import type { Dispatcher } from './dispatch.ts'
import type { AdminParts } from './handlers/context.ts'

/**
 * The operations and their schemas are loaded by the first call, whichever door it comes through: a gateway may run for
 * months without one.
 */
export function lazyDispatcher(parts: AdminParts): () => Promise<Dispatcher> {
  let dispatcher: Promise<Dispatcher> | undefined
  return () => (dispatcher ??= import('./dispatch.ts').then(({ createDispatcher }) => createDispatcher(parts)))
}
