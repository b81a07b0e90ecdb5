import { crc32 } from '../bytes/crc32.ts'

/**
 * A gateway key: `sp_live_`, 43 base62 characters from a CSPRNG (256 bits), 6 characters of CRC-32 over them.
 * The checksum tells a typing error from an unknown key without a look-up, and lets secret scanners match the form.
 */
export const keyPrefix = 'sp_live_'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 43
const form = /^sp_live_[0-9A-Za-z]{49}$/

/** Case-insensitive, since the names of headers are in lower case. */
const anyKey = /sp_live_[0-9a-z]{49}/i
/** How `sp_live_` begins in base64 at each of the three places that it can have, and in hexadecimal digits. */
const otherForms = /c3BfbGl2ZV|NwX2xpdmVf|zcF9saXZlX|73705[fF]6[cC]6976655[fF]/
/** A server undoes the encoding once or twice. */
const mostDecoded = 4

/**
 * Whether a gateway key stands anywhere in the text, as it is, in base64 or in hexadecimal digits, or in what the text reads as once its
 * percent-encoding is undone.
 */
export function holdsGatewayKey(text: string): boolean {
  let read = text
  for (let times = 0; !anyKey.test(read) && !otherForms.test(read); times++) {
    if (times === mostDecoded || !read.includes('%')) return false
    read = read.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
  }
  return true
}

/** Whole, cut short or mistyped. */
const writtenKey = new RegExp(`${keyPrefix}[0-9A-Za-z]{8,}`, 'g')
/** The same where any of its characters are percent-encoded, once or several times, as they may be in a path. */
const encodedKey = new RegExp(
  `${[...keyPrefix].map(percentForms).join('')}(?:[0-9A-Za-z]|%(?:25)*[0-9a-f]{2}){8,}`,
  'gi',
)

function percentForms(character: string): string {
  return `(?:${character}|%(?:25)*${character.charCodeAt(0).toString(16)})`
}

/** In base64 of either alphabet, and in hexadecimal digits. */
const otherKey =
  /(?:c3BfbGl2ZV|NwX2xpdmVf|zcF9saXZlX)[0-9A-Za-z+/_-]{10,}={0,2}|73705[fF]6[cC]6976655[fF][0-9a-fA-F]{16,}/g
/** A part of each of these forms that is rare elsewhere: searching for all takes a quarter of a µs per record. */
const otherMarks = ['BfbGl2ZV', 'X2xpdmVf', 'F9saXZlX', '6976655']

/**
 * The text with `sp_live_…` in place of each gateway key. It may be JSON: a key has no character that JSON escapes. Every record
 * passes here, and the middle of the prefix is found four times as fast as the whole, whose letters are in every word.
 */
export function maskGatewayKeys(text: string): string {
  const plain = text.includes('_live_') || text.includes('%') ? maskWritten(text) : text
  return otherMarks.some((mark) => plain.includes(mark)) ? plain.replaceAll(otherKey, `${keyPrefix}…`) : plain
}

function maskWritten(text: string): string {
  return text.replaceAll(writtenKey, `${keyPrefix}…`).replaceAll(encodedKey, `${keyPrefix}…`)
}

/** The actor of everything that `serve --demo` creates; its key is recognised by it. */
export const demoActor = 'serve --demo'

export function mintGatewayKey(): string {
  return mintSecretText(keyPrefix)
}

/** Mints a secret with the form of a gateway key and another prefix. */
export function mintSecretText(prefix: string): string {
  let body = ''
  while (body.length < bodyLength) {
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      // 248 is the largest multiple of 62 below 256: larger bytes would favour the first characters.
      if (byte < 248 && body.length < bodyLength) body += alphabet[byte % 62]
    }
  }
  return prefix + body + checksum(body)
}

export function hasSecretForm(text: string, prefix: string): boolean {
  const rest = text.slice(prefix.length)
  return text.startsWith(prefix) && /^[0-9A-Za-z]{49}$/.test(rest) && checksum(rest.slice(0, -6)) === rest.slice(-6)
}

function checksum(body: string): string {
  let rest = crc32(new TextEncoder().encode(body))
  let text = ''
  for (let position = 0; position < 6; position++) {
    text = alphabet[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}

export type KeyForm = 'valid' | 'mistyped' | 'provider' | 'foreign'

/** What a presented credential looks like, before any look-up. `provider`: a provider's own key, never logged nor stored. */
export function keyForm(text: string): KeyForm {
  if (text.startsWith(keyPrefix)) {
    if (!form.test(text)) return 'mistyped'
    return checksum(text.slice(keyPrefix.length, -6)) === text.slice(-6) ? 'valid' : 'mistyped'
  }
  return /^(sk-|ek_|auth_tokens\/|AIza|gsk_|xai-|AQ\.|ya29\.)/.test(text) ? 'provider' : 'foreign'
}
