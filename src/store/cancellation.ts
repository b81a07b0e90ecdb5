import { AsyncLocalStorage } from 'node:async_hooks'
import { StoreStopped } from './store-error.ts'

/** A call in progress, which the caller may have given up. */
export interface CallLife {
  stopped: boolean
}

const lives = new AsyncLocalStorage<CallLife>()

export async function runStoppable<Output>(life: CallLife, run: () => Promise<Output>): Promise<Output> {
  return await lives.run(life, run)
}

/** For readings that take long, between their pieces. Throws `StoreStopped`. */
export function throwIfStopped(): void {
  if (lives.getStore()?.stopped) throw new StoreStopped('the read was cancelled')
}
