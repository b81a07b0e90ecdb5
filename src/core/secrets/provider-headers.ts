import { hiddenHeader, isHidden } from './hidden-header.ts'
import { maskKeys } from './mask-keys.ts'

const harmless =
  /^(?:accept(?:-language)?|anthropic-(?:beta|version)|(?:http-)?referer|openai-(?:beta|organization|project)|user-agent|x-goog-user-project|x-title)$/i
const word = /^(?:true|false|on|off|yes|no|\d{1,3})$/i

/** What servers ask for by other names than these, nobody can know. */
export function mayBeSecret(name: string, value: string): boolean {
  return isHidden(value) || (!word.test(value) && (!harmless.test(name) || maskKeys(value) !== value))
}

/** As anybody may see them; earlier versions stored all of them in clear. */
export function showHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]) => [name, mayBeSecret(name, value) ? hiddenHeader : value])
  return Object.fromEntries(shown)
}
