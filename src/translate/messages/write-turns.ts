import type { JsonObject } from '../../core/json/json-value.ts'
import type { CacheMarks } from '../cache-marks.ts'
import { argumentsObject } from '../call-arguments.ts'
import type { MediaPart, ReasoningPart, TextPart } from '../conversation.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import { callIdFor, toolNameFor } from '../ids.ts'
import { decodeText, embedJson, embedTurns } from '../json.ts'
import type { Ledger } from '../ledger.ts'
import { sniffType, storedFile } from '../media-type.ts'
import type { ModelFacts } from '../model-facts.ts'
import { asUserText, beginningText, type NamedCall, type NamedResult, type OrderedTurn } from '../turns.ts'

export interface BlockWriting {
  facts: ModelFacts
  ledger: Ledger
  marks: CacheMarks
  keepsThinking: boolean
}

/** The conversation must begin with the user. */
const beginning = { role: 'user', content: [{ type: 'text', text: beginningText }] }

export function writeTurns(turns: readonly OrderedTurn[], writing: BlockWriting): unknown[] {
  const { facts, ledger } = writing
  const messages: ({ role: string; content: JsonObject[] } | string)[] = []
  let [firstPath, lastPath] = ['messages', 'messages']
  for (const turn of turns) {
    if (turn.plain !== undefined) {
      messages.push(embedTurns(turn.plain, 'messages'))
      continue
    }
    const begins = messages.length === 0 && turn.role === 'system'
    const content = writeBlocks(begins ? saidByUser(turn, ledger) : turn, writing)
    if (content.length === 0) continue
    if (messages.length === 0) firstPath = turn.path
    lastPath = turn.path
    messages.push({ role: begins ? 'user' : turn.role, content })
  }
  const [first, last] = [messages[0], messages.at(-1)]
  if (typeof last === 'object' && last.role === 'assistant') {
    if (!facts.prefill)
      ledger.refuse(lastPath, "this model does not continue an assistant's message; end with the user's")
    trimEnd(last.content)
  }
  if (typeof first !== 'object' || first.role !== 'assistant') return messages
  ledger.lose(firstPath)
  return [beginning, ...messages]
}

/** A system message at the very beginning: the conversation must begin with the user. */
function saidByUser(turn: OrderedTurn, ledger: Ledger): OrderedTurn {
  ledger.lose(turn.path)
  return { ...turn, role: 'user', parts: turn.parts.map((part) => (part.kind === 'text' ? asUserText(part) : part)) }
}

/** Without an intermediate list for turns of one part, as most are: a long chat has thousands. */
function writeBlocks({ role, parts }: OrderedTurn, writing: BlockWriting): JsonObject[] {
  const only = parts.length === 1 ? parts[0] : undefined
  if (only === undefined) return parts.map((part) => writeBlock(part, role, writing)).filter((block) => block !== null)
  const block = writeBlock(only, role, writing)
  return block === null ? [] : [block]
}

/** The text that the model should continue must not end in white space. */
function trimEnd(content: JsonObject[]): void {
  const last = content.at(-1)
  if (typeof last?.text === 'string') Object.assign(last, { text: last.text.trimEnd() })
}

function writeBlock(
  part: OrderedTurn['parts'][number],
  role: OrderedTurn['role'],
  writing: BlockWriting,
): JsonObject | null {
  const { ledger, marks } = writing
  switch (part.kind) {
    case 'text':
      return marks.on({ type: 'text', text: part.text }, part)
    case 'refusal':
      return part.text.trim() === '' ? null : { type: 'text', text: part.text }
    case 'reasoning':
      return writeThinking(part, writing)
    case 'call':
      return writeCall(part, writing)
    case 'result':
      return writeResult(part, writing)
    case 'server':
      ledger.lose(part.path)
      marks.lose(part)
      return null
    default:
      if (role === 'assistant') ledger.refuse(part.path, "an assistant's message holds no files")
      return writeMedia(part, writing)
  }
}

