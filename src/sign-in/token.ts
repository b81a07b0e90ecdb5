import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits, for a cookie or a link; whoever has it needs nothing else. */
export function mintToken(): string {
  return randomBytes(32).toString('base64url')
}

const form = /^[\w-]{43}$/

/** Whether it can be one of ours: what cannot is looked up nowhere. */
export function isToken(text: string): boolean {
  return form.test(text)
}

/** What is stored of a token. SHA-256 in base64: there is nothing to guess in 256 random bits, so no slow hash is needed. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}

/** Compares digests, so that the time taken reveals neither length nor content. */
export function isSame(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(left), digest(right))
}
