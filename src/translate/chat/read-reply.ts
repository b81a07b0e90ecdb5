import { fault } from '../../core/errors.ts'
import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import { brokenReply } from '../broken-answer.ts'
import type { CallPart, Opaque, TextPart, TokenLogprob } from '../conversation.ts'
import { countOf } from '../json.ts'
import { readLogprobs } from '../logprobs.ts'
import { isFlagged, lostMembers } from '../lost-members.ts'
import type { ModelReply } from '../reply.ts'
import { settleCalls } from '../stop.ts'
import { thoughtSignature } from './carriers.ts'
import { readAnnotations } from './citations.ts'
import { isForeignFinish, readFinish } from './finish.ts'
import { ReasoningDetails } from './reasoning-details.ts'

export function readChatReply(body: JsonObject) {
  const choices = asArray(body.choices).map(asObject)
  // Choices may be in any order.
  const choice = choices.find((one) => (one?.index ?? 0) === 0) ?? choices[0]
  const message = asObject(choice?.message)
  if (!choice || message === null) return fault('provider_bad_response', "The provider's answer has no message.")
  const logprobs = asObject(choice.logprobs)
  const details = new ReasoningDetails()
  details.push(message.reasoning_details)
  const parts = signLastCall(readParts(message, readLogprobs(logprobs?.content)), details.opaque)
  const refused = parts.some(({ kind }) => kind === 'refusal')
  const stop = { reason: readFinish(choice.finish_reason, refused), sequence: null, explanation: null }
  const settled = settleCalls(parts, stop)
  if (settled.stop.reason === 'broken') {
    if (stop.reason !== 'broken')
      return brokenReply('The model called a tool with arguments that are not a JSON object.')
    return fault('provider_bad_response', 'The provider says that the model failed.')
  }
  const reply: ModelReply = {
    id: asString(body.id),
    model: asString(body.model),
    ...settled,
    created: countOf(body.created),
    dropped: [
      ...lostOfAnswer(body),
      ...lostOfChoice(choice),
      ...lostOfMessage(message).map((name) => `message.${name}`),
      ...(details.isSigned && !isSigned(settled.parts) ? ['message.reasoning_details'] : []),
      ...lostLogprobs(logprobs, typeof message.content === 'string'),
      ...(choices.length > 1 ? ['choices[1]'] : []),
    ],
  }
  return reply
}

const readOfAnswer = new Set(
  (
    'id object created model choices usage error metadata obfuscation service_tier system_fingerprint ' +
    // What other servers say about how they served the request.
    'provider x_groq timings time_info request_id prompt_filter_results prompt_token_ids'
  ).split(' '),
)
const readOfChoice = new Set(
  (
    'index message delta finish_reason logprobs text content_filter_results content_filter_offsets ' +
    // The same information in a vendor's own words, and members that only help debugging.
    'native_finish_reason stop_reason matched_stop seed token_ids'
  ).split(' '),
)
const readOfCall = new Set('id index type function custom extra_content'.split(' '))
const readOfMessage = new Set(
  'role content refusal tool_calls function_call annotations reasoning reasoning_content reasoning_details parsed'.split(
    ' ',
  ),
)

/** Members of an answer, or of a chunk, that no other format has a place for. */
export function lostOfAnswer(body: JsonObject): readonly string[] {
  const { prompt_filter_results } = body
  return [...lostMembers(body, readOfAnswer), ...(isFlagged(prompt_filter_results) ? ['prompt_filter_results'] : [])]
}

/** Members of a choice or its delta. A filter shows in the finish reason; its findings have no place elsewhere. */
export function lostOfChoice(choice: JsonObject): readonly string[] {
  const lost = lostMembers(choice, readOfChoice)
  if (isFlagged(choice.content_filter_results)) lost.push('content_filter_results')
  if (isForeignFinish(choice.finish_reason)) lost.push('finish_reason')
  return lost.map((name) => `choices.${name}`)
}

/** Members of a message or its delta. */
export function lostOfMessage(message: JsonObject): readonly string[] {
  const { annotations, content, tool_calls } = message
  const lost = lostMembers(message, readOfMessage)
  for (const call of asArray(tool_calls))
    lost.push(...lostMembers(asObject(call), readOfCall).map((name) => `tool_calls.${name}`))
  for (const part of asArray(annotations)) {
    const type = asText(asObject(part)?.type) ?? 'url_citation'
    if (type !== 'url_citation') lost.push(`annotations.${type}`)
  }
  for (const part of asArray(content)) {
    const type = asText(asObject(part)?.type) ?? 'text'
    if (type !== 'text' && type !== 'thinking') lost.push(`content.${type}`)
  }
  return lost
}

