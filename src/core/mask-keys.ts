import { maskGatewayKeys } from './gateway-key.ts'
import type { RequestRecord } from './record.ts'

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
const queryName = '(?:api|subscription)?[_-]?key|(?:access|auth)?[_-]?token|secret|password|sig(?:nature)?'
/** What stands behind such a name in a query, and the password in a URL. */
const inUrl = `([?&](?:${queryName})=)[^\\s&#"'\\\\]{8,}|(://[^\\s/:@"\\\\]{0,64}:)[^\\s/"\\\\@]+(?=@)`
const byPrefix = `(${prefixForm}|${ownPrefixes})([0-9A-Za-z_.-]{16,})`
const byWord = '((?:[Bb]earer|[Bb]asic)(?: |%20){1,8})[0-9A-Za-z._~+/-]{16,}=*'
const token = '(eyJ)[0-9A-Za-z_-]{8,}\\.[0-9A-Za-z_.-]{8,}'
/** A vendor's key, a signed token, what stands behind the word of a header or in a URL. Each keeps its beginning. */
const keyForm = new RegExp(`(?:${apart})(?:${byPrefix}|${token}|${byWord})|${inUrl}`, 'g')
/** The same, seen fast: it also matches what is no key. */
const maybeKey = new RegExp(`(?:${prefixForm}|${ownPrefixes}|eyJ|earer|asic)[0-9A-Za-z_.% -]{9}|[?&:][^=]{0,20}[=@]`)
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

/** No key is shorter. */
const shortestKey = 'sk-'.length + 16

/**
 * The text of a journal entry without keys, where its record may hold any. To search all of it costs twice as much as to write it. So
 * only those texts of a plain record are searched that its client chose: nothing else of it can hold what they do not.
 */
export function maskEntry(text: string, record: RequestRecord): string {
  return mayHoldKeys(record) ? maskKeys(text) : maskGatewayKeys(text)
}

function mayHoldKeys(record: RequestRecord): boolean {
  const { error, attempts, losses, path, model, upstream_model, provider_request_id, client, trace, tags } = record
  if (error !== null || attempts.length > 1 || isNoted(attempts[0]?.message) || losses.some(holdsKey)) return true
  if (holdsKey(path) || holdsKey(model) || holdsKey(upstream_model) || holdsKey(client.user_agent)) return true
  if (holdsKey(provider_request_id) || (trace !== null && holdsKey(trace.state))) return true
  for (const name in tags) if (holdsKey(name) || holdsKey(tags[name])) return true
  return false
}

const isNoted = (text: string | null | undefined): boolean => typeof text === 'string' && text !== ''

function holdsKey(text: string | null | undefined): boolean {
  if (typeof text !== 'string' || text.length < shortestKey || plainTexts.has(text)) return false
  if (maybeKey.test(text)) return true
  if (plainTexts.size >= mostPlainTexts) plainTexts.clear()
  plainTexts.add(text)
  return false
}

/** A few user agents, paths and models are those of nearly all requests. */
const plainTexts = new Set<string>()
const mostPlainTexts = 256
