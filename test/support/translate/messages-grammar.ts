import { asObject, asText, isCount, type JsonObject } from '../../../src/core/json/json-value.ts'
import { isReadableObject } from './readable-object.ts'
import type { SentEvent } from './sse.ts'

interface CheckedBlock {
  type: string
  json: string
  text: string
  signatures: number
}

/** Anthropic's stream. Source: wire/streaming.md, section 3. */
export function checkMessagesStream(events: readonly SentEvent[]): string[] {
  const wrong: string[] = []
  let state: 'before' | 'within' | 'delta' | 'after' = 'before'
  let block: CheckedBlock | null = null
  let blocks = 0
  let hasCalls = false
  /** What was wrong with the end of a call, unless a limit or a refusal cut it. */
  const cut: string[] = []
  for (const { name, data } of events) {
    if (data === null) {
      wrong.push('an event without JSON')
      continue
    }
    if (name === '' || name !== data.type) wrong.push(`the event ${name} has the type ${String(data.type)}`)
    if (state === 'after') wrong.push(`${name} after the end`)
    switch (name) {
      case 'message_start':
        if (state !== 'before') wrong.push('message_start again')
        wrong.push(...checkStart(asObject(data.message)))
        state = 'within'
        break
      case 'content_block_start': {
        if (state !== 'within' || block !== null) wrong.push('a block begins where none may')
        if (data.index !== blocks) wrong.push(`the block ${String(data.index)} begins where ${blocks} would`)
        const shell = asObject(data.content_block)
        block = { type: asText(shell?.type) ?? '', json: '', text: '', signatures: 0 }
        hasCalls ||= block.type === 'tool_use'
        wrong.push(...checkShell(shell))
        break
      }
      case 'content_block_delta':
        if (block === null || data.index !== blocks)
          wrong.push(`a delta for the block ${String(data.index)}, which is not open`)
        else wrong.push(...checkDelta(block, asObject(data.delta)))
        break
      case 'content_block_stop':
        if (block === null || data.index !== blocks)
          wrong.push(`the block ${String(data.index)} ends, which is not open`)
        else (block.type === 'tool_use' ? cut : wrong).push(...checkBlockEnd(block))
        block = null
        blocks++
        break
      case 'message_delta':
        if (state !== 'within' || block !== null) wrong.push('message_delta where it may not be')
        wrong.push(...checkEnd(data, hasCalls))
        if (!cutReasons.includes(asText(asObject(data.delta)?.stop_reason) ?? '')) wrong.push(...cut)
        state = 'delta'
        break
      case 'message_stop':
        if (state !== 'delta') wrong.push('message_stop without message_delta')
        state = 'after'
        break
      case 'error':
        wrong.push(...cut)
        if (asText(asObject(data.error)?.type) === null) wrong.push('an error without a type')
        state = 'after'
        break
      case 'ping':
        break
      default:
        wrong.push(`the event ${name} is not known`)
    }
  }
  return state === 'after' ? wrong : [...wrong, 'the stream has no end']
}

const wholeMessage = ['id', 'type', 'role', 'model', 'content', 'stop_reason', 'stop_sequence', 'usage']

function checkStart(message: JsonObject | null): string[] {
  const missing = wholeMessage.filter((name) => message === null || !(name in message))
  const usage = asObject(message?.usage)
  const input = usage?.input_tokens
  return [
    ...missing.map((name) => `message_start has no ${name}`),
    ...(isCount(input) && input > 0 ? [] : ['message_start has no input tokens']),
    ...(isCount(usage?.output_tokens) ? [] : ['message_start has no output tokens']),
  ]
}

function checkShell(block: JsonObject | null): string[] {
  switch (block?.type) {
    case 'text':
      return block.text === '' ? [] : ['a text begins with text']
    case 'thinking':
      return block.thinking === '' && block.signature === '' ? [] : ['thinking does not begin empty']
    case 'redacted_thinking':
      return asText(block.data) === null ? ['redacted thinking without data'] : []
    case 'tool_use': {
      const empty = Object.keys(asObject(block.input) ?? { no: 1 }).length === 0
      return asText(block.id) !== null && asText(block.name) !== null && empty ? [] : ['a call without id or name']
    }
    default:
      return [`a block of the type ${String(block?.type)}`]
  }
}

const deltaTypes: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
}

function checkDelta(block: CheckedBlock, delta: JsonObject | null): string[] {
  const type = String(delta?.type)
  if (!deltaTypes[block.type]?.includes(type)) return [`${type} in a block of ${block.type}`]
  if (block.signatures > 0) return [`${type} after the signature`]
  block.json += type === 'input_json_delta' ? String(delta?.partial_json) : ''
  block.text += type === 'text_delta' ? String(delta?.text) : ''
  if (type === 'signature_delta') block.signatures++
  return []
}

function checkBlockEnd({ type, json, text }: CheckedBlock): string[] {
  if (type === 'text' && text === '') return ['an empty text']
  return type === 'tool_use' && json !== '' && !isReadableObject(json) ? [`the input of a call is ${json}`] : []
}

const stopReasons = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
]

const cutReasons = ['max_tokens', 'model_context_window_exceeded', 'refusal']

function checkEnd(data: JsonObject, hasCalls: boolean): string[] {
  const delta = asObject(data.delta)
  const reason = asText(delta?.stop_reason) ?? ''
  return [
    ...(stopReasons.includes(reason) ? [] : [`the reason ${reason} is not known`]),
    ...(hasCalls && (reason === 'end_turn' || reason === 'stop_sequence') ? [`${reason} after a call`] : []),
    ...(!hasCalls && reason === 'tool_use' ? ['tool_use without a call'] : []),
    ...(isCount(asObject(data.usage)?.output_tokens) ? [] : ['message_delta has no output tokens']),
  ]
}
