import { bytesPerToken } from '../../core/estimated-tokens.ts'
import type { ReplyUsage } from '../../translate/reply.ts'
import { estimateTokens } from '../answer/charge.ts'
import type { WrittenAnswer } from '../answer/written-tokens.ts'
import type { Leg } from '../upstream/leg.ts'

export function estimatedInput(body: Buffer): number {
  return Math.ceil(body.length / bytesPerToken)
}

/** As the provider reported it; of an answer without a report, as the record will estimate it. */
export function usageSoFar({ call, reader }: Leg, body: Buffer, written: WrittenAnswer): ReplyUsage | null {
  const reported = reader.usage()
  if (reported !== null) return { tokens: reported, detail: reader.usageDetail() }
  const tokens = estimateTokens(call, null, written)
  return tokens === null ? null : { tokens: { ...tokens, input: estimatedInput(body) }, detail: null }
}
