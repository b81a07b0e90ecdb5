import { keyPrefix } from '../../core/secrets/gateway-key.ts'
import { prefixForm } from '../../core/secrets/mask-keys.ts'
import { type Detector, findForm } from './detector.ts'

/** Also matches a key that is truncated or mistyped. */
const gatewayKeyForm = new RegExp(`${keyPrefix}[0-9A-Za-z]{8,}`, 'g')

/** A prefix, then the key itself. */
const providerKeyForm = new RegExp(`(?<![0-9A-Za-z])(?:${prefixForm})[0-9A-Za-z_.-]{16,}`, 'g')

/** The word stays, so that the kind of credential is still visible. */
const bearerForm = /(?<![0-9A-Za-z])(?:bearer|basic)[ \t]{1,8}([0-9A-Za-z._~+/-]{16,}=*)/gi
const signedTokenForm = /(?<![0-9A-Za-z_-])eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}(?:\.[0-9A-Za-z_-]*)?/g
export const pemBeginning = '-----BEGIN '
const pemBegin = /-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----/g
export const pemEnd = '-----END '

/** A part of each secret that stays literal in JSON, whatever else is escaped. It also matches texts that are not secrets. */
export const secretsInJson: Readonly<Partial<Record<string, string>>> = {
  'gateway-keys': keyPrefix,
  'provider-keys': `(?:${prefixForm})[0-9A-Za-z_.-]{16}`,
  // A tab is escaped, and a slash may be; in JSON within JSON their escapes are escaped as well.
  'bearer-tokens': String.raw`(?:[Bb][Ee][Aa][Rr][Ee][Rr]|[Bb][Aa][Ss][Ii][Cc])(?:[ \t]|\\+t)+[0-9A-Za-z._~+/\\-]{16}|eyJ[0-9A-Za-z_-]{8}`,
  'private-keys': pemBeginning,
}

export const gatewayKeys: Detector = (text, from = 0) => findForm(text, from, gatewayKeyForm, 'gateway key')

/** A word that only begins like a key has no digit. */
export const providerKeys: Detector = (text, from = 0) =>
  findForm(text, from, providerKeyForm, 'provider key', ({ index, 0: found }) =>
    /\d/.test(found) ? { start: index, end: index + found.length } : null,
  )

/** Always searched from the start: a token may end with the word that would begin the next match. */
export const bearerTokens: Detector = (text, from = 0) => [
  ...findForm(text, 0, bearerForm, 'token', ({ index, 0: { length }, 1: token = '' }) => ({
    start: index + length - token.length,
    end: index + length,
  })),
  ...findForm(text, from, signedTokenForm, 'token'),
]

/** Up to the end line, or to the end of the text if there is none. */
export const privateKeys: Detector = (text, from = 0) => {
  let behind = 0
  return findForm(text, from, pemBegin, 'private key', ({ index }) => {
    if (index < behind) return null
    const end = text.indexOf(pemEnd, index)
    const line = end < 0 ? -1 : text.indexOf('-----', end + pemEnd.length)
    behind = line < 0 ? text.length : line + 5
    return { start: index, end: behind }
  })
}

/** Exactly these texts, whatever their form. */
export function knownSecrets(secrets: readonly string[]): Detector {
  const wanted = secrets.filter(({ length }) => length >= shortestSecret)
  return (text) =>
    wanted.flatMap((secret) => {
      const found = []
      for (let start = text.indexOf(secret); start >= 0; start = text.indexOf(secret, start + secret.length))
        found.push({ start, end: start + secret.length, note: 'credential' })
      return found
    })
}

/** Shorter ones are placeholders (`EMPTY`) or plain words. */
const shortestSecret = 12
