/**
 * Sealed text, version 1: `sp1.<key id>.<nonce>.<ciphertext and tag>`, the last two in base64url without padding.
 * Version and key id stand in the clear, so that a rotation can tell what is still under the old key.
 */
export const sealVersion = 'sp1'
const form = /^sp1\.([0-9a-f]{12})\.([\w-]{16})\.([\w-]{22,})$/

export interface SealedParts {
  keyId: string
  /** 12 bytes. */
  nonce: Buffer
  /** The ciphertext, then the 16 bytes of the tag. */
  box: Buffer
}

export function formatSealed(parts: SealedParts): string {
  return `${sealVersion}.${parts.keyId}.${parts.nonce.toString('base64url')}.${parts.box.toString('base64url')}`
}

/** Null when the text is not sealed text of ours. There is one text for each value: loose base64 is refused. */
export function parseSealed(text: string): SealedParts | null {
  const [, keyId, nonce, box] = form.exec(text) ?? []
  if (keyId === undefined || nonce === undefined || box === undefined) return null
  const parts = { keyId, nonce: Buffer.from(nonce, 'base64url'), box: Buffer.from(box, 'base64url') }
  return formatSealed(parts) === text ? parts : null
}
