import type { FormatName } from '../../core/format.ts'
import { slicedBytes } from '../../core/json/known-spans.ts'
import { nextTurn } from '../../core/threads/slices.ts'
import type { Candidate } from '../../routing/candidates.ts'
import { writeCount } from '../../translate/counts.ts'
import { estimateRequest } from '../../translate/estimate-tokens.ts'
import { answerOwn } from '../answer/answer-own.ts'
import { reject } from '../answer/respond.ts'
import type { Call } from '../request/call.ts'
import { CallTranslation, canCount } from './call-translation.ts'

/** Answers a call that counts tokens with an estimate, if its target has another format and no call to count them. */
export async function answerWithEstimate(call: Call, format: FormatName, target: Candidate): Promise<boolean> {
  const provider = call.gateway.model.configuration.providers.get(target.provider.id)
  if (target.translated === null || provider === undefined || canCount(target.translated.to, provider)) return false
  if (call.body.bytes.length >= slicedBytes) await nextTurn()
  const translation = CallTranslation.open(call)
  if ('code' in translation) {
    await reject(call.arrival, translation)
    return true
  }
  const tokens = estimateRequest(translation.conversation, translation.pieces)
  const text = `${target.provider.name} has no call that counts tokens: the count is an estimate.`
  call.trace.routingSignals.push({
    rule: 'translation',
    verdict: 'note',
    text,
    data: { provider: target.provider.name },
  })
  await answerOwn(call, Buffer.from(JSON.stringify(writeCount(format, tokens))), ['x-sp-estimated', 'tokens'])
  return true
}
