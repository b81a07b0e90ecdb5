import { type ContentRule, type ContentSide, denyRules } from '../../../core/content-rules.ts'
import { policyRules } from '../../../core/policy-rules.ts'
import { tryRules } from '../../../policy/content/try-rules.ts'
import type { AdminContext } from '../context.ts'
import { invalid } from '../fault.ts'
import { findPolicy } from '../find.ts'
import { checkPatterns, readRuleValue } from './read-rules.ts'

interface TriedRules {
  name?: string | undefined
  text?: string | undefined
  file?: Record<string, string> | undefined
  contentRules?: Record<string, string> | undefined
  on: ContentSide
}

/** Rules of a policy, or those given in their place, on a text. Nothing is sent, and the text is kept nowhere. */
export async function tryContentRules(context: AdminContext, { name, text, file, contentRules, on }: TriedRules) {
  const given = text ?? Object.values(file ?? {}).join('\n')
  if (text !== undefined && file !== undefined)
    throw invalid('--text and --file exclude each other.', 'Give one of them.')
  if (given === '') throw invalid('There is no text to try.', 'Give it with --text or --file.')
  if (name === undefined && contentRules === undefined)
    throw invalid('There are no rules to try.', 'Name a policy, or give rules with --content-rule.')
  const policy = name === undefined ? null : await findPolicy(context, name)
  const unsaved =
    contentRules === undefined
      ? undefined
      : (readRuleValue(policyRules.contentRules.form, contentRules) as ContentRule[])
  const rules = [...denyRules(policy?.denyPatterns ?? []), ...(unsaved ?? policy?.contentRules ?? [])]
  await checkPatterns({ contentRules: rules })
  const tried = await tryRules([{ policy: policy?.name ?? '', rules }], on, given)
  return { policy: policy?.name ?? null, on, given, ...tried }
}
