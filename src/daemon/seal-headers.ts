import { headerIdentity, hiddenHeader, isHidden } from '../core/secrets/hidden-header.ts'
import { mayBeSecret } from '../core/secrets/provider-headers.ts'
import type { Keyring } from '../sealing/keyring.ts'
import type { StoreClient } from '../store/api.ts'

/** Earlier versions stored all headers of providers in clear. */
export async function sealHeaders(store: StoreClient, keyring: Keyring): Promise<void> {
  // Without its cluster, a node does not start, and what it changed the others would not have.
  if ((await store.replica({ act: 'state' })) !== null) return
  const sealed = (providerId: string, headers: Record<string, string>) =>
    Object.entries(headers).map(([name, value]) => {
      const isClear = !isHidden(value) && mayBeSecret(name, value)
      return [name, isClear ? hiddenHeader + keyring.seal(value, headerIdentity(providerId, name)) : value]
    })
  const found = []
  for (const { id: providerId } of await store.providers.list())
    for (const { number, headers } of await store.providers.revisions(providerId)) {
      const isClear = Object.entries(headers).some(([name, value]) => !isHidden(value) && mayBeSecret(name, value))
      if (isClear) found.push({ providerId, number, headers: Object.fromEntries(sealed(providerId, headers)) })
    }
  if (found.length > 0) await store.seal.sealHeaders(found)
}
