import { promptTokens } from '../../core/prompt-tokens.ts'
import type { TokenUsage } from '../../core/record.ts'
import { addUsage, addUsageDetail } from '../../lanes/usage-sum.ts'
import type { ReplyUsage } from '../../translate/reply.ts'
import { estimateTokens } from '../answer/charge.ts'
import type { WrittenAnswer } from '../answer/written-tokens.ts'
import type { Leg } from '../upstream/leg.ts'

/** The usage that the provider reported, or else the estimate that the record will have. */
export function usageSoFar(leg: Leg, body: Buffer, written: WrittenAnswer): ReplyUsage | null {
  const { earlier, reader } = leg
  const last = usageOfPart(leg, body, written)
  const tokens = addUsage(earlier?.tokens ?? null, last)
  return tokens === null ? null : { tokens, detail: addUsageDetail(earlier?.detail ?? null, reader.usageDetail()) }
}

function usageOfPart({ call, reader }: Leg, body: Buffer, written: WrittenAnswer): TokenUsage | null {
  const tokens = reader.usage() ?? estimateTokens(call, null, written)
  return tokens?.source === 'estimated' ? { ...tokens, input: promptTokens(body) } : tokens
}
