import { TextScan } from '../../policy/content/text-scan.ts'
import type { RequestEnd, Trace } from '../request/trace.ts'
import type { CallContent } from './call-content.ts'
import { scanSliced, WorkTurn } from './scan-sliced.ts'

/** Signals that may say what a provider said. */
const quoting = new Set(['retry', 'fallback', 'provider.error'])

const notShown = '(not shown: a content rule could not look at it)'

/** What a record quotes of a provider may repeat what rules hide in prompts and answers, so it is hidden there as well. */
export async function hideQuoted(content: CallContent, trace: Trace, end: RequestEnd): Promise<void> {
  const hide = hideBy(content)
  if (hide === null) return
  if (end.error !== null) end.error = { ...end.error, message: await hide(end.error.message) }
  for (const attempt of trace.attempts) if (attempt.message !== null) attempt.message = await hide(attempt.message)
  for (const [at, signal] of trace.routingSignals.entries())
    if (quoting.has(signal.rule)) trace.routingSignals[at] = { ...signal, text: await hide(signal.text) }
}

/** By all rules that redact or block, whichever side they look at. Null: there are none. */
function hideBy({ rules, placeholders }: CallContent): ((text: string) => Promise<string>) | null {
  const hiding = [...new Set([...rules.prompt, ...rules.answer])].filter(({ rule }) => rule.action !== 'flag')
  if (hiding.length === 0) return null
  const masking = hiding.map((each) => ({ ...each, rule: { ...each.rule, action: 'redact' as const } }))
  const context = { rules: masking, placeholders, isAnswer: true, restorer: () => null, found: () => {} }
  const turn = new WorkTurn()
  return (text) => scanSliced(text, new TextScan(context), turn).catch(() => notShown)
}
