import type { AdminContext } from './context.ts'

/**
 * The context with a store whose long readings end when the signal fires: whoever closes a page of charts should not make
 * the next one wait. Not for what changes something, which is brought to its end.
 */
export function cancelledBy(context: AdminContext, signal: AbortSignal | undefined): AdminContext {
  const { store } = context
  return signal === undefined ? context : { ...context, store: { ...store, ...store.until(signal) } }
}
