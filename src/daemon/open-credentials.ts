import { headerIdentity, hiddenHeader, isHidden } from '../core/hidden-header.ts'
import type { Secret } from '../core/secret.ts'
import type { Keyring } from '../sealing/keyring.ts'
import { SealBroken } from '../sealing/seal-error.ts'
import type { Provider } from '../store/api.ts'

/** Why a provider fails whose credentials are there and do not open. */
export const sealedShut = 'its stored credential cannot be decrypted; enter it again'

/** What does not open counts as absent: one broken value must not keep every other change from the data plane. */
export function openCredentials({ id, revision }: Provider, keyring: Keyring): { id: string; credential: Secret }[] {
  return revision.credentials.flatMap(({ id: credentialId, sealed }) => {
    try {
      return { id: credentialId, credential: keyring.open(sealed, `credential:${id}:${credentialId}`) }
    } catch (error) {
      if (error instanceof SealBroken) return []
      throw error
    }
  })
}

/** The same of headers: one that does not open is not sent. */
export function openHeaders({ id, revision }: Provider, keyring: Keyring): Record<string, string> {
  const opened = Object.entries(revision.headers).flatMap(([name, value]) => {
    if (!isHidden(value)) return [[name, value]]
    try {
      return [[name, keyring.open(value.slice(hiddenHeader.length), headerIdentity(id, name)).reveal()]]
    } catch (error) {
      if (error instanceof SealBroken) return []
      throw error
    }
  })
  return Object.fromEntries(opened)
}

/** It has credentials, and none of them opens. */
export function isSealedShut(provider: Provider, keyring: Keyring): boolean {
  return provider.revision.credentials.length > 0 && openCredentials(provider, keyring).length === 0
}
