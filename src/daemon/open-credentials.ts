import { headerIdentity, headerShut, isHidden } from '../core/secrets/hidden-header.ts'
import type { Secret } from '../core/secrets/secret.ts'
import type { Keyring } from '../sealing/keyring.ts'
import { SealBroken } from '../sealing/seal-error.ts'
import type { Provider } from '../store/api.ts'

const sealedShut = 'its stored credential cannot be decrypted; enter it again'

/** What does not open counts as absent: one broken value must not keep every other change from the data plane. */
export function openCredentials({ id, revision }: Provider, keyring: Keyring): { id: string; credential: Secret }[] {
  return revision.credentials.flatMap(({ id: credentialId, sealed }) => {
    const credential = tryOpen(keyring, sealed, `credential:${id}:${credentialId}`)
    return credential === null ? [] : [{ id: credentialId, credential }]
  })
}

export function openHeaders({ id, revision }: Provider, keyring: Keyring): Record<string, string> {
  const headers = { ...revision.headers }
  for (const [name, value] of Object.entries(headers)) {
    if (!isHidden(value)) continue
    const secret = tryOpen(keyring, value.slice(1), headerIdentity(id, name))
    if (secret === null) delete headers[name]
    else headers[name] = secret.reveal()
  }
  return headers
}

function tryOpen(keyring: Keyring, sealed: string, identity: string): Secret | null {
  try {
    return keyring.open(sealed, identity)
  } catch (error) {
    if (error instanceof SealBroken) return null
    throw error
  }
}

/** Why it is not called: none of its credentials opens, or a header would be missing. Null: it may be. */
export function whyShut(
  provider: Provider,
  keyring: Keyring,
  credentials: readonly unknown[] = openCredentials(provider, keyring),
  headers = openHeaders(provider, keyring),
): string | null {
  const { revision } = provider
  if (revision.credentials.length > 0 && credentials.length === 0) return sealedShut
  const missing = Object.keys(revision.headers).find((name) => !Object.hasOwn(headers, name))
  return missing === undefined ? null : headerShut(missing)
}
