import { secretParameter } from './address-credentials.ts'
import { maskGatewayKeys } from './gateway-key.ts'

/** Prefixes that vendors give their keys so that scanners find them. */
export const providerPrefixes: readonly string[] = [
  ...['sk-', 'ek_', 'AIza', 'gsk_', 'xai-', 'hf_', 'pplx-', 'nvapi-', 'r8_', 'fw_', 'AQ.', 'ya29.', 'AKIA', 'ASIA'],
  ...['gho_', 'ghp_', 'ghr_', 'ghs_', 'ghu_', 'github_pat_', 'glpat-'],
  ...['xoxa-', 'xoxb-', 'xoxe-', 'xoxp-', 'xoxr-', 'xoxs-'],
]
export const prefixForm = providerPrefixes.map((prefix) => prefix.replace('.', '\\.')).join('|')

/** Of the gateway's own secrets besides its keys. */
const ownPrefixes = 'spt_|sp_join_|sp_recovery_|whsec_'
/** Behind anything but a word: in JSON the letter of an escape is no word. */
const apart = String.raw`(?<![0-9A-Za-z]|%[0-9A-F]{2})|(?<=\\[nrtbf]|\\u[0-9a-f]{4}|%[0-9A-F]{2})`
/** What stands behind such a name in a query, and the password in a URL. */
const inUrl = `([?&](?i:${secretParameter})=)[^\\s&#"'\\\\]{8,}|(://[^\\s/:@"\\\\]{0,64}:)[^\\s/"\\\\@]+(?=@)`
const byPrefix = `(${prefixForm}|${ownPrefixes})([0-9A-Za-z_.-]{16,})`
const byWord = '((?:[Bb]earer|[Bb]asic)(?: |%20){1,8})[0-9A-Za-z._~+/-]{16,}=*'
/** Matches without the second part, too: what was passed once is not searched for another beginning, which may be everywhere. */
const token = '(eyJ)[0-9A-Za-z_-]{8,}(\\.[0-9A-Za-z_.-]{8,})?'
/** A vendor's key, a signed token, what stands behind the word of a header or in a URL. Each keeps its beginning. */
const keyForm = new RegExp(`(?:${apart})(?:${byPrefix}|${token}|${byWord})|${inUrl}`, 'g')
/** What each of these has, seen fast. */
const maybeKey = new RegExp(
  `(?:${prefixForm}|${ownPrefixes}|eyJ)[0-9A-Za-z_.-]{9}|(?:earer|asic)(?: |%20)|[?&](?i:${secretParameter})=|://[^\\s/@]*@`,
)
/** What is made by chance mixes letters and digits; words of a name do not. */
const chance = /[A-Za-z]\d|\d[A-Za-z]/
const anyPrefix = new RegExp(`[_-](?:${prefixForm}|${ownPrefixes})`)

/**
 * The text, which may be JSON, without gateway keys (`maskGatewayKeys`), vendors' own keys (`sk-…`) and tokens. Clients put them where
 * nobody looks for them: into a user agent, a model, a tag.
 */
export function maskKeys(text: string): string {
  return maskGatewayKeys(text).replaceAll(keyForm, maskMatch)
}

/** Whether `maskKeys` may change it. Seldom true where it does not. */
export function mayHoldKey(text: string): boolean {
  return maybeKey.test(text)
}

function maskMatch(whole: string, ...groups: (string | undefined)[]): string {
  const [prefix, rest = '', signed, signedRest, word, parameter, login] = groups
  if (prefix !== undefined) return isByChance(rest) ? `${prefix}…` : whole
  // Base64 of any JSON begins like a signed token.
  if (signed !== undefined && signedRest === undefined && !(anyPrefix.test(whole) && isByChance(whole))) return whole
  return `${signed ?? word ?? parameter ?? login}…`
}

/** One of its words is long, and no word. */
function isByChance(text: string): boolean {
  return text.split(/[_.-]/).some((part) => part.length >= 8 && chance.test(part))
}
