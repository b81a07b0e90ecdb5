import { createPublicKey, type KeyObject } from 'node:crypto'

/** What stands before the 32 raw bytes of a public key in its DER form (RFC 8410). */
const publicHead = Buffer.from('302a300506032b656e032100', 'hex')

/** Its 32 bytes. */
export function rawPublicKey(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(publicHead.length)
}

/** Throws for bytes that are no public key. */
export function publicKeyOf(raw: Buffer): KeyObject {
  return createPublicKey({ key: Buffer.concat([publicHead, raw]), format: 'der', type: 'spki' })
}
