import { bytesPerToken } from '../../core/estimated-tokens.ts'
import { offersChoice } from '../../routing/candidates.ts'
import type { Plan } from '../../routing/plan.ts'
import type { Call } from '../request/call.ts'

/** Shorter prompts are cached nowhere. */
const leastBytes = 1024 * bytesPerToken

/** Whether it matters where the conversation has been: there is a choice, and the route or the request asks for it. */
export function mayStay({ match, body, pin }: Call, { route, candidates }: Plan): boolean {
  if (route === null || pin !== null || !offersChoice(candidates)) return false
  const { bytes } = body
  if (route.sticky && bytes.length >= leastBytes) return true
  const { signedReasoning } = match.endpoint
  return signedReasoning !== undefined && bytes.includes(signedReasoning.hint)
}
