import type { Secret } from '../../../core/secrets/secret.ts'
import type { CheckResult } from '../../../providers/contract.ts'
import { SealBroken } from '../../../sealing/seal-error.ts'
import type { Provider, SealedCredential } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { check, found, openSealed } from './provider-check.ts'
import { findHeaderShut } from './provider-headers.ts'
import { findProviderKind } from './provider-input.ts'

export interface StoredCheck extends CheckResult {
  /** In the order of the pool. */
  credentials: { id: string; lastFour: string; result: CheckResult }[]
}

/** With every credential of its pool, all at once. What is found is kept, and shows; nothing here is refused. */
export async function checkStored(context: AdminContext, provider: Provider): Promise<StoredCheck> {
  const result = await checkPool(context, provider)
  const { readiness, models } = found(result)
  await context.store.providers.setReadiness(provider.id, readiness, models)
  if (result.ok) context.runtime.markReady(provider.id)
  return result
}

async function checkPool(context: AdminContext, provider: Provider): Promise<StoredCheck> {
  const shut = findHeaderShut(context, provider.id, provider.revision.headers)
  if (shut !== null) return { ok: false, reason: 'credential_sealed', message: shut, models: [], credentials: [] }
  const kind = findProviderKind(context, provider.kind)
  const ask = (credential: Secret | null) => check(context, kind, provider, credential)
  const pool = provider.revision.credentials
  if (pool.length === 0) return { ...(await ask(null)), credentials: [] }
  const credentials = await Promise.all(
    pool.map(async (stored) => ({
      id: stored.id,
      lastFour: stored.lastFour,
      result: await checkOne(context, provider, stored, ask),
    })),
  )
  return { ...evaluatePool(credentials), credentials }
}

async function checkOne(
  context: AdminContext,
  { id }: Provider,
  stored: SealedCredential,
  ask: (credential: Secret) => Promise<CheckResult>,
): Promise<CheckResult> {
  try {
    return await ask(openSealed(context, id, stored))
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error
    return { ok: false, reason: 'credential_sealed', message: `${error.message} ${error.hint}`, models: [] }
  }
}

/** A pool is as good as its best credential: traffic passes over the others. */
function evaluatePool(credentials: StoredCheck['credentials']): CheckResult {
  const good = credentials.filter(({ result }) => result.ok)
  const [first] = good.length > 0 ? good : credentials
  if (first === undefined) throw new Error('an empty pool has no credential to check')
  if (credentials.length === 1 || good.length === credentials.length) return first.result
  const { message } = first.result
  const share = good.length === 0 ? `None of its ${credentials.length}` : `${good.length} of its ${credentials.length}`
  return { ...first.result, message: `${share} credentials passed. ${message}` }
}
