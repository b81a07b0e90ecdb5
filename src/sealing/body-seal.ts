import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import type { BodyPart } from '../core/capture.ts'
import { openBytes, sealBytes } from './aead.ts'

/** The key of captured bodies, in clear: for the threads that seal. `id` tells it from those before it. */
export interface BodyKey {
  id: string
  key: Uint8Array
}

const version = 1
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/** A random one: what it sealed opens as long as it is kept, whatever machine key it is itself sealed under by then. */
export function mintBodyKey(): Uint8Array {
  return new Uint8Array(randomBytes(keyBytes))
}

/** What the sealed key is called beside the other sealed values. */
export function bodyKeyIdentity(id: string): string {
  return `bodies:${id}`
}

/**
 * AES-256-GCM, request and part as associated data. Each body has a key of its own, derived from the one for all: a
 * random nonce is good for 2^32 seals under one key, which a busy gateway reaches in weeks.
 */
export function sealBody(key: BodyKey, requestId: string, part: BodyPart, clear: Buffer): Buffer {
  const identity = identityOf(requestId, part)
  const { nonce, box } = sealBytes(deriveKey(key, identity), key.id, identity, clear)
  return Buffer.concat([Buffer.of(version), nonce, box])
}

/** Null when it was sealed by another key, for another request or part, or was changed. */
export function openBody(key: BodyKey, requestId: string, part: BodyPart, sealed: Uint8Array): Buffer | null {
  const bytes = Buffer.from(sealed)
  if (bytes.length < 1 + nonceBytes + tagBytes || bytes[0] !== version) return null
  const identity = identityOf(requestId, part)
  const parts = { keyId: key.id, nonce: bytes.subarray(1, 1 + nonceBytes), box: bytes.subarray(1 + nonceBytes) }
  return openBytes(deriveKey(key, identity), parts, identity)
}

function deriveKey({ key }: BodyKey, identity: string) {
  return createSecretKey(createHmac('sha256', key).update(identity).digest())
}

function identityOf(requestId: string, part: BodyPart): string {
  return `body:${requestId}:${part}`
}
