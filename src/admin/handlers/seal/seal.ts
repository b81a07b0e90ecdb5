import { formatPublicHalf, mintRecoveryKey, publicHalfId, readRecoveryKey } from '../../../sealing/recovery-key.ts'
import type { SealedValue } from '../../../sealing/reseal.ts'
import { SealBroken } from '../../../sealing/seal-error.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import type { AdminContext } from '../context.ts'
import { rotateSeal } from './rotate-seal.ts'

export const seal = {
  status: operations.seal.status.handler(({ context }) => showSeal(context)),
  rotate: operations.seal.rotate.handler(async ({ context }) => {
    const previous = context.keyring.describe().keyId
    await rotateSeal(context)
    const shown = await showSeal(context)
    return { previous_key_id: previous, ...shown, to_do: whatIsLeft(shown) }
  }),
  'recovery-key': operations.seal['recovery-key'].handler(async ({ context }) => {
    const before = await recoveryKeyId(context)
    const secret = mintRecoveryKey()
    const key = readRecoveryKey(secret)
    const sealed = context.keyring.seal(formatPublicHalf(key), 'recovery')
    await audited(context, {
      operation: 'seal.recovery-key',
      resource: { kind: 'recovery key', id: key.id, name: key.id },
      before: before === null ? null : { recovery_key_id: before },
      after: { recovery_key_id: key.id },
    }).seal.setRecovery(sealed)
    return { recovery_key: secret.reveal(), recovery_key_id: key.id }
  }),
}

async function showSeal(context: AdminContext) {
  const { source, keyId, format, replaces } = context.keyring.describe()
  const sealed = await context.store.seal.sealed()
  const broken = sealed.filter((value) => !opens(context, value)).map(({ identity }) => identity)
  const recovery_key_id = await recoveryKeyId(context)
  return { key_id: keyId, source, to_replace: replaces, format, sealed: sealed.length, broken, recovery_key_id }
}

function opens({ keyring }: AdminContext, value: SealedValue): boolean {
  try {
    keyring.open(value.sealed, value.identity)
    return true
  } catch (error) {
    if (error instanceof SealBroken) return false
    throw error
  }
}

function whatIsLeft({ source, to_replace }: { source: string; to_replace: string | null }): string {
  if (to_replace === null) return `Copy ${source} to where you keep the copy; the old copy opens nothing any more.`
  return `Put ${source} in place of ${to_replace}, keep a copy of it, and restart. Until then both are needed, where they are.`
}

async function recoveryKeyId({ store, keyring }: AdminContext): Promise<string | null> {
  const sealed = await store.seal.recovery()
  return sealed === null ? null : publicHalfId(keyring.open(sealed, 'recovery').reveal())
}
