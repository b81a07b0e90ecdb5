import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { makeKeyring } from '../../src/sealing/keyring.ts'
import { createMachineKey } from '../../src/sealing/machine-key.ts'
import type { RequestOrigin } from '../../src/sign-in/place.ts'
import { SignIn } from '../../src/sign-in/sign-in.ts'
import type { AuditEvent } from '../../src/store/api.ts'
import type { Operator } from '../../src/store/operators/operator-tables.ts'
import { addScope, startTestStore, storePaths, temporaryDirectory } from '../store/support.ts'
import { askProvider } from '../support/ask-provider.ts'
import { password, sampleOperator } from './sample-operator.ts'

export { password }

export function placeAt(address: string): RequestOrigin {
  return { origin: 'http://localhost:8788', address, userAgent: 'test' }
}

/** However long the machine takes, no wait passes: the time of day stands still. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Everything real, on a store of its own. */
export async function startDesk() {
  const directory = temporaryDirectory()
  const store = await startTestStore(storePaths(directory))
  const { project } = await addScope(store)
  const keyring = makeKeyring(createMachineKey(join(directory, 'machine.key')))
  const faults: unknown[] = []
  const signIn = new SignIn({ store, keyring, askProvider, onFault: (error) => faults.push(error) })
  const addOperator = async (name: string, change: Partial<Operator> = {}) =>
    await store.operators.insert(await sampleOperator(name, change))
  const audited = async (operation: string): Promise<AuditEvent[]> => await store.audit.list({ operation, limit: 100 })
  return { store, keyring, project, signIn, faults, addOperator, audited }
}

/** The code and words of a refusal; fails when nothing is refused. */
export async function refusedWith(call: Promise<unknown>): Promise<string> {
  const outcome: unknown = await call.then(
    () => new Error('was not refused'),
    (error: unknown) => error,
  )
  if (outcome instanceof Error && 'code' in outcome) return String(outcome.code)
  throw outcome
}
