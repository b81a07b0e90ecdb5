import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import { type SealedParts, sealVersion } from './seal-format.ts'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** AES-256-GCM with a random nonce of 96 bits: good for 2^32 seals under one key, far beyond what a gateway stores. */
export function sealBytes(key: KeyObject, keyId: string, identity: string, clear: string | Buffer): SealedParts {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(associatedData(keyId, identity))
  const bytes = typeof clear === 'string' ? Buffer.from(clear) : clear
  return { keyId, nonce, box: Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]) }
}

/** Null when key, identity, or any bit of it is not what it was sealed with. */
export function openBytes(key: KeyObject, sealed: SealedParts, identity: string): Buffer | null {
  const decipher = createDecipheriv(algorithm, key, sealed.nonce, { authTagLength: tagBytes })
  decipher.setAAD(associatedData(sealed.keyId, identity))
  decipher.setAuthTag(sealed.box.subarray(-tagBytes))
  const clear = decipher.update(sealed.box.subarray(0, -tagBytes))
  try {
    return Buffer.concat([clear, decipher.final()])
  } catch {
    // The only failure that `final` knows is a tag that does not fit.
    return null
  }
}

/** JSON, because joined text could be cut in two ways. */
function associatedData(keyId: string, identity: string): Buffer {
  return Buffer.from(JSON.stringify([sealVersion, keyId, identity]))
}
