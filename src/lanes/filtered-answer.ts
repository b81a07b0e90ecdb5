import { asArray, asObject, asString, type JsonObject, parseObject } from '../core/json/json-value.ts'

/** Gemini's reasons for stopping because of the prompt's or the answer's content. */
const geminiReasons = new Set(['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'IMAGE_SAFETY', 'RECITATION'])

/** Whether an answer, or an event of a stream, says that the provider's content filter ended it, in any format. */
export function isFiltered(body: Buffer): boolean {
  const answer = parseObject(body)
  if (answer === null) return false
  return isChat(answer) || isResponse(asObject(answer.response) ?? answer) || isMessage(answer) || isGenerate(answer)
}

function isChat({ choices }: JsonObject): boolean {
  return asArray(choices).some((choice) => asObject(choice)?.finish_reason === 'content_filter')
}

function isResponse({ incomplete_details }: JsonObject): boolean {
  return asObject(incomplete_details)?.reason === 'content_filter'
}

function isMessage(answer: JsonObject): boolean {
  return (asObject(answer.delta) ?? answer).stop_reason === 'refusal'
}

function isGenerate({ promptFeedback, candidates }: JsonObject): boolean {
  if (asString(asObject(promptFeedback)?.blockReason) !== '') return true
  return asArray(candidates).some((candidate) => geminiReasons.has(asString(asObject(candidate)?.finishReason)))
}
