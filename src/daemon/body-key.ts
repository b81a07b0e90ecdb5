import { type BodyKey, bodyKeyIdentity, mintBodyKey } from '../sealing/body-seal.ts'
import type { Keyring } from '../sealing/keyring.ts'
import { SealBroken } from '../sealing/seal-error.ts'
import type { StoreClient } from '../store/api.ts'
import type { SnapshotPolicy } from '../store/configuration/snapshot.ts'
import { StoreConflict } from '../store/store-error.ts'

/**
 * The key that captured bodies are sealed with, made when a policy first wants any; null: none does. Answers that a route
 * keeps (`caches`) are sealed with it, too. There is one for
 * each machine key, so that whoever had an old machine key opens nothing that is captured after its rotation. `now` is
 * the one in use: it stays while a rotation is between two steps.
 */
export async function bodyKeyFor(
  { bodies }: Pick<StoreClient, 'bodies'>,
  keyring: Keyring,
  policies: readonly SnapshotPolicy[],
  now: BodyKey | null,
  caches = false,
): Promise<BodyKey | null> {
  if (!caches && !policies.some(({ capture }) => capture === 'redacted' || capture === 'full')) return null
  const { keyId: id } = keyring.describe()
  if (now?.id === id) return now
  const stored = await bodies.key(id)
  const known = stored === null ? null : openKey(keyring, id, stored)
  if (known !== null) return { id, key: known }
  const key = mintBodyKey()
  const sealed = keyring.seal(Buffer.from(key).toString('base64'), bodyKeyIdentity(id))
  try {
    const standing = await bodies.setKey(id, sealed, stored)
    if (standing === sealed) return { id, key }
    // Another node was first. What two keys of one id had sealed would open with one of them only.
    const first = openKey(keyring, id, standing)
    return first === null ? now : { id, key: first }
  } catch (error) {
    if (error instanceof StoreConflict) return now
    throw error
  }
}

/** What does not open is replaced: nothing that it sealed opens either. */
function openKey(keyring: Keyring, id: string, sealed: string): Uint8Array | null {
  try {
    return new Uint8Array(Buffer.from(keyring.open(sealed, bodyKeyIdentity(id)).reveal(), 'base64'))
  } catch (error) {
    if (error instanceof SealBroken) return null
    throw error
  }
}
