import { maskKeys } from './mask-keys.ts'

/**
 * Shown in place of a header's value that may be a secret, and the beginning of what is stored of it, sealed. No header that can be sent
 * holds this character.
 */
export const hiddenHeader = '…'

const harmless =
  /^(?:accept(?:-language)?|anthropic-(?:beta|version)|(?:http-)?referer|openai-(?:beta|organization|project)|user-agent|x-goog-user-project|x-title)$/i
const word = /^(?:true|false|on|off|yes|no|\d{1,3})$/i

/** What servers ask for by other names than these, nobody can know. */
export function mayBeSecret(name: string, value: string): boolean {
  return isHidden(value) || (!word.test(value) && (!harmless.test(name) || maskKeys(value) !== value))
}

export function isHidden(value: string): boolean {
  return value.startsWith(hiddenHeader)
}

/** As anybody may see them; earlier versions stored all of them in clear. */
export function showHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]) => [name, mayBeSecret(name, value) ? hiddenHeader : value])
  return Object.fromEntries(shown)
}

export function headerIdentity(providerId: string, name: string): string {
  return `header:${providerId}:${name}`
}