/** Only thinking that Anthropic signed, unchanged: the model would take anything else for its own. */
function writeThinking(
  { text, opaque, path }: ReasoningPart,
  { facts, ledger, keepsThinking }: BlockWriting,
): JsonObject | null {
  if (opaque?.family === 'anthropic' && !keepsThinking && facts.reasoning.control !== 'none') {
    // A model that is not asked to think wants none of it back.
    ledger.strip(path)
    return null
  }
  if (!keepsThinking || opaque?.family !== 'anthropic') {
    ledger.lose(path)
    return null
  }
  if (opaque.form === 'redacted') return { type: 'redacted_thinking', data: opaque.value }
  return { type: 'thinking', thinking: text, signature: opaque.value }
}

function writeCall(call: NamedCall, { ledger, marks }: BlockWriting): JsonObject {
  const text = call.custom ? wrapCustomInput(call.arguments) : argumentsObject(call, ledger)
  if (call.opaque !== undefined) ledger.lose(call.path)
  const block = {
    type: 'tool_use',
    id: callIdFor('messages', call.id),
    name: toolNameFor('messages', call.name),
    input: embedJson(text),
  }
  return marks.on(block, call)
}

function writeResult(result: NamedResult, writing: BlockWriting): JsonObject {
  const content = result.parts.flatMap((part) => {
    if (part.kind !== 'text') return writeMedia(part, writing) ?? []
    if (part.text.trim() === '') {
      writing.marks.lose(part)
      return []
    }
    return writing.marks.on({ type: 'text', text: part.text }, part)
  })
  const block = {
    type: 'tool_result',
    tool_use_id: callIdFor('messages', result.callId),
    ...(content.length === 0 ? {} : { content }),
    ...(result.failed ? { is_error: true } : {}),
  }
  return writing.marks.on(block, result)
}

function writeMedia(part: MediaPart | TextPart, { ledger, marks }: BlockWriting): JsonObject | null {
  if (part.kind === 'text') return marks.on({ type: 'text', text: part.text }, part)
  const refuse = (why: string) => {
    ledger.refuse(part.path, why)
    return null
  }
  const { source } = part
  if (source.kind === 'id') return refuse(storedFile)
  if (part.kind === 'audio' || part.kind === 'video') return refuse(`it accepts no ${part.kind}`)
  if (source.kind === 'url' && !/^https?:/i.test(source.url)) return refuse('it fetches files over https only')
  if (part.kind === 'image') {
    if (source.kind === 'url') return marks.on({ type: 'image', source: { type: 'url', url: source.url } }, part)
    const type = source.kind === 'data' ? sniffType(source.type, source.data) : source.type
    if (source.kind === 'text' || !imageTypes.has(type))
      return refuse(`it accepts no image of the type ${type || 'that is not said'}`)
    return marks.on({ type: 'image', source: { type: 'base64', media_type: type, data: source.data } }, part)
  }
  const title = part.name === undefined ? {} : { title: part.name }
  if (source.kind === 'url')
    return marks.on({ type: 'document', source: { type: 'url', url: source.url }, ...title }, part)
  const type = source.kind === 'data' ? sniffType(source.type, source.data) : source.type
  if (source.kind === 'data' && type === 'application/pdf') {
    const pdf = { type: 'base64', media_type: 'application/pdf', data: source.data }
    return marks.on({ type: 'document', source: pdf, ...title }, part)
  }
  const text = source.kind === 'text' ? source.data : textOf(type, source.data)
  if (text === null) return refuse(`it accepts no file of the type ${type}`)
  return marks.on({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title }, part)
}

const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** A text file in base64. Null: it is none. */
function textOf(type: string, data: string): string | null {
  return /^text\/|^application\/(?:json|xml|x-yaml|yaml)/.test(type) ? decodeText(data) : null
}
