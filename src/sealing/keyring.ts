import { createHmac } from 'node:crypto'
import { Secret } from '../core/secrets/secret.ts'
import { openBytes, sealBytes } from './aead.ts'
import { deriveTokenKey } from './client-token.ts'
import type { MachineKey } from './machine-key.ts'
import { MachineKeyWrong, SealBroken } from './seal-error.ts'
import { formatSealed, parseSealed, sealVersion } from './seal-format.ts'

/** Seals and opens bytes under the machine key. Knows no tables: `identity` is the caller's word for the row it stands in. */
export interface Keyring {
  /** Versioned text, safe to store; opens only under the same identity. */
  seal(clear: string, identity: string): string
  /** Throws `SealBroken` when it was sealed under another identity or key, or was changed. */
  open(sealed: string, identity: string): Secret
  /** Tells equal texts from different ones, to nobody who has not the machine key. Another one after a rotation. */
  fingerprint(clear: string): string
  /** For `ClientTokens`. Another one after a rotation. */
  tokenKey(): Uint8Array
  /** Short name of the key in use (from its hash), where it was loaded from, and the file that it has yet to replace. */
  describe(): { keyId: string; source: string; format: string; replaces: string | null }
  /** Opens from now on also what `next` has sealed, so that a reader meets no value that it cannot open. */
  rotateTo(next: MachineKey): Rotation
}

export interface Rotation {
  /** Seals under the new key, as it stands now. The old one still opens what somebody has read already. */
  commit(installed: MachineKey): void
  /** Nothing was sealed under the new key. */
  abort(): void
}

/** Seals under `first`, or what it was rotated to; opens whatever names a key that is here (`older`: while a rotation runs). */
export function makeKeyring(first: MachineKey, older: readonly MachineKey[] = []): Keyring {
  let current = first
  const keys = new Map([...older, current].map((entry) => [entry.keyId, entry.key]))
  return {
    seal: (clear, identity) => formatSealed(sealBytes(current.key, current.keyId, identity, clear)),
    open(sealed, identity) {
      const parts = parseSealed(sealed)
      if (parts === null) throw broken(identity, 'is not a sealed value')
      const key = keys.get(parts.keyId)
      if (key === undefined) throw broken(identity, `was sealed under the machine key ${parts.keyId}, which is missing`)
      const clear = openBytes(key, parts, identity)
      if (clear === null) throw broken(identity, 'was changed or belongs to another row')
      return new Secret(clear.toString('utf8'))
    },
    fingerprint: (clear) =>
      createHmac('sha256', current.key).update('fingerprint:').update(clear).digest('hex').slice(0, 16),
    tokenKey: () => deriveTokenKey(current.key),
    describe: () => ({
      keyId: current.keyId,
      source: current.source,
      format: sealVersion,
      replaces: current.replaces ?? null,
    }),
    rotateTo(next) {
      keys.set(next.keyId, next.key)
      return {
        commit: (installed) => {
          current = installed
        },
        abort: () => void keys.delete(next.keyId),
      }
    },
  }
}

function broken(identity: string, what: string): SealBroken {
  return new SealBroken(`The sealed value of ${identity} ${what}.`, 'Enter the credential again, or restore a backup.')
}

export const witnessIdentity = 'witness'
const witnessText = 'spgw'

/** The known text that the store keeps, by which a wrong machine key is recognised at start. */
export function sealWitness(keyring: Keyring): string {
  return keyring.seal(witnessText, witnessIdentity)
}

/** Throws `MachineKeyWrong` when the database was sealed under another key. A database without a witness has nothing sealed yet. */
export function checkWitness(keyring: Keyring, witness: string | null): 'right' | 'absent' {
  if (witness === null) return 'absent'
  const { keyId, source } = keyring.describe()
  try {
    if (keyring.open(witness, witnessIdentity).reveal() === witnessText) return 'right'
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error
  }
  const sealedBy = parseSealed(witness)?.keyId ?? 'an unknown key'
  throw new MachineKeyWrong(
    `The machine key ${keyId} (${source}) is not the one that this database was sealed with (${sealedBy}).`,
    `Put the key ${sealedBy} there, or start with the data directory of the key ${keyId}.`,
  )
}
