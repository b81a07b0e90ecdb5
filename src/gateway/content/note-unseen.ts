import type { ContentSide } from '../../core/content-rules.ts'
import type { Trace } from '../request/trace.ts'

/** There is content that no content rule looks at: the record says so, once for each kind. */
export function noteUnseen(trace: Trace, side: ContentSide, what: string): void {
  const text = `Content rules apply, but not to all of the ${side}: ${what}.`
  if (trace.policySignals.some((signal) => signal.text === text)) return
  trace.policySignals.push({ rule: 'content.unseen', verdict: 'note', text, data: { on: side } })
}
