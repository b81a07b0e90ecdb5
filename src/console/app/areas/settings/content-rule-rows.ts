import {
  type ContentRule,
  type ContentSide,
  contentSides,
  readContentRules,
} from '../../../../core/policies/content-rules.ts'

/** Content rules as a form edits them: one row a rule. */
export interface RuleRow {
  key: string
  rule: ContentRule
  /** The pattern that was written last: it comes back when a detector was only looked at. */
  pattern: string
}

/** In place of a detector's name: the rule has a pattern of its own. */
export const ownPattern = 'pattern'

let made = 0
const rowOf = (rule: ContentRule): RuleRow => ({ key: `rule-${++made}`, rule, pattern: rule.pattern ?? '' })

/** Of what stands in the field; null: only its text can be edited, since it is YAML or has a mistake. */
export function readRows(text: string): RuleRow[] | null {
  if (text.trim() === '') return []
  try {
    const read = readContentRules(JSON.parse(text))
    return 'rules' in read ? read.rules.map(rowOf) : null
  } catch {
    return null
  }
}

/** As a policy answers it, so that rules which nobody changed are none that changed. */
export function writeRows(rows: readonly RuleRow[]): string {
  return rows.length === 0 ? '' : JSON.stringify({ rules: rows.map(({ rule }) => rule) }, null, 2)
}

/** What a rule is added for most. */
export function newRow(rows: readonly RuleRow[]): RuleRow {
  const detector = 'email-addresses'
  const on = [...contentSides]
  const name = freeName(detector, rows)
  return rowOf({ name, detector, pattern: null, action: 'redact', on, reversible: false, longest: 200 })
}

/** What a rule looks for: a detector's word, or `ownPattern`. */
export const wordOf = ({ detector }: ContentRule): string => detector ?? ownPattern

/** A name that nobody has written follows what the rule looks for. */
export function lookFor(row: RuleRow, word: string, rows: readonly RuleRow[]): RuleRow {
  const { rule } = row
  const own = wordOf(rule)
  const isGiven =
    rule.name !== own && !(rule.name.startsWith(`${own}-`) && /^\d+$/.test(rule.name.slice(own.length + 1)))
  const others = rows.filter(({ key }) => key !== row.key)
  const name = isGiven ? rule.name : freeName(word, others)
  const what = word === ownPattern ? { detector: null, pattern: row.pattern } : { detector: word, pattern: null }
  return { ...row, rule: { ...rule, ...what, name } }
}

/** What is no longer possible after a change is taken back. */
export function changeRule(row: RuleRow, part: Partial<ContentRule>): RuleRow {
  const rule = { ...row.rule, ...part }
  const pattern = part.pattern ?? row.pattern
  return { ...row, pattern, rule: { ...rule, reversible: rule.reversible && mayRestore(rule) } }
}

/** Only what was redacted in the prompt can stand in the answer again. */
export function mayRestore({ action, on }: ContentRule): boolean {
  return action === 'redact' && on.includes('prompt')
}

/** The choices of one list, by the sides that they stand for. */
export const sideChoices: Readonly<Record<string, { title: string; on: ContentSide[] }>> = {
  both: { title: 'Prompt and answer', on: ['prompt', 'answer'] },
  prompt: { title: 'Prompt', on: ['prompt'] },
  answer: { title: 'Answer', on: ['answer'] },
}

export function sidesWord({ on }: ContentRule): string {
  return on.length === 1 ? (on[0] ?? 'both') : 'both'
}

function freeName(word: string, rows: readonly RuleRow[]): string {
  const taken = new Set(rows.map(({ rule }) => rule.name))
  for (let count = 1; ; count++) {
    const name = count === 1 ? word : `${word}-${count}`
    if (!taken.has(name)) return name
  }
}
