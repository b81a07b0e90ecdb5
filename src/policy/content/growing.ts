import type { RuleDetector } from '../../core/policies/content-rules.ts'
import { keyPrefix } from '../../core/secrets/gateway-key.ts'
import { providerPrefixes } from '../../core/secrets/mask-keys.ts'
import type { Detector } from '../detectors/detector.ts'
import { detectors } from '../detectors/index.ts'
import { accountCountries } from '../detectors/personal.ts'
import { pemBeginning, pemEnd, secretsInJson } from '../detectors/secrets.ts'
import type { Seeker } from './seeker.ts'

/** The characters that keys and tokens consist of. */
const keyCharacter = asciiTest(/[0-9A-Za-z_.~+/=-]/)
const alphanumeric = asciiTest(/[0-9A-Za-z]/)
const letter = asciiTest(/[A-Za-z]/)
const bearerBefore = /(?:^|[^0-9A-Za-z])(?:bearer|basic)[ \t]{1,8}$/i

/**
 * Whether the character at an index belongs to a set; false at -1. A table is faster than a regular expression, and every character of an
 * answer is tested.
 */
type CharacterTest = (text: string, at: number) => boolean

function asciiTest(form: RegExp): CharacterTest {
  const known = Uint8Array.from({ length: 128 }, (_, code) => Number(form.test(String.fromCharCode(code))))
  return (text, at) => known[text.charCodeAt(at)] === 1
}

/** Where the run of such characters at the end of the text begins. `most`: only this many characters are tested. */
function trailingRun(text: string, test: CharacterTest, most = text.length): number {
  const least = Math.max(0, text.length - most)
  let from = text.length
  while (from > least && test(text, from - 1)) from--
  return from
}

/** The first index of the trailing run at which one of the beginnings stands, or may still appear. */
function growingKey(text: string, beginnings: readonly string[], anywhere: boolean): number {
  const run = trailingRun(text, keyCharacter)
  for (let from = run; from < text.length; from++) {
    if (!anywhere && alphanumeric(text, from - 1)) continue
    for (const one of beginnings) if (begins(text, from, one)) return from
  }
  return text.length
}

/** Whether the text from there begins with `wanted`, or is a beginning of it. */
function begins(text: string, from: number, wanted: string): boolean {
  const length = Math.min(wanted.length, text.length - from)
  for (let at = 0; at < length; at++) if (text.charCodeAt(from + at) !== wanted.charCodeAt(at)) return false
  return true
}

function growingToken(text: string): number {
  const run = trailingRun(text, keyCharacter)
  if (bearerBefore.test(text.slice(Math.max(0, run - 20), run))) return run
  return growingKey(text, ['eyJ'], false)
}

/** Longer than BEGIN, a few words, and PRIVATE KEY. */
const longestBegin = 70

function growingPrivateKey(text: string): number {
  const open = openPrivateKey(text)
  if (open !== null) return open
  const least = Math.max(0, text.length - longestBegin)
  for (let from = text.indexOf('-', least); from >= 0; from = text.indexOf('-', from + 1)) {
    const rest = text.slice(from)
    if (rest.length < pemBeginning.length ? pemBeginning.startsWith(rest) : /^-----BEGIN [A-Z -]*$/.test(rest))
      return from
  }
  return text.length
}

/** Where a private key begins whose end has not arrived. */
function openPrivateKey(text: string): number | null {
  if (!text.includes(pemBeginning)) return null
  const last = detectors['private-keys'](text).at(-1)
  if (last === undefined || last.end < text.length) return null
  return endOfPrivateKey(text.slice(last.start)) === null ? last.start : null
}

function endOfPrivateKey(text: string): number | null {
  const end = text.indexOf(pemEnd)
  const line = end < 0 ? -1 : text.indexOf('-----', end + pemEnd.length)
  return line < 0 ? null : line + 5
}

const emailForm = /[\p{L}\p{N}._%+'@\u{d800}-\u{dfff}-]/u
const asciiEmail = asciiTest(emailForm)
const emailCharacter: CharacterTest = (text, at) =>
  text.charCodeAt(at) < 128 ? asciiEmail(text, at) : emailForm.test(text[at] ?? '')
const phoneCharacter = asciiTest(/[\d .()/+-]/)
const longestLocal = 64
const longestEmail = 700

function growingEmail(text: string): number {
  const run = trailingRun(text, emailCharacter, longestEmail)
  const at = text.indexOf('@', run)
  return Math.max(run, (at < 0 ? text.length : at) - longestLocal)
}

/** A plus sign, and 15 digits with two separators between each. */
const longestPhone = 50

function growingPhone(text: string): number {
  const from = trailingRun(text, phoneCharacter, longestPhone)
  const plus = text.indexOf('+', from)
  return plus < 0 ? text.length : plus
}

function growingCard(text: string): number {
  let from = text.length
  while (from > 0 && (isDigit(text[from - 1]) || (isGap(text[from - 1]) && isDigit(text[from - 2])))) from--
  return from
}

const isDigit = (character: string | undefined) => character !== undefined && character >= '0' && character <= '9'
const isGap = (character: string | undefined) => character === ' ' || character === '-'

/** 34 letters and digits with single spaces between them. */
const longestAccount = 70
const accountBeginning = /^[A-Za-z]{2}(?:\d(?:\d(?: ?[0-9A-Za-z])* ?)?)?$/

function growingAccount(text: string): number {
  for (let from = Math.max(0, text.length - longestAccount); from < text.length; from++) {
    if (!letter(text, from) || alphanumeric(text, from - 1)) continue
    const rest = text.slice(from)
    if (rest.length === 1) return from
    if (accountBeginning.test(rest) && accountCountries.has(rest.slice(0, 2).toUpperCase())) return from
  }
  return text.length
}

const keyRest = (text: string) => {
  let end = 0
  while (keyCharacter(text, end)) end++
  return end
}

const growing: Record<RuleDetector, Omit<Seeker, 'find' | 'inJson'>> = {
  'gateway-keys': { growingFrom: (text) => growingKey(text, [keyPrefix], true), rest: keyRest },
  'provider-keys': { growingFrom: (text) => growingKey(text, providerPrefixes, false), rest: keyRest },
  'bearer-tokens': { growingFrom: growingToken, rest: keyRest },
  'private-keys': { growingFrom: growingPrivateKey, rest: (text) => endOfPrivateKey(text) ?? text.length },
  'email-addresses': { growingFrom: growingEmail, rest: null },
  'phone-numbers': { growingFrom: growingPhone, rest: null },
  'card-numbers': { growingFrom: growingCard, rest: null },
  'account-numbers': { growingFrom: growingAccount, rest: null },
}

export function detectorSeeker(name: RuleDetector): Seeker {
  const find: Detector = detectors[name]
  return { find, ...growing[name], inJson: secretsInJson[name] ?? null }
}
