import type { ContentRule } from '../../../core/policies/content-rules.ts'
import { type PolicyRules, parseValue, type RuleForm } from '../../../core/policies/policy-rules.ts'
import { quote } from '../../../core/text/quote.ts'
import { readContentFiles } from '../../../manifest/content-files.ts'
import { invalid } from '../fault.ts'

/** As `parseValue`, and of content rules what their files say. */
export function readRuleValue(form: RuleForm, written: unknown): unknown {
  if (form.kind !== 'content') return parseValue(form, written)
  const read = readContentFiles(written as Record<string, string>)
  if ('wrong' in read)
    throw invalid(
      `The content rules are wrong: ${read.wrong}.`,
      'Such as {rules: [{name: keys, detector: secrets, action: block}]}',
    )
  return read.rules
}

/** The pattern that is none, and what is wrong with it; null: all are fine. The engine is loaded when there is one to look at. */
export async function findWrongPattern(
  denied: readonly string[],
  rules: readonly Pick<ContentRule, 'name' | 'pattern'>[],
): Promise<string | null> {
  const patterns: [what: string, pattern: string][] = denied.map((pattern) => [
    `The pattern ${quote(pattern)}`,
    pattern,
  ])
  for (const { name, pattern } of rules)
    if (pattern !== null) patterns.push([`The pattern of the content rule ${name}`, pattern])
  if (patterns.length === 0) return null
  const { wrongPattern } = await import('../../../policy/content/pattern-seeker.ts')
  for (const [what, pattern] of patterns) {
    const wrong = wrongPattern(pattern)
    if (wrong !== null) return `${what} cannot be used: ${wrong}`
  }
  return null
}

export async function checkPatterns({ denyPatterns, contentRules }: Partial<PolicyRules>): Promise<void> {
  const wrong = await findWrongPattern(denyPatterns ?? [], contentRules ?? [])
  if (wrong !== null)
    throw invalid(`${wrong}.`, 'Patterns are in RE2 syntax: https://github.com/google/re2/wiki/Syntax')
}
