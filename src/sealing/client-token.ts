import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { openBytes, sealBytes } from './aead.ts'

/** What a token is for: one made for one purpose opens for no other. */
export type TokenPurpose = 'upload' | 'client-secret' | 'auth-token' | 'reasoning' | 'response' | 'upload-part'

export type OpenedToken<Payload = string> =
  | { state: 'open'; payload: Payload; expiresAt: number }
  | { state: 'expired'; expiresAt: number }
  /** Not one of these, changed, for another purpose, or from before the machine key was rotated. */
  | { state: 'invalid' }

const keyName = 'client-token'
const version = 1
const expiryBytes = 6
const nonceBytes = 12
const tagBytes = 16
const headBytes = 1 + expiryBytes + nonceBytes

/** Bytes of a key for tokens only, which says nothing of the machine key that it comes from, and is the same at every start. */
export function deriveTokenKey(machineKey: KeyObject): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', machineKey, '', `spgw ${keyName}`, 32))
}

/**
 * Tokens that clients hold and only this gateway can read: sealed with AES-256-GCM, purpose and expiry as associated
 * data. They need no store, so they hold on every thread and across restarts; after `seal rotate` none opens any more,
 * since whoever had the old key could make them and read what they hold.
 */
export class ClientTokens {
  readonly #key: KeyObject

  /** `key`: as `deriveTokenKey` gave it. */
  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key)
  }

  /** In base64url without padding. `expiresAt`: whole milliseconds since the epoch. */
  seal(purpose: TokenPurpose, payload: string, expiresAt: number): string {
    return this.sealRaw(purpose, Buffer.from(payload), expiresAt).toString('base64url')
  }

  /** The same as bytes, for what no client holds. */
  sealRaw(purpose: TokenPurpose, payload: Buffer, expiresAt: number): Buffer {
    const { nonce, box } = sealBytes(this.#key, keyName, identityOf(purpose, expiresAt), payload)
    const head = Buffer.alloc(1 + expiryBytes)
    head.writeUInt8(version)
    head.writeUIntBE(expiresAt, 1, expiryBytes)
    return Buffer.concat([head, nonce, box])
  }

  /** There is one text for each token: loose base64 is refused. */
  open(purpose: TokenPurpose, token: string, now: number): OpenedToken {
    const bytes = Buffer.from(token, 'base64url')
    if (bytes.toString('base64url') !== token) return { state: 'invalid' }
    const opened = this.openRaw(purpose, bytes, now)
    return opened.state === 'open' ? { ...opened, payload: opened.payload.toString('utf8') } : opened
  }

  openRaw(purpose: TokenPurpose, bytes: Buffer, now: number): OpenedToken<Buffer> {
    if (bytes.length < headBytes + tagBytes || bytes[0] !== version) return { state: 'invalid' }
    const expiresAt = bytes.readUIntBE(1, expiryBytes)
    const parts = {
      keyId: keyName,
      nonce: bytes.subarray(headBytes - nonceBytes, headBytes),
      box: bytes.subarray(headBytes),
    }
    const payload = openBytes(this.#key, parts, identityOf(purpose, expiresAt))
    if (payload === null) return { state: 'invalid' }
    return expiresAt <= now ? { state: 'expired', expiresAt } : { state: 'open', payload, expiresAt }
  }
}

function identityOf(purpose: TokenPurpose, expiresAt: number): string {
  return `${purpose}:${expiresAt}`
}
