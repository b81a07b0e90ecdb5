import { maskGatewayKeys } from './gateway-key.ts'

/** Prefixes that vendors give their keys so that scanners find them. */
export const providerPrefixes: readonly string[] = [
  ...['sk-', 'ek_', 'AIza', 'gsk_', 'xai-', 'hf_', 'pplx-', 'nvapi-', 'r8_', 'fw_', 'AQ.', 'ya29.', 'AKIA', 'ASIA'],
  ...['gho_', 'ghp_', 'ghr_', 'ghs_', 'ghu_', 'github_pat_', 'glpat-'],
  ...['xoxa-', 'xoxb-', 'xoxe-', 'xoxp-', 'xoxr-', 'xoxs-'],
]
export const prefixForm = providerPrefixes.map((prefix) => prefix.replace('.', '\\.')).join('|')

/** Of the gateway's own secrets besides its keys. */
export const ownPrefixes = 'spt_|sp_join_|sp_recovery_|whsec_'
/** Behind anything but a word: in JSON the letter of an escape is no word. */
const apart = String.raw`(?<![0-9A-Za-z]|%[0-9A-F]{2})|(?<=\\[nrtbf]|\\u[0-9a-f]{4}|%[0-9A-F]{2})`
const queryName = '(?:api|subscription)?[_-]?key|(?:access|auth)?[_-]?token|secret|password|sig(?:nature)?'
/** What stands behind such a name in a query, and the password in a URL. */
const inUrl = `([?&](?:${queryName})=)[^\\s&#"'\\\\]{8,}|(://[^\\s/:@"\\\\]{0,64}:)[^\\s/"\\\\@]+(?=@)`
const byPrefix = `(${prefixForm}|${ownPrefixes})([0-9A-Za-z_.-]{16,})`
const byWord = '((?:[Bb]earer|[Bb]asic)(?: |%20){1,8})[0-9A-Za-z._~+/-]{16,}=*'
const token = '(eyJ)[0-9A-Za-z_-]{8,}\\.[0-9A-Za-z_.-]{8,}'
/** A vendor's key, a signed token, what stands behind the word of a header or in a URL. Each keeps its beginning. */
const keyForm = new RegExp(`(?:${apart})(?:${byPrefix}|${token}|${byWord})|${inUrl}`, 'g')
/** What is made by chance mixes letters and digits; words of a name do not. */
const chance = /[A-Za-z][0-9A-Za-z]{0,40}\d|\d[0-9A-Za-z]{0,40}[A-Za-z]/

/**
 * The text, which may be JSON, without gateway keys (`maskGatewayKeys`), vendors' own keys (`sk-…`) and tokens. Clients put them where
 * nobody looks for them: into a user agent, a model, a tag.
 */
export function maskKeys(text: string): string {
  return maskGatewayKeys(text).replaceAll(
    keyForm,
    (whole: string, prefix?: string, rest = '', ...begins: unknown[]) => {
      if (prefix !== undefined) return isByChance(rest) ? `${prefix}…` : whole
      return `${begins.slice(0, otherForms).find((begin) => begin !== undefined)}…`
    },
  )
}

/** Groups of `keyForm` besides a prefix and what follows it. */
const otherForms = 4

/** One of its words is long, and no word. */
function isByChance(text: string): boolean {
  return text.split(/[_.-]/).some((part) => part.length >= 8 && chance.test(part))
}
