import { slicedBytes } from '../../core/json/known-spans.ts'
import { nextTurn } from '../../core/slices.ts'
import type { Plan } from '../../routing/plan.ts'
import { writeCount } from '../../translate/counts.ts'
import { estimateRequest } from '../../translate/estimate-tokens.ts'
import { answerOwn } from '../answer/answer-own.ts'
import { reject } from '../answer/respond.ts'
import type { Call } from '../request/call.ts'
import { CallTranslation } from './call-translation.ts'
import { canCount } from './can-count.ts'

/** Answers a call that counts tokens with an estimate, if its target has another format and no call to count them. */
export async function answerWithEstimate(call: Call, { candidates }: Plan): Promise<boolean> {
  const format = call.match.endpoint.counts
  const [first] = candidates
  if (format === undefined || first === undefined || first.translated === null) return false
  const provider = call.gateway.model.configuration.providers.get(first.provider.id)
  if (provider === undefined || canCount(first, provider)) return false
  if (call.body.bytes.length >= slicedBytes) await nextTurn()
  const translation = CallTranslation.open(call)
  if ('code' in translation) {
    await reject(call.arrival, translation)
    return true
  }
  const tokens = estimateRequest(translation.conversation, translation.pieces)
  const text = `${first.provider.name} has no call that counts tokens: the count is an estimate.`
  call.trace.routingSignals.push({
    rule: 'translation',
    verdict: 'note',
    text,
    data: { provider: first.provider.name },
  })
  await answerOwn(call, Buffer.from(JSON.stringify(writeCount(format, tokens))), ['x-sp-estimated', 'tokens'])
  return true
}
