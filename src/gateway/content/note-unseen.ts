import { type Fault, fault } from '../../core/errors.ts'
import type { ContentSide } from '../../core/policies/content-rules.ts'
import type { Signal } from '../../core/record.ts'
import type { ContentPolicy } from '../../policy/content/compile.ts'
import type { Trace } from '../request/trace.ts'

/**
 * There is content that no rule looks at. The record says so, once for each kind. A fault: a policy whose rules look at that side denies
 * it.
 */
export function noteUnseen(
  trace: Pick<Trace, 'policySignals'>,
  policies: readonly ContentPolicy[],
  side: ContentSide,
  what: string,
): Fault | null {
  const note = (text: string, signal: Pick<Signal, 'verdict' | 'data'>) => {
    if (!trace.policySignals.some((known) => known.text === text))
      trace.policySignals.push({ rule: 'content.unseen', text, ...signal })
  }
  const denying = policies.find(({ rules, deniesUnseen }) => deniesUnseen && rules.some(({ on }) => on.includes(side)))
  if (denying === undefined) {
    const text = `Content rules apply, but not to all of the ${side}: ${what}.`
    note(text, { verdict: 'note', data: { on: side } })
    return null
  }
  const { policy } = denying
  const text = `The policy ${policy} denies what its content rules cannot check in the ${side}: ${what}.`
  note(text, { verdict: 'deny', data: { on: side, policy } })
  return fault('policy_denied', `${text} ${side === 'prompt' ? 'Leave that out' : 'Ask for something else'}.`)
}
