import { SealBroken } from '../../sealing/seal-error.ts'
import { operations } from './base.ts'
import type { AdminContext } from './context.ts'

export const seal = {
  status: operations.seal.status.handler(async ({ context }) => {
    const { source, keyId, format } = context.runtime.seal()
    const sealed = await context.store.seal.sealed()
    const broken = sealed.filter((value) => !opens(context, value)).map(({ identity }) => identity)
    return { key_id: keyId, source, format, sealed: sealed.length, broken }
  }),
}

function opens({ keyring }: AdminContext, value: { identity: string; sealed: string }): boolean {
  try {
    keyring.open(value.sealed, value.identity)
    return true
  } catch (error) {
    if (error instanceof SealBroken) return false
    throw error
  }
}
