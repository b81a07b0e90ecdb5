import { isObject } from '../json/is-object.ts'

/** Content rules of policies: what is looked for in prompts and answers, and what is done where it is found. */

export const contentActions = ['block', 'redact', 'flag'] as const
export type ContentAction = (typeof contentActions)[number]
export const contentSides = ['prompt', 'answer'] as const
export type ContentSide = (typeof contentSides)[number]

/** Built-in detectors by group. A rule names one of them, or a group. */
export const detectorGroups = {
  secrets: ['gateway-keys', 'provider-keys', 'bearer-tokens', 'private-keys'],
  personal: ['email-addresses', 'phone-numbers', 'card-numbers', 'account-numbers'],
} as const
export type RuleDetector = (typeof detectorGroups)[keyof typeof detectorGroups][number]

export interface ContentRule {
  name: string
  /** A detector or a group; null: it has a pattern. */
  detector: string | null
  /** In RE2 syntax; null: it has a detector. */
  pattern: string | null
  action: ContentAction
  on: ContentSide[]
  /** Placeholders of a redacted prompt become what they stand for again where they occur in the answer. */
  reversible: boolean
  /** A pattern finds nothing that is longer, in characters. */
  longest: number
}

/** A text that rules are tried on, in characters. */
export const longestTried = 32_768
const usualLongest = 200
export const mostLongest = 2000
const mostRules = 100
const longestPattern = 1000
const nameForm = /^[a-z0-9][a-z0-9._-]{0,62}$/
const members = ['name', 'detector', 'pattern', 'action', 'on', 'reversible', 'longest']

/** The detectors that a rule's word stands for; null: none. */
export function detectorsOf(word: string): readonly RuleDetector[] | null {
  const groups: Readonly<Record<string, readonly RuleDetector[]>> = detectorGroups
  const all = Object.values(groups).flat()
  return groups[word] ?? (all.includes(word as RuleDetector) ? [word as RuleDetector] : null)
}

/** The words that `detector` takes. */
export const detectorWords: readonly string[] = [
  ...Object.keys(detectorGroups),
  ...Object.values(detectorGroups).flat(),
]

/** Reads `{rules: […]}`, or the list alone. `wrong` says what is wrong and where. */
export function readContentRules(given: unknown): { rules: ContentRule[] } | { wrong: string } {
  const list = isObject(given) ? given.rules : given
  if (isObject(given)) {
    const other = Object.keys(given).find((name) => name !== 'rules')
    if (other !== undefined) return { wrong: `${quoted(other)} is not a member of the file; it has \`rules\` only` }
  }
  if (!Array.isArray(list)) return { wrong: 'there must be a list called `rules`' }
  if (list.length > mostRules) return { wrong: `there are more than ${mostRules} rules` }
  const rules: ContentRule[] = []
  for (const [place, one] of list.entries()) {
    const rule = readRule(one)
    if (typeof rule === 'string') return { wrong: `rule ${nameOf(one) ?? place + 1}: ${rule}` }
    if (rules.some(({ name }) => name === rule.name)) return { wrong: `two rules are called ${rule.name}` }
    rules.push(rule)
  }
  return { rules }
}

/** What `--deny-pattern` stands for: each blocks on the prompt. */
export function denyRules(patterns: readonly string[]): ContentRule[] {
  return patterns.map((pattern, place) => ({
    name: `deny-pattern-${place + 1}`,
    detector: null,
    pattern,
    action: 'block',
    on: ['prompt'],
    reversible: false,
    longest: mostLongest,
  }))
}

function readRule(given: unknown): ContentRule | string {
  if (!isObject(given)) return 'it must have a name, a detector or a pattern, and an action'
  const other = Object.keys(given).find((name) => !members.includes(name))
  if (other !== undefined) return `${quoted(other)} is not a member of a rule; it has ${members.join(', ')}`
  const { name, action, reversible = false, longest = usualLongest } = given
  if (typeof name !== 'string' || !nameForm.test(name))
    return '`name` must be lower-case letters, digits, dots, underscores and hyphens, at most 63'
  const what = readWhat(given)
  if (typeof what === 'string') return what
  if (!isOneOf(contentActions, action)) return `\`action\` must be one of ${contentActions.join(', ')}`
  const on = readSides(given.on)
  if (on === null) return `\`on\` must be a list of ${contentSides.join(' and ')}`
  if (typeof reversible !== 'boolean') return '`reversible` must be true or false'
  if (reversible && (action !== 'redact' || !on.includes('prompt')))
    return '`reversible` is for rules that redact the prompt'
  if (typeof longest !== 'number' || !Number.isInteger(longest) || longest < 1 || longest > mostLongest)
    return `\`longest\` must be a whole number from 1 to ${mostLongest}`
  return { name, ...what, action, on, reversible, longest }
}

function readWhat({ detector, pattern }: Record<string, unknown>): Pick<ContentRule, 'detector' | 'pattern'> | string {
  if ((detector ?? null) === null) {
    if (typeof pattern !== 'string' || pattern === '') return 'it needs a `detector` or a `pattern`'
    return pattern.length > longestPattern
      ? `its pattern is longer than ${longestPattern} characters`
      : { detector: null, pattern }
  }
  if ((pattern ?? null) !== null) return 'it has a `detector` and a `pattern`; make two rules of it'
  if (typeof detector !== 'string' || detectorsOf(detector) === null)
    return `\`detector\` must be one of ${detectorWords.join(', ')}`
  return { detector, pattern: null }
}

function readSides(on: unknown): ContentSide[] | null {
  if (on === undefined || on === null) return [...contentSides]
  const given = Array.isArray(on) ? on : [on]
  if (given.length === 0 || !given.every((side) => isOneOf(contentSides, side))) return null
  return contentSides.filter((side) => given.includes(side))
}

function isOneOf<Word extends string>(words: readonly Word[], given: unknown): given is Word {
  return (words as readonly unknown[]).includes(given)
}

function nameOf(given: unknown): string | null {
  return isObject(given) && typeof given.name === 'string' && nameForm.test(given.name) ? given.name : null
}

const quoted = (text: string) => JSON.stringify(text.slice(0, 60))