/** Only probabilities of a text have a place elsewhere. `hasText`: they belong to a text, which may be ''. */
export function lostLogprobs(logprobs: JsonObject | null, hasText: boolean): string[] {
  if (logprobs === null) return []
  return [
    ...(hasText || asArray(logprobs.content).length === 0 ? [] : ['choices.logprobs']),
    ...(asArray(logprobs.refusal).length === 0 ? [] : ['choices.logprobs.refusal']),
    // DeepSeek's, for its reasoning.
    ...(asArray(logprobs.reasoning_content).length === 0 ? [] : ['choices.logprobs.reasoning_content']),
  ]
}

function readParts(message: JsonObject, logprobs: readonly TokenLogprob[] | undefined): ModelReply['parts'] {
  const { content, reasoning } = readContent(message.content)
  const thought = asText(message.reasoning_content) ?? asText(message.reasoning) ?? reasoning
  const refusal = asText(message.refusal)
  const citations = readAnnotations(message.annotations)
  const text: TextPart = {
    kind: 'text',
    path: 'message.content',
    text: content,
    ...(logprobs !== undefined && { logprobs }),
  }
  const calls = asArray(message.tool_calls).flatMap((value, index) => {
    const call = readCall(asObject(value), `message.tool_calls[${index}]`)
    return call === null ? [] : [call]
  })
  const ids = new Set<string>()
  // Some servers give all calls of an answer the same id.
  const apart = calls.map((call) => (isNew(call.id, ids) ? call : { ...call, id: null }))
  const named = asObject(message.function_call)
  const legacy = named === null ? null : readCall({ function: named }, 'message.function_call')
  return [
    ...(thought === '' ? [] : [{ kind: 'reasoning' as const, path: 'message.reasoning_content', text: thought }]),
    ...(content === '' ? [] : [citations.length === 0 ? text : { ...text, citations }]),
    ...(refusal === null ? [] : [{ kind: 'refusal' as const, path: 'message.refusal', text: refusal }]),
    ...apart,
    ...(legacy === null ? [] : [legacy]),
  ]
}

/** What the message says of its reasoning stands with the last call, which every client sends back. */
function signLastCall(parts: ModelReply['parts'], opaque: Opaque | null): ModelReply['parts'] {
  const last = parts.findLastIndex(({ kind }) => kind === 'call')
  if (opaque === null || last < 0) return parts
  return parts.map((part, index) => (index === last && part.kind === 'call' ? { ...part, opaque } : part))
}

function isSigned(parts: ModelReply['parts']): boolean {
  return parts.some((part) => part.kind === 'call' && part.opaque?.form === 'details')
}

/** Whether no earlier call had this id. */
export function isNew(id: string | null, ids: Set<string>): boolean {
  const { size } = ids
  return id === null || ids.add(id).size > size
}

/** A text, or (Mistral) a list that also contains reasoning. */
export function readContent(content: unknown): { content: string; reasoning: string } {
  if (typeof content === 'string') return { content, reasoning: '' }
  let [text, reasoning] = ['', '']
  for (const part of asArray(content).map(asObject)) {
    text += asString(part?.text)
    if (typeof part?.thinking === 'string') reasoning += part.thinking
    else for (const piece of asArray(part?.thinking)) reasoning += asString(asObject(piece)?.text)
  }
  return { content: text, reasoning }
}

/** Some servers leave the id out, and some send a call without a name, which does not count. */
function readCall(call: JsonObject | null, path: string): CallPart | null {
  const custom = call?.type === 'custom'
  const inside = asObject(custom ? call?.custom : call?.function)
  const name = asText(inside?.name)
  if (name === null) return null
  const written = custom ? inside?.input : inside?.arguments
  const signature = thoughtSignature(call?.extra_content)
  return {
    kind: 'call',
    path,
    id: asText(call?.id),
    name,
    // Some servers send the object itself.
    arguments: typeof written === 'string' ? written : asObject(written) === null ? '' : JSON.stringify(written),
    custom,
    ...(signature === null
      ? {}
      : { opaque: { family: 'gemini' as const, form: 'thought' as const, value: signature } }),
  }
}
