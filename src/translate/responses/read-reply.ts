import { type Fault, fault } from '../../core/errors.ts'
import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import { brokenReply } from '../broken-answer.ts'
import type { Opaque } from '../conversation.ts'
import { countOf } from '../json.ts'
import { readLogprobs } from '../logprobs.ts'
import { isFlagged, lostMembers } from '../lost-members.ts'
import type { ModelReply, Stop } from '../reply.ts'
import { settleCalls } from '../stop.ts'
import { foreignAnnotations, readCitations } from './citations.ts'
import { responsesFields } from './fields.ts'

type OutputPart = ModelReply['parts'][number]

export function readResponsesReply(body: JsonObject): ModelReply | Fault {
  if (body.status === 'failed' || body.status === 'cancelled') return failed(body)
  if (!Array.isArray(body.output)) return fault('provider_bad_response', 'The answer has no output.')
  const parts: OutputPart[] = []
  const dropped = new Set(lostOfResponse(body))
  let texts = 0
  let isComment = false
  for (const [index, value] of body.output.entries()) {
    const item = asObject(value) ?? {}
    const found = readOutputItem(item, `output[${index}]`, texts)
    for (const name of found === null ? [asText(item.type) ?? 'output'] : lostOfItem(item)) dropped.add(name)
    for (const part of asArray(item.content)) {
      for (const name of foreignAnnotations(asObject(part)?.annotations)) dropped.add(name)
      const kind = item.type === 'message' ? foreignContent(part) : null
      if (kind !== null) dropped.add(kind)
    }
    isComment = isOpenComment(item, isComment)
    for (const part of found ?? []) {
      if (part.kind === 'text') texts += part.text.length
      parts.push(part)
    }
  }
  if (isComment) dropped.add('message.phase')
  const settled = settleCalls(parts, readStop(body, parts))
  if (settled.stop.reason === 'broken') return brokenReply()
  return {
    id: asString(body.id),
    model: asString(body.model),
    ...settled,
    created: countOf(body.created_at),
    dropped: [...dropped],
  }
}

const readOfResponse = new Set(
  (
    'id object created_at completed_at status error incomplete_details output output_text usage tool_usage ' +
    // Billing, the state of the cache, and what other servers say about how they served the request.
    'billing prompt_cache_diagnostics frequency_penalty presence_penalty min_p top_k content_filters'
  ).split(' '),
)
/** Added by OpenAI's SDKs, on which some servers are built. */
const parsed = new Set(['parsed', 'parsed_arguments'])

/** Members that requests do not have in the same place: an answer repeats much of its request, and its items are sent back. */
function lostBeyond(prefix: string, object: JsonObject | null, read: ReadonlySet<string>): string[] {
  return lostMembers(object, read).filter((name) => !Object.hasOwn(responsesFields, `${prefix}${name}`))
}

/** Members that no other format has a place for. */
export function lostOfResponse(response: JsonObject): readonly string[] {
  return [
    ...lostBeyond('', { ...response, moderation: null }, readOfResponse),
    ...(asObject(response.moderation) === null ? [] : ['moderation']),
    ...(isFlagged(response.content_filters) ? ['content_filters'] : []),
  ]
}

/** The same of an item that is read. */
export function lostOfItem(item: JsonObject): readonly string[] {
  const isForeign = (asText(asObject(item.caller)?.type) ?? 'direct') !== 'direct'
  return [
    ...lostBeyond('input.', item, parsed),
    ...(item.async === true ? ['async'] : []),
    ...(isForeign ? ['caller'] : []),
    ...asArray(item.content).flatMap((part) => lostBeyond('input.content.', asObject(part), parsed)),
  ].map((name) => `${item.type}.${name}`)
}

export function isCall({ type }: JsonObject): boolean {
  return type === 'function_call' || type === 'custom_tool_call'
}

/**
 * Whether a text that is no more than a comment on the way has come, and no call after it: other formats say it by nothing else. `before`:
 * whether it had before the item.
 */
export function isOpenComment(item: JsonObject, before: boolean): boolean {
  return item.phase === 'commentary' || (before && !isCall(item))
}

function failed(body: JsonObject): Fault {
  const message = asText(asObject(body.error)?.message)
  return fault(
    'provider_bad_response',
    message === null ? 'The provider reported a failure.' : `The provider reported: ${message}`,
  )
}

/** `base`: the length of the answer's text before the item. Null: a kind of item that cannot be translated. */
export function readOutputItem(item: JsonObject, path: string, base: number): OutputPart[] | null {
  switch (item.type) {
    case 'message':
      return readMessage(item, path, base)
    case 'reasoning':
      return [readReasoning(item, path)]
    case 'function_call':
    case 'custom_tool_call': {
      const custom = item.type === 'custom_tool_call'
      const text = asString(custom ? item.input : item.arguments)
      return [
        {
          kind: 'call',
          path,
          id: asText(item.call_id) ?? asText(item.id),
          name: asString(item.name),
          arguments: text,
          custom,
        },
      ]
    }
    default:
      return null
  }
}

/** A kind of content that no other format has; null: it is read. */
export function foreignContent(part: unknown): string | null {
  const type = asText(asObject(part)?.type) ?? 'unknown'
  return type === 'output_text' || type === 'refusal' ? null : `content.${type}`
}

function readMessage(item: JsonObject, path: string, base: number): OutputPart[] {
  let texts = base
  return asArray(item.content).flatMap((value, index): OutputPart[] => {
    const part = asObject(value)
    const at = `${path}.content[${index}]`
    if (part?.type === 'refusal') return [{ kind: 'refusal', path: at, text: asString(part.refusal) }]
    if (part?.type !== 'output_text') return []
    const text = asString(part.text)
    const citations = readCitations(part.annotations, texts)
    texts += text.length
    const logprobs = readLogprobs(part.logprobs)
    const more = { ...(citations.length > 0 && { citations }), ...(logprobs !== undefined && { logprobs }) }
    return [{ kind: 'text', path: at, text, ...more }]
  })
}

function readReasoning(item: JsonObject, path: string): OutputPart {
  const opaque = readEncrypted(item)
  const text = [...asArray(item.summary), ...asArray(item.content)]
    .map((part) => asString(asObject(part)?.text))
    .join('\n\n')
  return { kind: 'reasoning', path, text, ...(opaque !== null && { opaque }) }
}

export function readEncrypted(item: JsonObject): Opaque | null {
  const [value, id] = [asText(item.encrypted_content), asText(item.id)]
  return value === null ? null : { family: 'openai', form: 'encrypted', value, ...(id !== null && { id }) }
}

/** Why an answer ended. `parts`: its known parts. */
export function readStop(response: JsonObject, parts: readonly { kind: string }[]): Stop {
  const plain = { sequence: null, explanation: null }
  const has = (kind: string) => parts.some((part) => part.kind === kind)
  if (response.status === 'incomplete') {
    const filtered = asObject(response.incomplete_details)?.reason === 'content_filter'
    return { ...plain, reason: filtered ? 'filtered' : 'length' }
  }
  if (has('call')) return { ...plain, reason: 'calls' }
  return { ...plain, reason: has('refusal') ? 'refused' : 'done' }
}
